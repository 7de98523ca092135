"""A deterministic embedder for tests, without a model."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gieok.errors import ModelUnavailable
from gieok.memory.companion.vectors.search import Vector


class LetterEmbedder:
    """Counts letters: texts with the same letters have similar vectors.

    `embedded` lists every text that was embedded. While `is_down` is set, each call raises ModelUnavailable.
    """

    def __init__(
        self, name: str = "letters", dimension: int = 32, languages: Collection[str] | None = None
    ) -> None:
        self.name = name
        self.dimension = dimension
        self.languages = languages
        self.embedded: list[str] = []
        self.is_down = False

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        return [self._count(text) for text in texts]

    async def embed_query(self, text: str) -> Vector:
        return self._count(text)

    def _count(self, text: str) -> Vector:
        if self.is_down:
            raise ModelUnavailable("the test embedder is down")
        self.embedded.append(text)
        counts = [0.0] * self.dimension
        for letter in filter(str.isalpha, text.lower()):
            counts[ord(letter) % self.dimension] += 1
        return counts
