"""Vectors of memories: what a store keeps of them, and the comparison of a query with all of a persona's."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol
from uuid import UUID

from gieok.engine import Data
from gieok.errors import ModelUnavailable
from gieok.memory.companion.embedder import Embedder, Vector, serves, space_of

if TYPE_CHECKING:
    from gieok.memory.companion.matrix import Matrices

_log = logging.getLogger(__name__)


class Unembedded(Data):
    """A memory that has no vector in a space yet, and what is to be embedded of it."""

    number: int
    memory_id: UUID
    version: int
    text: str


class Waiting(Data):
    """The next memories of a persona without a vector. With these done, all is done up to `up_to`."""

    memories: tuple[Unembedded, ...]
    up_to: int
    removed: int
    """The mark of the last removal when this was read: a later one means that `up_to` no longer holds."""


class Embedded(Data, ser_json_bytes="base64"):
    """The vector of a version of a memory: half floats. None where the model does not know its language."""

    number: int
    memory_id: UUID
    version: int
    values: bytes | None


class StoredVector(NamedTuple):
    """A vector as it is kept. `stamp` grows with every change of a persona's vectors."""

    number: int
    stamp: int
    is_archived: bool
    values: bytes


class Mark(NamedTuple):
    """How far a persona's vectors have come: the last change, and the last one that removed any."""

    stamp: int
    removed: int


class VectorStore(Protocol):
    """The vectors of one owner in one transaction: sealed where they lie, in clear on their way."""

    @property
    def owner(self) -> str: ...

    @property
    def generation(self) -> int:
        """Of the owner's keys."""
        ...

    def mark(self, persona_id: str) -> Mark: ...

    def newest(self, persona_id: str, space: str, before: int | None, limit: int) -> Sequence[StoredVector]:
        """The vectors of the newest memories, or of the newest below the number `before`."""
        ...

    def since(
        self, persona_id: str, space: str, stamp: int, number: int, limit: int
    ) -> Sequence[StoredVector]:
        """The vectors that changed later, in the order of stamp and number."""
        ...

    def numbers(self, persona_id: str, space: str) -> Sequence[int]:
        """The memories that have a vector in the space."""
        ...

    def unfinished(self, space: str, limit: int) -> Sequence[str]:
        """Personas that have memories without a vector in the space, or whose old space is not gone yet."""
        ...

    def is_finished(self, persona_id: str, space: str) -> bool:
        """Whether no memory of the persona needs a vector in the space, or the persona has another space."""
        ...

    def begin(self, persona_id: str, space: str) -> None:
        """Make it the persona's space. Vectors of another one stay until all memories have one in this."""
        ...

    def waiting(self, persona_id: str, space: str, limit: int) -> Waiting:
        """The oldest memories that have no vector in the space."""
        ...

    def save(self, persona_id: str, space: str, made: Sequence[Embedded], waiting: Waiting) -> int:
        """Keep the vectors of memories that are still as they were when they were embedded. Returns how many.

        When no memory waits any more, vectors of other spaces are removed. Nothing is kept where the persona
        has gone over to another space meanwhile.
        """
        ...


class VectorView(Protocol):
    """Whatever holds vectors among its rooms."""

    @property
    def vectors(self) -> VectorStore:
        """The vectors of the owner at hand."""
        ...


class Meaning:
    """How close memories lie to a query in meaning, by an embedder and the vectors that it made before."""

    def __init__(
        self, embedder: Embedder, matrices: Matrices, close: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """`close` lets go of an embedder that nobody else will."""
        self.embedder = embedder
        self.space = space_of(embedder)
        self._matrices = matrices
        self._close = close

    async def ask(self, query: str) -> Vector | None:
        """The vector of a query. None where the model does not know its language, or cannot answer now: then
        recall goes by everything else."""
        if not query.strip() or not serves(self.embedder, query):
            return None
        try:
            return await self.embedder.embed_query(query)
        except ModelUnavailable as away:
            _log.warning("recall goes on without vectors: %s", away)
            return None

    def compare(
        self, vectors: VectorStore, persona_id: str, asked: Vector, *, include_archived: bool
    ) -> Mapping[int, float]:
        """The cosine of the query with each memory of the persona that has a vector, by number.

        Inside the transaction that reads the memories, so that no number is of a memory that is not there.
        """
        return self._matrices.compare(vectors, persona_id, self.space, asked, include_archived)

    def forget(self, owner: str) -> None:
        """Leave nothing of an owner in this process."""
        self._matrices.forget(owner)

    async def close(self) -> None:
        """Ask no more."""
        if self._close is not None:
            await self._close()

    async def embed(self, memories: Sequence[Unembedded]) -> tuple[Embedded, ...]:
        """The vectors of memories. Those in a language that the model does not know get none."""
        from gieok.memory.companion.matrix import checked, packed  # noqa: PLC0415  numpy loads when it is used

        served = [each for each in memories if serves(self.embedder, each.text)]
        vectors = await self.embedder.embed_documents([each.text for each in served]) if served else ()
        values = packed(checked(vectors, len(served), self.embedder.dimension))
        by_number = dict(zip((each.number for each in served), values, strict=True))
        return tuple(
            Embedded(
                number=each.number,
                memory_id=each.memory_id,
                version=each.version,
                values=by_number.get(each.number),
            )
            for each in memories
        )


class EmbedderServices(Protocol):
    """What the steps that use vectors need from the application."""

    @property
    def embedder(self) -> Meaning | None: ...
