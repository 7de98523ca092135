"""Steps that read companion memory: what a conversation begins with, and what a message brings to mind."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gieok.engine import Data, Stage, Step, StepContext
from gieok.memory.companion.embedder import Embedder
from gieok.memory.companion.recall import NOTHING, Found, RecallPolicy, hits, look_up, with_vectors
from gieok.memory.companion.records import Memory, MemoryHit
from gieok.memory.companion.rules import MAX_PAGE
from gieok.memory.companion.store import CompanionRooms
from gieok.memory.fields import PersonaId
from gieok.memory.reader import Reader
from gieok.ranking import cosine


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

    async def run(self, metadata: LoadMetadata, inputs: LoadInputs, context: StepContext) -> Loaded:
        def load(rooms: CompanionRooms) -> tuple[Memory, ...]:
            if not rooms.companion.config(inputs.persona_id).recall:
                return ()
            return tuple(rooms.companion.load(inputs.persona_id, metadata.limit))

        memories = await self._rooms.read(load)
        context.note("loaded", [str(memory.id) for memory in memories])
        return Loaded(memories=memories)


class RecallInputs(Data):
    persona_id: PersonaId
    query: str


class Recalled(Data):
    memories: tuple[Memory, ...]
    hits: tuple[MemoryHit, ...]
    """The same memories, each with its score and its reasons."""


class RecallMemories(Step[RecallPolicy, RecallInputs, Recalled]):
    """What this user and this persona said before, in any session, that the query brings to mind."""

    type = "RecallMemories"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, rooms: Reader[CompanionRooms], embedder: Embedder | None = None) -> None:
        self._rooms = rooms
        self._embedder = embedder

    async def run(self, metadata: RecallPolicy, inputs: RecallInputs, context: StepContext) -> Recalled:
        def find(rooms: CompanionRooms) -> Found:
            if not rooms.companion.config(inputs.persona_id).recall:
                return NOTHING
            index = rooms.companion.index(inputs.persona_id, include_archived=metadata.include_archived)
            open_all = self._embedder is not None
            return look_up(index, inputs.query, context.now, metadata, open_all=open_all)

        found = await self._rooms.read(find)
        if self._embedder is not None and found.memories:
            found = await _compare(self._embedder, inputs.query, found)
        recalled = hits(found, metadata)
        context.note("recalled", [str(hit.memory.id) for hit in recalled])
        context.note("filled", sum(hit.why.filled for hit in recalled))
        return Recalled(memories=tuple(hit.memory for hit in recalled), hits=recalled)


async def _compare(embedder: Embedder, query: str, found: Found) -> Found:
    numbers = list(found.memories)
    texts = [query, *(found.memories[number].summary for number in numbers)]
    asked, *vectors = await embedder.embed(texts)
    return with_vectors(
        found, {number: cosine(asked, vector) for number, vector in zip(numbers, vectors, strict=True)}
    )
