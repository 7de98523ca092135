"""The baselines of turn memory: bare apsw inserts, and SQLite FTS5."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.driver.open import open_database
from gieok.memory.turns.records import MemoryItem

Row = tuple[Any, ...]

_INSERT_MEMORY = "INSERT INTO turn_memories VALUES (?, ?, ?, ?, ?, ?)"
_INSERT_POSTING = "INSERT INTO turn_memory_index VALUES (?, ?, ?, ?, ?)"
_LOCK_SECONDS = 5.0


@dataclass(frozen=True)
class StoredItem:
    """One item as Gieok stores it: its sealed row and its index entries."""

    memory: Row
    postings: Sequence[Row]


def read_stored(file: Path) -> list[StoredItem]:
    """All items in a file of Gieok, byte for byte."""
    connection = sqlite_file.connect(file, _LOCK_SECONDS, read_only=True)
    postings: dict[bytes, list[Row]] = {}
    for row in connection.execute("SELECT owner, token, at, id, keyword FROM turn_memory_index").fetchall():
        postings.setdefault(row[3], []).append(row)
    memories = connection.execute(
        "SELECT owner, id, session_ref, at, summary, keywords FROM turn_memories"
    ).fetchall()
    connection.close()
    return [StoredItem(row, postings.get(row[1], ())) for row in memories]


async def make_file(file: Path) -> None:
    """Create an empty database with the tables of Gieok."""
    await open_database(f"sqlite:///{file}").close()


class BareWriter:
    """Writes with apsw into the tables of Gieok, one transaction per item."""

    def __init__(self, file: Path) -> None:
        self._connection = sqlite_file.connect(file, _LOCK_SECONDS)
        self._connection.pragma("foreign_keys", 0)

    def save(self, item: StoredItem) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(_INSERT_MEMORY, item.memory)
        self._connection.executemany(_INSERT_POSTING, item.postings)
        self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()


class FullText:
    """SQLite FTS5 over the keywords in plain text, ranked by its BM25."""

    def __init__(self, file: Path, items: Iterable[MemoryItem]) -> None:
        sqlite_file.prepare(file, (), _LOCK_SECONDS)
        self._connection = sqlite_file.connect(file, _LOCK_SECONDS)
        self._connection.execute(
            "CREATE VIRTUAL TABLE memory USING fts5(keywords, summary UNINDEXED, id UNINDEXED, at UNINDEXED)"
        )
        rows = [
            (" ".join(item.keywords), item.summary, item.id.bytes, item.timestamp.isoformat())
            for item in items
        ]
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO memory VALUES (?, ?, ?, ?)", rows)
        self._connection.execute("COMMIT")
        self._connection.execute("INSERT INTO memory(memory) VALUES ('optimize')")

    def search(self, query: str, top_k: int) -> list[Row]:
        return self._find(" OR ".join(f'"{word}"' for word in query.split()), top_k)

    def search_prefix(self, prefix: str, top_k: int) -> list[Row]:
        return self._find(f'"{prefix}"*', top_k)

    def close(self) -> None:
        self._connection.close()

    def _find(self, match: str, top_k: int) -> list[Row]:
        return self._connection.execute(
            "SELECT id, summary, at FROM memory WHERE memory MATCH ? ORDER BY rank LIMIT ?", (match, top_k)
        ).fetchall()
