"""Filler memories for a large file: rows of realistic size with random contents, never decrypted."""

from __future__ import annotations

from pathlib import Path

from bench.terms import random_terms
from gieok.adapters.sql.driver import sqlite_file

_CHUNK = 10_000
_OWN_CHUNKS = 9

_ADD_OWNER = """
INSERT INTO owners (owner, key_generation, created_at) VALUES (:owner, 1, '2026-01-05')
ON CONFLICT (owner) DO NOTHING
"""
_ADD_SCOPE = """
INSERT INTO search_scopes (owner, kind, scope, revision, removed, row_count)
VALUES (:owner, 'turns', :session_ref, :count, 0, :count)
"""
_ADD_MEMORY = """
INSERT INTO turn_memories (owner, id, session_ref, at, summary, keywords, terms, changed)
VALUES
    (:owner, randomblob(16), :session_ref, 1767600000000000 + :number, randomblob(160), randomblob(130),
     :terms, :number)
"""
_KEYWORDS = 7
_NUMBERS = [1 + token // 2 for token in range(2 * _KEYWORDS)]
"""The number of the keyword of each token: as many tokens per item as real items have."""


def checkpoint(file: Path) -> None:
    """Checkpoint the WAL, so that a search reads from the database file as it usually does."""
    connection = sqlite_file.connect(file, lock_seconds=30.0)
    connection.pragma("wal_checkpoint", "TRUNCATE")
    connection.close()


def fill(file: Path, owner: str, count: int) -> None:
    """Add `count` memories: some in other sessions of `owner`, the rest of other owners."""
    connection = sqlite_file.connect(file, lock_seconds=30.0)
    connection.pragma("synchronous", "off")
    for chunk, left in enumerate(range(count, 0, -_CHUNK)):
        size = min(left, _CHUNK)
        scope = {
            "owner": owner if chunk < _OWN_CHUNKS else f"filler-{chunk}",
            "session_ref": f"filler-{chunk}",
        }
        packed = random_terms(size, _NUMBERS, version=1, words=_KEYWORDS)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_ADD_OWNER, scope)
        connection.execute(_ADD_SCOPE, {**scope, "count": size})
        connection.executemany(
            _ADD_MEMORY,
            ({**scope, "number": number, "terms": terms} for number, terms in enumerate(packed, 1)),
        )
        connection.execute("COMMIT")
    connection.close()
