"""The baselines of turn memory: bare apsw inserts, and SQLite FTS5."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.driver.open import open_database
from gieok.memory.turns.records import MemoryItem

Row = tuple[Any, ...]

_COLUMNS = "owner, id, session_ref, at, summary, keywords, terms, changed"
_INSERT = f"INSERT INTO turn_memories ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_LOCK_SECONDS = 5.0


def read_stored(file: Path) -> list[Row]:
    """The rows of all items in a file of Gieok, byte for byte, with their packed terms."""
    connection = sqlite_file.connect(file, _LOCK_SECONDS, read_only=True)
    rows = connection.execute(f"SELECT {_COLUMNS} FROM turn_memories").fetchall()
    connection.close()
    return rows


async def make_file(file: Path) -> None:
    """Create an empty database with the tables of Gieok."""
    await open_database(f"sqlite:///{file}").close()


class BareWriter:
    """Writes with apsw into the tables of Gieok, one transaction per item."""

    def __init__(self, file: Path) -> None:
        self._connection = sqlite_file.connect(file, _LOCK_SECONDS)
        self._connection.pragma("foreign_keys", 0)

    def save(self, row: Row) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(_INSERT, row)
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
