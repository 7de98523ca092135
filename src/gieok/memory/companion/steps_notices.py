"""Telling a user what background work left to be told."""

from __future__ import annotations

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.memory.companion.notices import NoticeRooms
from gieok.memory.companion.records import Notice
from gieok.memory.fields import PersonaId


class TakeInputs(Data):
    persona_id: PersonaId


class TakeNotices(Step[NoData, TakeInputs, NoData]):
    """Takes the notices that wait for a persona's user, and the commit returns them."""

    type = "TakeNotices"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: TakeInputs, context: StepContext) -> NoData:
        def take(rooms: NoticeRooms) -> tuple[Notice, ...]:
            return tuple(rooms.notices.take(inputs.persona_id))

        context.stage_write(take)
        return NoData()
