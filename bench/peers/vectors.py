"""The vectors that the peers store: a cheap hash for the speed rows, MiniLM from a file for the others.

Only the standard library is used, because this file runs in the environment of every peer.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from math import sqrt
from pathlib import Path
from zlib import crc32

DIMENSION = 384
HASHED = "hashed"
"""In the place of a file name: `hash_text` makes the vectors."""

Embed = Callable[[Sequence[str]], list[list[float]]]
"""Texts to vectors of length one, in their order."""


def open_embed(source: str) -> Embed:
    """`hash_text`, or the vectors of a file. A text that is not in the file is a KeyError."""
    if source == HASHED:
        return lambda texts: [hash_text(text) for text in texts]
    file = VectorFile(Path(source))
    return lambda texts: list(map(file.read(texts).__getitem__, texts))


def hash_text(text: str) -> list[float]:
    """Add one at the position of each word's hash. Takes microseconds, so that the store is what is timed."""
    numbers = [0.0] * DIMENSION
    for word in text.lower().split():
        numbers[crc32(word.encode()) % DIMENSION] += 1.0
    return unit_length(numbers)


def unit_length(numbers: Sequence[float]) -> list[float]:
    """Scale to length one, so that every distance ranks as the cosine does. No word at all stays zero."""
    length = sqrt(sum(number * number for number in numbers)) or 1.0
    return [number / length for number in numbers]


class VectorFile:
    """Vectors by the hash of their text, kept between runs. The texts themselves are not stored."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=60)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")

    def read(self, texts: Iterable[str]) -> Mapping[str, list[float]]:
        """The vectors of those texts that have one."""
        return dict(self._read(set(texts)))

    def write(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Store vectors, scaled to length one."""
        rows = [(_key(text), array("f", unit_length(vector)).tobytes()) for text, vector in vectors.items()]
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        self._connection.execute("COMMIT")

    def _read(self, texts: Iterable[str]) -> Iterator[tuple[str, list[float]]]:
        for text in texts:
            row = self._connection.execute(
                "SELECT vector FROM vectors WHERE key = ?", (_key(text),)
            ).fetchone()
            if row:
                yield text, list(array("f", row[0]))


def _key(text: str) -> bytes:
    return sha256(text.encode()).digest()
