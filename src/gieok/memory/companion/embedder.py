"""What recall may ask of an embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Embedder(Protocol):
    """Turns texts into vectors, so that texts that mean the same lie close together."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text, all of the same length. ModelUnavailable when it cannot."""
        ...
