"""How a request is answered once: its name is one more write of the cycle that made the answer."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated
from uuid import UUID

from pydantic import Field

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.memory.requests.records import RequestKey
from gieok.memory.requests.store import RequestRooms


class RememberMetadata(Data):
    keep_hours: Annotated[int, Field(ge=1, le=24 * 366)]


class RememberInputs(Data):
    request: RequestKey | None
    """None where the client named none: then nothing is kept."""
    answer: UUID | str
    """The id of what was made."""
    root_id: UUID | None = None
    """Of what was made in a chain, the chain."""


class RememberRequest(Step[RememberMetadata, RememberInputs, NoData]):
    """Keeps for `keepHours` what a named request was answered. Where the name is taken, nothing is made."""

    type = "RememberRequest"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: RememberMetadata, inputs: RememberInputs, context: StepContext) -> NoData:
        if (request := inputs.request) is None:
            return NoData()
        answer = str(inputs.answer) if inputs.root_id is None else f"{inputs.root_id}:{inputs.answer}"
        until = context.now + timedelta(hours=metadata.keep_hours)

        def remember(rooms: RequestRooms) -> None:
            rooms.requests.remember(request, answer, now=context.now, until=until)

        context.stage_write(remember)
        return NoData()
