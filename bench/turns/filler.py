"""Filler memories for a large file: rows of realistic size with random contents, never decrypted."""

from __future__ import annotations

from pathlib import Path

from gieok.adapters.sql.driver import sqlite_file

_CHUNK = 10_000
_OWN_CHUNKS = 9

_ADD_OWNER = """
INSERT INTO owners (owner, key_generation, created_at) VALUES (:owner, 1, '2026-01-05')
ON CONFLICT (owner) DO NOTHING
"""
_ADD_MEMORIES = """
WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < :count)
INSERT INTO turn_memories (owner, id, session_ref, at, summary, keywords)
SELECT :owner, randomblob(16), :session_ref, 1767600000000000 + number, randomblob(160), randomblob(130)
FROM numbers
"""
# Inserted in key order, or a million rows would take minutes. As many entries per item as real items have.
_ADD_POSTINGS = """
WITH RECURSIVE numbers (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM numbers WHERE number < 13)
INSERT INTO turn_memory_index (owner, token, at, id, keyword)
SELECT owner, random() AS token, at, id, number / 2
FROM turn_memories CROSS JOIN numbers
WHERE owner = :owner AND session_ref = :session_ref
ORDER BY token
"""


def checkpoint(file: Path) -> None:
    """Checkpoint the WAL, so that a search reads from the database file as it usually does."""
    connection = sqlite_file.connect(file, lock_seconds=30.0)
    connection.pragma("wal_checkpoint", "TRUNCATE")
    connection.close()


def fill(file: Path, owner: str, count: int) -> None:
    """Add `count` memories: some in other sessions of `owner`, the rest of other owners."""
    connection = sqlite_file.connect(file, lock_seconds=30.0)
    connection.pragma("synchronous", "off")
    for number, left in enumerate(range(count, 0, -_CHUNK)):
        scope = {
            "owner": owner if number < _OWN_CHUNKS else f"filler-{number}",
            "session_ref": f"filler-{number}",
            "count": min(left, _CHUNK),
        }
        connection.execute("BEGIN IMMEDIATE")
        for statement in (_ADD_OWNER, _ADD_MEMORIES, _ADD_POSTINGS):
            connection.execute(statement, scope)
        connection.execute("COMMIT")
    connection.close()
