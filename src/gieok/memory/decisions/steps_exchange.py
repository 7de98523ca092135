"""The step that takes in decisions which were written down elsewhere, all of them or none."""

from __future__ import annotations

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.memory.decisions.exchange import Entries, EntryResult, bring_in
from gieok.memory.decisions.graph import ReadingRooms


class ImportInputs(Data):
    entries: Entries


class ImportDecisions(Step[NoData, ImportInputs, NoData]):
    """Makes the stored decisions what the entries say. The commit returns what became of each, in order."""

    type = "ImportDecisions"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: ImportInputs, context: StepContext) -> NoData:
        def take_in(rooms: ReadingRooms) -> tuple[EntryResult, ...]:
            return bring_in(rooms, inputs.entries, context.now)

        context.stage_write(take_in)
        context.note("entries", len(inputs.entries))
        return NoData()
