"""An embedder for tests: no weights, no language, the same vector every time."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gieok.errors import ModelUnavailable
from gieok.memory.companion.embedder import Vector


class LetterEmbedder:
    """Counts letters instead of understanding them: texts that use the same letters lie close together.

    `asked` keeps every text that it was given. While `is_away` is set, it answers nothing.
    """

    def __init__(
        self, name: str = "letters", dimension: int = 32, languages: Collection[str] | None = None
    ) -> None:
        self.name = name
        self.dimension = dimension
        self.languages = languages
        self.asked: list[str] = []
        self.is_away = False

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        return [self._count(text) for text in texts]

    async def embed_query(self, text: str) -> Vector:
        return self._count(text)

    def _count(self, text: str) -> Vector:
        if self.is_away:
            raise ModelUnavailable("the embedder for tests is away")
        self.asked.append(text)
        counts = [0.0] * self.dimension
        for letter in filter(str.isalpha, text.lower()):
            counts[ord(letter) % self.dimension] += 1
        return counts
