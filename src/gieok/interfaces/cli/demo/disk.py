"""What someone sees who has the files and not the key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import apsw

from gieok.adapters.sql.sqlite_file import Connection

_ROW = "SELECT id, session_ref, at, summary, keywords FROM turn_memories ORDER BY at DESC LIMIT 1"
_TOKENS = "SELECT DISTINCT token FROM turn_memory_index WHERE id = ? ORDER BY token"
_COUNTS = {
    "turn_memories": "SELECT count(*) FROM turn_memories",
    "turn_memory_index": "SELECT count(*) FROM turn_memory_index",
    "sessions": "SELECT count(*) FROM sessions",
}
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")


@dataclass(frozen=True)
class StoredRow:
    """One turn memory as it lies in the database."""

    id: UUID
    session_ref: str
    at: int
    """Microseconds since 1970."""
    summary: bytes
    keywords: bytes
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class Scan:
    """How often each text stands in the bytes of every file of a folder."""

    files: int
    size: int
    found: Mapping[str, int]


def newest_row(database: Path) -> StoredRow:
    """The turn memory that was stored last, read past Gieok and without its key."""
    identity, session_ref, at, summary, keywords = _fetch(database, _ROW)[0]
    tokens = tuple(token for (token,) in _fetch(database, _TOKENS, identity))
    return StoredRow(UUID(bytes=identity), session_ref, at, summary, keywords, tokens)


def count_rows(database: Path) -> Mapping[str, int]:
    """How many rows each table that a turn writes to has."""
    return {table: _fetch(database, query)[0][0] for table, query in _COUNTS.items()}


def scan(folder: Path, texts: Iterable[str]) -> Scan:
    """Search every byte. Only while no database in `folder` is open in this process: closing a file here
    would drop the locks that SQLite holds on it."""
    contents = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]
    found = {
        text: sum(content.count(text.encode(encoding)) for content in contents for encoding in _ENCODINGS)
        for text in texts
    }
    return Scan(len(contents), sum(map(len, contents)), found)


def _fetch(database: Path, sql: str, *values: bytes) -> list[tuple[Any, ...]]:
    connection = cast(Connection, apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY))
    with closing(connection):
        return connection.execute(sql, values).fetchall()
