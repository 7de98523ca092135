"""Steps that give memories their vectors, some at a time, apart from the turn that made the memories."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.errors import InputRefused
from gieok.memory.companion.vectors import Embedded, Meaning, VectorRooms, Waiting
from gieok.memory.fields import PersonaId
from gieok.memory.reader import Reader


class EmbedMetadata(Data):
    batch: Annotated[int, Field(ge=1, le=256)]
    """How many memories are embedded at a time."""


class EmbedInputs(Data):
    persona_id: PersonaId


class VectorsMade(Data):
    space: str
    waiting: Waiting
    made: tuple[Embedded, ...]


class EmbedMemories(Step[EmbedMetadata, EmbedInputs, VectorsMade]):
    """The vectors of the oldest memories of a persona that have none. No transaction is open meanwhile."""

    type = "EmbedMemories"
    stages = frozenset({Stage.POST_PROCESS})

    def __init__(self, rooms: Reader[VectorRooms], meaning: Meaning | None) -> None:
        self._rooms = rooms
        self._meaning = meaning

    async def run(self, metadata: EmbedMetadata, inputs: EmbedInputs, context: StepContext) -> VectorsMade:
        meaning = self._meaning
        if meaning is None:
            raise InputRefused("there is no embedder; set GIEOK_EMBEDDER, or open Gieok with one")

        def look(rooms: VectorRooms) -> Waiting:
            return rooms.vectors.waiting(inputs.persona_id, meaning.space, metadata.batch)

        waiting = await self._rooms.read(look)
        made = await meaning.embed(waiting.memories)
        context.note("embedded", sum(each.values is not None for each in made))
        return VectorsMade(space=meaning.space, waiting=waiting, made=made)


class KeepInputs(Data):
    persona_id: PersonaId
    space: str
    waiting: Waiting
    made: tuple[Embedded, ...]


class KeepVectors(Step[NoData, KeepInputs, NoData]):
    """Keeps the vectors of memories that nobody changed while they were embedded."""

    type = "KeepVectors"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: KeepInputs, context: StepContext) -> NoData:
        def keep(rooms: VectorRooms) -> int:
            return rooms.vectors.save(inputs.persona_id, inputs.space, inputs.made, inputs.waiting)

        context.stage_write(keep)
        return NoData()
