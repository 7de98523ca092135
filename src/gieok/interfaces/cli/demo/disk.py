"""What someone sees who has the files and not the key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import apsw

from gieok.adapters.sql.driver.sqlite_file import Connection

_ROW = """SELECT owner, persona_id, importance, occurred_at, content, number FROM memories WHERE id = ?"""
_TOKENS = "SELECT token FROM memory_postings WHERE owner = ? AND number = ? ORDER BY token"
_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")


@dataclass(frozen=True)
class StoredMemory:
    """One memory as it lies in the database. The tokens are those of the words that it is found by."""

    id: UUID
    owner: str
    persona_id: str
    importance: int
    occurred_at: int
    """Microseconds since 1970."""
    content: bytes
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class Scan:
    """How often each text stands in the bytes of every file of a folder."""

    files: int
    size: int
    found: Mapping[str, int]


def stored_memory(database: Path, memory_id: UUID) -> StoredMemory:
    """The row of a memory, read past Gieok and without its key."""
    with _reading(database) as connection:
        ((owner, persona_id, importance, at, content, number),) = _rows(connection, _ROW, memory_id.bytes)
        tokens = tuple(token for (token,) in _rows(connection, _TOKENS, owner, number))
    return StoredMemory(memory_id, owner, persona_id, importance, at, content, tokens)


def count_rows(database: Path) -> Mapping[str, int]:
    """How many rows each table has, read past Gieok."""
    with _reading(database) as connection:
        names = [name for (name,) in _rows(connection, _TABLES)]
        # The names come from the schema itself, and a table cannot be a bound value.
        return {name: _rows(connection, f'SELECT count(*) FROM "{name}"')[0][0] for name in names}  # noqa: S608


def scan(folder: Path, texts: Iterable[str]) -> Scan:
    """Search every byte. Only while no database in `folder` is open in this process: closing a file here
    would drop the locks that SQLite holds on it."""
    contents = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]
    found = {
        text: sum(content.count(text.encode(encoding)) for content in contents for encoding in _ENCODINGS)
        for text in texts
    }
    return Scan(len(contents), sum(map(len, contents)), found)


def _reading(database: Path) -> closing[Connection]:
    return closing(cast(Connection, apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)))


def _rows(connection: Connection, sql: str, *values: bytes | int | str) -> list[tuple[Any, ...]]:
    return connection.execute(sql, values).fetchall()
