"""Vector search: the embedder, the store of vectors, and the comparison of a query with all of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol
from uuid import UUID

from gieok.engine import Data
from gieok.text import language

if TYPE_CHECKING:
    from gieok.memory.companion.vectors.matrix import Cosines, MatrixCache, Whole

Vector = Sequence[float]

MAX_SPACE_CHARS = 128


class Embedder(Protocol):
    """An embedding model: texts with similar meaning get similar vectors."""

    @property
    def name(self) -> str:
        """The name of the model. Vectors of different models are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        ...

    @property
    def languages(self) -> Collection[str] | None:
        """The languages that it supports (`ko`, `en`). None is all languages."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        """One vector for each text, in their order. ModelUnavailable if it does not answer."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """The vector of a query. ModelUnavailable if it does not answer in a short time."""
        ...


def space_of(embedder: Embedder) -> str:
    """The name of a vector space: only vectors of one model and one length can be compared."""
    return f"{embedder.name}@{embedder.dimension}"


def supports(embedder: Embedder, text: str) -> bool:
    """Whether the model supports the language of the text."""
    return embedder.languages is None or language(text) in embedder.languages


class Unembedded(Data):
    """A memory or a message without a vector in a space, and the text to embed."""

    number: int
    """Its number in the index."""
    memory_id: UUID | None
    """None for a message."""
    version: int
    text: str


class Waiting(Data):
    """The next memories and messages of a persona to embed. After them, all memories up to `up_to` and all
    messages up to `messages_up_to` have a vector."""

    memories: tuple[Unembedded, ...]
    up_to: int
    messages_up_to: int
    removed: int
    """The last removal when this was read. After a later removal `up_to` is not valid."""


class Embedded(Data, ser_json_bytes="base64"):
    """The vector of a version of a memory or of a message, as half floats. None if its language is not
    supported."""

    number: int
    memory_id: UUID | None
    version: int
    values: bytes | None


class StoredVector(NamedTuple):
    """A stored vector. `stamp` grows with every change of a persona's vectors."""

    number: int
    stamp: int
    is_archived: bool
    values: bytes


class Revision(NamedTuple):
    """The stamps of the last change of a persona's vectors, and of the last removal."""

    stamp: int
    removed: int


class VectorStore(Protocol):
    """The vectors of one owner in one transaction. They are stored encrypted."""

    @property
    def owner(self) -> str: ...

    @property
    def generation(self) -> int:
        """The generation of the owner's keys."""
        ...

    def revision(self, persona_id: str) -> Revision: ...

    def newest(self, persona_id: str, space: str, before: int | None, limit: int) -> Sequence[StoredVector]:
        """The vectors of the newest memories, or of the newest with a number below `before`."""
        ...

    def since(
        self, persona_id: str, space: str, stamp: int, number: int, limit: int
    ) -> Sequence[StoredVector]:
        """The vectors that changed after this stamp and number, in that order."""
        ...

    def numbers(self, persona_id: str, space: str) -> Sequence[int]:
        """The numbers of the memories with a vector in the space."""
        ...

    def unfinished(self, space: str, limit: int) -> Sequence[str]:
        """Personas with memories or messages without a vector in the space, or with older vectors."""
        ...

    def is_finished(self, persona_id: str, space: str) -> bool:
        """Whether no memory of the persona needs a vector in the space, or the persona has another space."""
        ...

    def begin(self, persona_id: str, space: str) -> None:
        """Make it the space of a persona. Vectors of the old space stay until all memories have a new one."""
        ...

    def waiting(self, persona_id: str, space: str, limit: int) -> Waiting:
        """The oldest memories without a vector in the space; if they are fewer than `limit`, messages too."""
        ...

    def save(self, persona_id: str, space: str, made: Sequence[Embedded], waiting: Waiting) -> int:
        """Save the vectors of memories that were not changed since they were read. Returns how many.

        After the last one, vectors of other spaces are deleted. Saves nothing if the persona
        has another space now.
        """
        ...


class VectorView(Protocol):
    """A view with the store of vectors."""

    @property
    def vectors(self) -> VectorStore: ...


class VectorSearch:
    """Compares a query with the vectors of memories, and embeds memories."""

    def __init__(
        self, embedder: Embedder, matrices: MatrixCache, close: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """`close` closes an embedder that belongs to this object."""
        self.embedder = embedder
        self.space = space_of(embedder)
        self._matrices = matrices
        self._close = close

    async def embed_query(self, query: str) -> Vector | None:
        """The vector of a query. None if the model does not support its language: recall then uses the other
        signals. ModelUnavailable if the model does not answer, or not with such a vector."""
        from gieok.memory.companion.vectors.matrix import check_vectors  # noqa: PLC0415  loads numpy

        if not query.strip() or not supports(self.embedder, query):
            return None
        vector = await self.embedder.embed_query(query)
        return check_vectors([vector], 1, self.embedder.dimension)[0].tolist()

    def compare(
        self, vectors: VectorStore, persona_id: str, query: Vector, *, include_archived: bool
    ) -> tuple[Whole, Cosines]:
        """The numbers of the persona's memories and messages with a vector, and the cosine of each.

        Call it in the transaction that reads the memories, so that every number exists there.
        """
        return self._matrices.compare(vectors, persona_id, self.space, query, include_archived)

    def clear(self, owner: str) -> None:
        """Remove the vectors of an owner from memory."""
        self._matrices.clear(owner)

    async def close(self) -> None:
        """Close the embedder if it belongs to this object."""
        if self._close is not None:
            await self._close()

    async def embed(self, memories: Sequence[Unembedded]) -> tuple[Embedded, ...]:
        """Embed memories. Those in a language that the model does not support get no vector."""
        from gieok.memory.companion.vectors.matrix import check_vectors  # noqa: PLC0415  loads numpy
        from gieok.ranking import pack_rows  # noqa: PLC0415  loads numpy

        supported = [each for each in memories if supports(self.embedder, each.text)]
        vectors = await self.embedder.embed_documents([each.text for each in supported]) if supported else ()
        values = pack_rows(check_vectors(vectors, len(supported), self.embedder.dimension))
        by_number = dict(zip((each.number for each in supported), values, strict=True))
        return tuple(
            Embedded(
                number=each.number,
                memory_id=each.memory_id,
                version=each.version,
                values=by_number.get(each.number),
            )
            for each in memories
        )


class VectorServices(Protocol):
    """Services of the steps that use vectors."""

    @property
    def vector_search(self) -> VectorSearch | None: ...
