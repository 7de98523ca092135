"""Pulling the plug: another process is killed inside the transaction of a turn, and nothing of it stays."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, cast

from gieok.interfaces.cli.demo.disk import count_rows
from gieok.interfaces.cli.demo.place import Place
from gieok.interfaces.cli.demo.story import Story

# Without -P, a file in the working folder that is named like a module would be run instead of it.
_VICTIM = (sys.executable, "-P", "-m", "gieok.interfaces.cli.demo.victim")


@dataclass(frozen=True)
class Death:
    """What the other process had come to when it was killed, and by what it ended."""

    reply: str
    messages: int
    """How many messages of its session it could read inside its own transaction."""
    ended_by: str


@dataclass(frozen=True)
class PulledPlug:
    """A turn that was lost whole, and the same message sent again: the rows of every table."""

    message: str
    death: Death
    before: Mapping[str, int]
    after: Mapping[str, int]
    again: Mapping[str, int]


def kill_in_a_turn(story: Story, place: Place) -> Death:
    """Start a process that stops with everything written and nothing committed, and kill it there.

    It has a session of its own, so that Ctrl-C reaches only us, and it ends by itself when we are gone.
    """
    with _victim(story, place) as victim:
        told = cast(IO[bytes], victim.stdout).readline()
    if not told:
        raise ChildProcessError(
            f"the process that was to be killed failed before, status {victim.returncode}"
        )
    stopped = json.loads(told)
    return Death(stopped["reply"], stopped["messages"], _ending(victim.returncode))


async def look_again(story: Story, place: Place, session_ref: str) -> tuple[Mapping[str, int], ...]:
    """Open the store as the next process would: the rows as they are, and after sending the message again."""
    async with await place.open(story.lost.at) as gieok:
        after = count_rows(place.database)
        await gieok.user(story.owner).chat.send(story.persona_id, story.lost.said[0], session_ref=session_ref)
        return after, count_rows(place.database)


@contextmanager
def _victim(story: Story, place: Place) -> Generator[subprocess.Popen[bytes]]:
    """The other process, which is killed at the end, whatever happens."""
    started: subprocess.Popen[bytes] | None = None
    try:
        with _ctrl_c_held_back():
            started = subprocess.Popen(  # noqa: S603  our own program
                (*_VICTIM, str(place.folder), story.language),
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
def _ctrl_c_held_back() -> Generator[None]:
    """Ctrl-C inside takes effect at the end: a process that is being started cannot be killed yet, and would
    find the folder gone."""
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


def _ending(status: int) -> str:
    """`SIGKILL`, where there are signals."""
    return signal.Signals(-status).name if status < 0 else f"exit {status}"
