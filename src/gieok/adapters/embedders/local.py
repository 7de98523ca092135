"""An embedding model on this machine: loaded when it is first used, and run on a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import cast

import numpy as np
from numpy.typing import NDArray

from gieok.errors import ModelUnavailable
from gieok.memory.companion.embedder import Vector

Rows = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Rows]
"""Vectors of some texts, one a row."""

PIECE = 16
"""Texts at a time: a query waits for no more than these."""


class LocalEmbedder:
    """Texts to vectors without a network."""

    def __init__(
        self, name: str, dimension: int, languages: Collection[str] | None, load: Callable[[], Encode]
    ) -> None:
        self.name = name
        self.dimension = dimension
        self.languages = languages
        self._load = load
        self._encode: Encode | None = None
        self._lock = Lock()

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        vectors: list[Vector] = []
        for start in range(0, len(texts), PIECE):
            vectors += await asyncio.to_thread(self._run, texts[start : start + PIECE])
        return vectors

    async def embed_query(self, text: str) -> Vector:
        return (await asyncio.to_thread(self._run, [text]))[0]

    async def close(self) -> None:
        """Let go of the weights."""
        self._encode = None

    def _run(self, texts: Sequence[str]) -> list[Vector]:
        with self._lock:
            try:
                if self._encode is None:
                    self._encode = self._load()
                rows = self._encode(texts)
            except Exception as error:
                # Each library has errors of its own, and their words may hold the text.
                raise ModelUnavailable(
                    f"the embedder {self.name} failed on this machine ({type(error).__name__}); "
                    "check its files, or install it anew"
                ) from error
        return list(rows.tolist())


def load_weights(file: Path) -> Mapping[str, Rows]:
    """The tables of a .safetensors file by their names."""
    load = import_module("safetensors.numpy").load_file  # in the extra `local`; its types are partly unknown
    return cast(Mapping[str, Rows], load(file))


def mean_pooled(states: Rows, mask: NDArray[np.int64]) -> Rows:
    """The mean of the vectors of each text's own tokens: texts × tokens × numbers in, texts × numbers out."""
    weights = mask[:, :, np.newaxis].astype(np.float32)
    return (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
