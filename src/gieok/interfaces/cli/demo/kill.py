"""Act 6: a process is killed inside the transaction of a turn, and nothing of the turn is stored.

`python -m gieok.interfaces.cli.demo.kill FOLDER LANGUAGE` is the process that is killed. It runs a normal
turn; only its plan has one more step. The write of that step is the last one of the transaction: it reports
and waits to be killed.
"""

from __future__ import annotations

import asyncio
import copy
import json
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from gieok.app.chat import CHAT_PLAN
from gieok.engine import Data, ExecutionPlan, NoData, Stage, StepContext, WriteStep, make_plan
from gieok.interfaces.cli.demo.acts import DemoFolder, count_rows
from gieok.interfaces.cli.demo.story import STORIES, Story
from gieok.memory.fields import SessionRef
from gieok.memory.sessions.records import MessageRange
from gieok.memory.sessions.store import LogView
from gieok.plans import load_plan

# Without -P, a file in the current folder with the name of a module would be imported instead of the module.
_CHILD = (sys.executable, "-P", "-m", "gieok.interfaces.cli.demo.kill")
_FIRST_MESSAGES = MessageRange(first=1, last=100)


@dataclass(frozen=True)
class KilledProcess:
    """The state of the process when it was killed, and the signal that ended it."""

    reply: str
    messages: int
    """Messages of its session that it could read inside its own transaction."""
    ended_by: str


@dataclass(frozen=True)
class KilledTurn:
    """Row counts of every table: before the kill, after it, and after the message was sent again."""

    message: str
    process: KilledProcess
    before: Mapping[str, int]
    after: Mapping[str, int]
    again: Mapping[str, int]


def run_killed_turn(story: Story, folder: DemoFolder, session_ref: str) -> KilledTurn:
    """Kill a process during a turn, open the database again, and send the same message once more."""

    async def send_again() -> tuple[Mapping[str, int], Mapping[str, int]]:
        async with await folder.open(story.killed.at) as gieok:
            after = count_rows(folder.database)
            user = gieok.user(story.owner)
            await user.chat.send(
                story.persona_id, story.killed.texts[0], session_ref=session_ref, wait_memory=True
            )
            return after, count_rows(folder.database)

    before = count_rows(folder.database)
    process = kill_during_turn(story, folder)
    after, again = asyncio.run(send_again())
    return KilledTurn(story.killed.texts[0], process, before, after, again)


def kill_during_turn(story: Story, folder: DemoFolder) -> KilledProcess:
    """Start a process that stops before its commit with all rows written, and kill it.

    It runs in its own session, so that Ctrl-C reaches only this process, and it exits when this process ends.
    """
    with _child_process(story, folder) as child:
        report = cast(IO[bytes], child.stdout).readline()
    if not report:
        raise ChildProcessError(
            f"the process exited with status {child.returncode} before it could be killed"
        )
    state = json.loads(report)
    status = child.returncode
    ended_by = signal.Signals(-status).name if status < 0 else f"exit {status}"
    return KilledProcess(state["reply"], state["messages"], ended_by)


@contextmanager
def _child_process(story: Story, folder: DemoFolder) -> Generator[subprocess.Popen[bytes]]:
    """Start the child process, and kill it at the end in any case."""
    started: subprocess.Popen[bytes] | None = None
    try:
        with _delay_ctrl_c():
            started = subprocess.Popen(  # noqa: S603  our own program
                (*_CHILD, str(folder.path), story.language),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        yield started
    finally:
        if started is not None:
            started.kill()
            started.communicate()


@contextmanager
def _delay_ctrl_c() -> Generator[None]:
    """Raise a Ctrl-C only at the end. A process that is just starting could not be killed yet."""
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


class WaitInputs(Data):
    session_ref: SessionRef
    reply: str


class WaitForKill(WriteStep[NoData, WaitInputs, None]):
    """Stops the commit after all other writes, while the transaction is open."""

    type = "WaitForKill"

    def apply(self, view: LogView, metadata: NoData, inputs: WaitInputs, context: StepContext) -> None:
        messages = view.messages.between(inputs.session_ref, _FIRST_MESSAGES)
        print(json.dumps({"reply": inputs.reply, "messages": len(messages)}), flush=True)
        sys.stdin.read()
        raise EOFError("the demo ended before it killed this process; the turn is rolled back")


def waiting_plan() -> ExecutionPlan:
    """The plan of a chat turn, with `WaitForKill` as its last step."""
    document = copy.deepcopy(load_plan(CHAT_PLAN).document)
    document["steps"].append(
        {
            "id": "wait",
            "type": WaitForKill.type,
            "stage": Stage.PERSIST,
            "inputs": {"sessionRef": "append.sessionRef", "reply": "call.text"},
            "metadata": {},
        }
    )
    return make_plan(document)


async def run_turn(story: Story, folder: DemoFolder) -> None:
    """Send the message in the child process. Does not return: the process is killed during the commit."""
    async with await folder.open(story.killed.at) as gieok:
        gieok.engine.registry.add(WaitForKill())
        user = gieok.user(story.owner)
        await user.chat.send(story.persona_id, story.killed.texts[0], plan=waiting_plan())


if __name__ == "__main__":
    asyncio.run(run_turn(STORIES[sys.argv[2]], DemoFolder(Path(sys.argv[1]))))
