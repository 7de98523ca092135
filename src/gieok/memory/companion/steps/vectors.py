"""Steps that embed memories in the background, in batches."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gieok.engine import AnyStep, Ask, Data, NoData, ReadStep, Stage, StepContext, WriteStep
from gieok.errors import InputRefused
from gieok.memory.companion.vectors.search import Embedded, VectorServices, VectorView, Waiting
from gieok.memory.fields import PersonaId


class EmbedMetadata(Data):
    batch: Annotated[int, Field(ge=1, le=256)]
    """How many memories are embedded at a time."""


class EmbedInputs(Data):
    persona_id: PersonaId


class VectorsMade(Data):
    space: str
    waiting: Waiting
    made: tuple[Embedded, ...]


class EmbedMemories(ReadStep[EmbedMetadata, EmbedInputs, VectorsMade]):
    """Embed the oldest memories of a persona that have no vector yet."""

    type = "EmbedMemories"
    stages = frozenset({Stage.POST_PROCESS})

    def __init__(self, services: VectorServices) -> None:
        self._vector_search = services.vector_search

    def read(
        self, view: VectorView, metadata: EmbedMetadata, inputs: EmbedInputs, context: StepContext
    ) -> Ask[VectorsMade]:
        vector_search = self._vector_search
        if vector_search is None:
            raise InputRefused("there is no embedder; set GIEOK_EMBEDDER, or open Gieok with one")
        waiting = view.vectors.waiting(inputs.persona_id, vector_search.space, metadata.batch)

        def finish(view: VectorView, made: tuple[Embedded, ...]) -> VectorsMade:
            context.note("embedded", sum(each.values is not None for each in made))
            return VectorsMade(space=vector_search.space, waiting=waiting, made=made)

        return Ask(question=lambda: vector_search.embed(waiting.memories), resume=finish)


class KeepInputs(Data):
    persona_id: PersonaId
    space: str
    waiting: Waiting
    made: tuple[Embedded, ...]


class KeptVectors(Data):
    count: int


class KeepVectors(WriteStep[NoData, KeepInputs, KeptVectors]):
    """Store the vectors of memories that were not changed while they were embedded."""

    type = "KeepVectors"

    def apply(
        self, view: VectorView, metadata: NoData, inputs: KeepInputs, context: StepContext
    ) -> KeptVectors:
        count = view.vectors.save(inputs.persona_id, inputs.space, inputs.made, inputs.waiting)
        return KeptVectors(count=count)


STEPS: tuple[type[AnyStep], ...] = (EmbedMemories, KeepVectors)
