"""Steps that read companion memory: what a conversation begins with, and what a message brings to mind."""

from __future__ import annotations

from typing import Annotated, Protocol

from pydantic import Field

from gieok.engine import Data, Stage, Step, StepContext
from gieok.memory.companion.embedder import Vector
from gieok.memory.companion.query import named_speakers, read_query, without_names
from gieok.memory.companion.recall import NOTHING, Found, RecallPolicy, hits, look_up
from gieok.memory.companion.records import LARGEST_MEMORY, Memory, MemoryHit
from gieok.memory.companion.rules import MAX_PAGE
from gieok.memory.companion.store import CompanionRooms
from gieok.memory.companion.vectors import Meaning, VectorRooms
from gieok.memory.fields import PersonaId
from gieok.memory.reader import Reader


class LoadMetadata(Data):
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)]


class LoadInputs(Data):
    persona_id: PersonaId


class Loaded(Data):
    memories: tuple[Memory, ...]


class LoadMemories(Step[LoadMetadata, LoadInputs, Loaded]):
    """The active memories that a conversation begins with: the most important first, then the newest."""

    type = "LoadMemories"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, rooms: Reader[CompanionRooms]) -> None:
        self._rooms = rooms

    def largest_output(self, metadata: LoadMetadata, inputs: LoadInputs) -> int:
        return metadata.limit * LARGEST_MEMORY

    async def run(self, metadata: LoadMetadata, inputs: LoadInputs, context: StepContext) -> Loaded:
        def load(rooms: CompanionRooms) -> tuple[Memory, ...]:
            return tuple(rooms.companion.load(inputs.persona_id, metadata.limit))

        memories = await self._rooms.read(load, brief=True)
        context.note("loaded", [memory.id for memory in memories])
        return Loaded.trusted(memories=memories)


class RecallInputs(Data):
    persona_id: PersonaId
    query: str
    limit: Annotated[int, Field(ge=1)] | None = None
    """How many are wanted. Where that is more than the plan gives, it is what the plan gives."""


class Recalled(Data):
    memories: tuple[Memory, ...]
    hits: tuple[MemoryHit, ...]
    """The same memories, each with its score and its reasons."""


class RecallRooms(CompanionRooms, VectorRooms, Protocol):
    """Memories, and their vectors where there are any."""


class RecallMemories(Step[RecallPolicy, RecallInputs, Recalled]):
    """What this user and this persona said before, in any session, that the query brings to mind."""

    type = "RecallMemories"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, rooms: Reader[RecallRooms], meaning: Meaning | None = None) -> None:
        self._rooms = rooms
        self._meaning = meaning

    def largest_output(self, metadata: RecallPolicy, inputs: RecallInputs) -> int:
        """Each memory stands there twice, once with its reasons: a dozen numbers, and words of the query,
        which may stand alone and in two pairs."""
        why = 2_048 + 5 * 8 * len(inputs.query)
        return _count(metadata, inputs) * (2 * LARGEST_MEMORY + why)

    async def run(self, metadata: RecallPolicy, inputs: RecallInputs, context: StepContext) -> Recalled:
        meaning, archived = self._meaning, metadata.include_archived
        count = _count(metadata, inputs)
        asked = await self._ask(meaning, inputs, context) if meaning and metadata.weights.vectors else None

        def find(rooms: RecallRooms) -> Found:
            index = rooms.companion.index(inputs.persona_id, include_archived=archived)
            if not index.recall:
                return NOTHING
            similarity = None
            if meaning is not None and asked is not None:
                similarity = meaning.compare(
                    rooms.vectors, inputs.persona_id, asked, include_archived=archived
                )
            return look_up(index, inputs.query, context.now, metadata, similarity, count=count)

        found = await self._rooms.read(find, brief=asked is None)
        recalled = hits(found, metadata)
        context.note("recalled", [hit.memory.id for hit in recalled])
        context.note("filled", sum(hit.why.filled for hit in recalled))
        return Recalled.trusted(memories=tuple(hit.memory for hit in recalled), hits=recalled)

    async def _ask(self, meaning: Meaning, inputs: RecallInputs, context: StepContext) -> Vector | None:
        """The vector of the query, without the names of those whom it asks about."""
        query = read_query(inputs.query, context.now)

        def names(rooms: RecallRooms) -> frozenset[str]:
            return named_speakers(rooms.companion.index(inputs.persona_id, include_archived=True), query)

        return await meaning.ask(without_names(inputs.query, await self._rooms.read(names)))


def _count(policy: RecallPolicy, inputs: RecallInputs) -> int:
    """How many are wanted."""
    return policy.top_k if inputs.limit is None else min(policy.top_k, inputs.limit)
