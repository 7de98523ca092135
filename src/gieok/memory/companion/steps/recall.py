"""Steps that read companion memory: what a conversation begins with, and what a message recalls."""

from __future__ import annotations

from typing import Annotated, Protocol

from pydantic import Field

from gieok.engine import AnyStep, Ask, Data, ReadStep, Stage, StepContext
from gieok.memory.companion.embedder import Vector
from gieok.memory.companion.query import named_speakers, read_query, without_names
from gieok.memory.companion.recall import RecallPolicy, hits, look_up
from gieok.memory.companion.records import Memory, MemoryHit
from gieok.memory.companion.rules import MAX_PAGE
from gieok.memory.companion.store import CompanionView
from gieok.memory.companion.vectors import EmbedderServices, VectorView
from gieok.memory.fields import PersonaId

CONTEXT_SELECT = frozenset({Stage.CONTEXT_SELECT})


class LoadMetadata(Data):
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)]


class LoadInputs(Data):
    persona_id: PersonaId


class Loaded(Data):
    memories: tuple[Memory, ...]


class LoadMemories(ReadStep[LoadMetadata, LoadInputs, Loaded]):
    """Load the active memories that a conversation begins with: by importance, then newest first."""

    type = "LoadMemories"
    stages = CONTEXT_SELECT

    def read(
        self, view: CompanionView, metadata: LoadMetadata, inputs: LoadInputs, context: StepContext
    ) -> Loaded:
        memories = tuple(view.companion.load(inputs.persona_id, metadata.limit))
        context.note("loaded", [memory.id for memory in memories])
        return Loaded(memories=memories)


class RecallInputs(Data):
    persona_id: PersonaId
    query: str
    limit: Annotated[int, Field(ge=1)] | None = None
    """How many hits are wanted, at most the plan's `topK`."""


class Recalled(Data):
    memories: tuple[Memory, ...]
    hits: tuple[MemoryHit, ...]
    """The same memories, each with its score and its reasons."""


class RecallView(CompanionView, VectorView, Protocol):
    """Memories and their vectors."""


class RecallMemories(ReadStep[RecallPolicy, RecallInputs, Recalled]):
    """Find what this user and this persona said before, in any session, that answers the query.

    With an embedder it asks for the vector of the query in between, so it reads twice.
    """

    type = "RecallMemories"
    stages = CONTEXT_SELECT

    def __init__(self, services: EmbedderServices) -> None:
        self._embedder = services.embedder

    def read(
        self, view: RecallView, metadata: RecallPolicy, inputs: RecallInputs, context: StepContext
    ) -> Recalled | Ask[Recalled]:
        embedder = self._embedder
        if embedder is None or not metadata.weights.vectors:
            return self._search(view, metadata, inputs, context, None)
        query = read_query(inputs.query, context.now)
        index = view.companion.index(inputs.persona_id, include_archived=True)
        text = without_names(inputs.query, named_speakers(index, query))
        return Ask(
            question=lambda: embedder.ask(text),
            resume=lambda view, vector: self._search(view, metadata, inputs, context, vector),
        )

    def _search(
        self,
        view: RecallView,
        policy: RecallPolicy,
        inputs: RecallInputs,
        context: StepContext,
        vector: Vector | None,
    ) -> Recalled:
        index = view.companion.index(inputs.persona_id, include_archived=policy.include_archived)
        if not index.recall:
            return Recalled(memories=(), hits=())
        similarity = None
        if self._embedder is not None and vector is not None:
            similarity = self._embedder.compare(
                view.vectors, inputs.persona_id, vector, include_archived=policy.include_archived
            )
        count = policy.top_k if inputs.limit is None else min(policy.top_k, inputs.limit)
        found = look_up(index, inputs.query, context.now, policy, similarity, count=count)
        recalled = hits(found, policy)
        context.note("recalled", [hit.memory.id for hit in recalled])
        context.note("filled", sum(hit.why.filled for hit in recalled))
        return Recalled(memories=tuple(hit.memory for hit in recalled), hits=recalled)


STEPS: tuple[type[AnyStep], ...] = (LoadMemories, RecallMemories)
