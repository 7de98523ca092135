"""What recall may ask of an embedding model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from gieok.text import language

Vector = Sequence[float]

MAX_SPACE_CHARS = 128


class Embedder(Protocol):
    """Turns texts into vectors, so that texts that mean the same lie close together."""

    @property
    def name(self) -> str:
        """Which model it is. Vectors of models with different names are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        ...

    @property
    def languages(self) -> Collection[str] | None:
        """The languages that it understands (`ko`, `en`). None is all of them."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        """One vector a text, in their order. ModelUnavailable when it cannot."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """What is compared with the vectors of texts. ModelUnavailable when it cannot, soon enough to go on
        without."""
        ...


def space_of(embedder: Embedder) -> str:
    """Which vectors can be compared with each other: those of one model, of one length."""
    return f"{embedder.name}@{embedder.dimension}"


def serves(embedder: Embedder, text: str) -> bool:
    """Whether the model understands the text. To an English model all Korean texts are alike."""
    return embedder.languages is None or language(text) in embedder.languages
