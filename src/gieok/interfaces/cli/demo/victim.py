"""The process that `gieok demo` kills: `python -m gieok.interfaces.cli.demo.victim FOLDER LANGUAGE`.

It takes a turn like any other. Only its plan has one more step, whose write is the last one of the
transaction: it tells how far the turn has come, and waits there to be killed.
"""

from __future__ import annotations

import asyncio
import copy
import json
import sys
from pathlib import Path

from gieok.app.chat import CHAT_PLAN
from gieok.engine import Data, ExecutionPlan, NoData, Stage, Step, StepContext, make_plan
from gieok.interfaces.cli.demo.place import Place
from gieok.interfaces.cli.demo.story import STORIES, Story
from gieok.memory.fields import SessionRef
from gieok.memory.sessions.records import MessageRange
from gieok.memory.sessions.store import LogRooms
from gieok.plans import load_plan

_FIRST_MESSAGES = MessageRange(first=1, last=100)


class WaitInputs(Data):
    session_ref: SessionRef
    reply: str


class WaitForTheEnd(Step[NoData, WaitInputs, NoData]):
    """Stops the commit after all other writes, with the transaction open."""

    type = "WaitForTheEnd"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: WaitInputs, context: StepContext) -> NoData:
        def wait(rooms: LogRooms) -> None:
            messages = rooms.messages.between(inputs.session_ref, _FIRST_MESSAGES)
            print(json.dumps({"reply": inputs.reply, "messages": len(messages)}), flush=True)
            sys.stdin.read()
            raise EOFError("whoever was to kill this process is gone, so its turn is given up")

        context.stage_write(wait)
        return NoData()


def waiting_plan() -> ExecutionPlan:
    """The plan of a chat turn with that step at its end."""
    document = copy.deepcopy(load_plan(CHAT_PLAN).document)
    document["steps"].append(
        {
            "id": "wait",
            "type": WaitForTheEnd.type,
            "stage": Stage.PERSIST,
            "inputs": {"sessionRef": "append.sessionRef", "reply": "call.text"},
            "metadata": {},
        }
    )
    return make_plan(document)


async def take_turn(story: Story, place: Place) -> None:
    """Send the message that will be lost. It never comes back from here."""
    async with await place.open(story.lost.at) as gieok:
        gieok.engine.registry.register(WaitForTheEnd, lambda _: WaitForTheEnd())
        user = gieok.user(story.owner)
        await user.chat.send(story.persona_id, story.lost.said[0], plan=waiting_plan())


if __name__ == "__main__":
    asyncio.run(take_turn(STORIES[sys.argv[2]], Place(Path(sys.argv[1]))))
