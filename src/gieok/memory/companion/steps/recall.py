"""Steps that read companion memory: loading at the start of a conversation, and recall by a query."""

from __future__ import annotations

from typing import Annotated, Protocol

from pydantic import Field

from gieok.engine import AnyStep, Ask, Data, ReadStep, Stage, StepContext
from gieok.memory.companion.hits import Hit
from gieok.memory.companion.recall.policy import RecallPolicy
from gieok.memory.companion.recall.query import find_speakers, parse_query, without_names
from gieok.memory.companion.recall.ranking import rank_memories
from gieok.memory.companion.records import Memory
from gieok.memory.companion.rules import MAX_PAGE
from gieok.memory.companion.store import CompanionView
from gieok.memory.companion.vectors.search import Vector, VectorServices, VectorView
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
    """How many hits to return, at most the plan's `topK`."""


class Recalled(Data):
    memories: tuple[Memory, ...]
    """The memories among the hits."""
    hits: tuple[Hit, ...]
    """Best first: memories, messages and facts, each with its score and the reasons for it."""


class RecallView(CompanionView, VectorView, Protocol):
    """Memories and their vectors."""


class RecallMemories(ReadStep[RecallPolicy, RecallInputs, Recalled]):
    """Find memories of this user and this persona, of any session, that answer the query.

    With an embedder it reads twice, and asks for the vector of the query in between.
    """

    type = "RecallMemories"
    stages = CONTEXT_SELECT

    def __init__(self, services: VectorServices) -> None:
        self._vector_search = services.vector_search

    def read(
        self, view: RecallView, metadata: RecallPolicy, inputs: RecallInputs, context: StepContext
    ) -> Recalled | Ask[Recalled]:
        vector_search = self._vector_search
        if vector_search is None or not metadata.weights.vectors:
            return self._search(view, metadata, inputs, context, None)
        query = parse_query(inputs.query, context.now)
        index = view.companion.index(inputs.persona_id, include_archived=True)
        text = without_names(inputs.query, find_speakers(index, query.words).keys())
        return Ask(
            question=lambda: vector_search.embed_query(text),
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
        if self._vector_search is not None and vector is not None:
            similarity = self._vector_search.compare(
                view.vectors, inputs.persona_id, vector, include_archived=policy.include_archived
            )
        count = policy.top_k if inputs.limit is None else min(policy.top_k, inputs.limit)
        recalled = rank_memories(index, inputs.query, context.now, policy, similarity, count=count)
        context.note("recalled", [hit.id for hit in recalled])
        context.note("filled", sum(hit.why.filled for hit in recalled))
        return Recalled(memories=tuple(hit.memory for hit in recalled if hit.kind == "memory"), hits=recalled)


STEPS: tuple[type[AnyStep], ...] = (LoadMemories, RecallMemories)
