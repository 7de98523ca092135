"""Reads the tables directly, without Gieok: every owner's rows in one snapshot."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import psycopg

from gieok.settings import sqlite_path
from tests.crash.place import Place

Rows = list[tuple[Any, ...]]
Query = Callable[[str], Rows]


@dataclass(frozen=True)
class MemoryRow:
    owner: str
    id: bytes
    session: str
    at: int
    summary: bytes
    keywords: bytes
    terms: bytes
    changed: int


@dataclass(frozen=True)
class Tables:
    memories: tuple[MemoryRow, ...]
    scopes: dict[tuple[str, str], int]
    """The revision of the search index, by owner and session."""
    sessions: dict[tuple[str, str], int]
    """The last activity, by owner and session."""
    owners: frozenset[str]

    def of(self, owners: Collection[str]) -> Tables:
        """The rows of these owners."""
        return Tables(
            memories=tuple(row for row in self.memories if row.owner in owners),
            scopes={key: revision for key, revision in self.scopes.items() if key[0] in owners},
            sessions={key: at for key, at in self.sessions.items() if key[0] in owners},
            owners=self.owners.intersection(owners),
        )


def read_tables(place: Place) -> Tables:
    """Read everything in one snapshot."""
    if place.admin_url is not None:
        with psycopg.connect(place.admin_url) as server:
            server.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            server.execute("SET search_path = gieok")
            return _read(lambda sql: server.execute(sql.encode()).fetchall())
    file = apsw.Connection(place.url.removeprefix("sqlite:///"))
    try:
        file.execute("BEGIN")
        return _read(lambda sql: file.execute(sql).fetchall())
    finally:
        file.close()


def damage(place: Place) -> list[str]:
    """Problems that SQLite finds in the files. PostgreSQL checks its pages when it reads them."""
    urls = () if place.admin_url else (place.settings.database_url, place.settings.keystore_url)
    return [problem for url in urls if (path := sqlite_path(url)) for problem in _damage(path)]


def _read(query: Query) -> Tables:
    return Tables(
        memories=tuple(
            MemoryRow(*row)
            for row in query(
                "SELECT owner, id, session_ref, at, summary, keywords, terms, changed FROM turn_memories"
            )
        ),
        scopes={
            (owner, session): revision
            for owner, session, revision in query(
                "SELECT owner, scope, revision FROM search_scopes WHERE kind = 'turns'"
            )
        },
        sessions={
            (owner, session): at
            for owner, session, at in query("SELECT owner, session_ref, last_activity_at FROM sessions")
        },
        owners=frozenset(owner for (owner,) in query("SELECT owner FROM owners")),
    )


def _damage(path: Path) -> list[str]:
    file = apsw.Connection(str(path))
    try:
        found = [*file.execute("PRAGMA integrity_check"), *file.execute("PRAGMA foreign_key_check")]
        return [f"{path.name}: {row}" for row in found if row != ("ok",)]
    finally:
        file.close()
