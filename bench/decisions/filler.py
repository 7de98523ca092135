"""The rest of a team's decisions: rows of the usual size in the real tables, which nobody will open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from uuid import UUID

from gieok.adapters.sql.driver import sqlite_file

_DOMAINS = 500
_WORDS = 8
_MONDAY = 1_767_600_000_000_000
_DEPENDS_ON = 1

_ADD_VERSION = """
INSERT INTO chain_versions (owner, kind, root_id, version, id, form, content, created_at)
VALUES (?, 'decision', ?, ?, randomblob(16), 1, randomblob(420), ?)
"""
_MOVE_CHAIN = """
INSERT OR REPLACE INTO chain_heads (owner, kind, root_id, latest, active) VALUES (?, 'decision', ?, ?, ?)
"""
_MOVE_HEAD = """
INSERT OR REPLACE INTO decision_heads (owner, root_id, version, domain_token, strength, created_at)
VALUES (?, ?, ?, ?, ?, ?)
"""
_ADD_POSTING = "INSERT INTO decision_index (owner, token, root_id) VALUES (?, ?, ?)"
_ADD_RELATION = """
INSERT OR IGNORE INTO decision_relations (owner, id, source, type, target) VALUES (?, randomblob(16), ?, ?, ?)
"""
_ADD_IMPACT = """
INSERT OR IGNORE INTO decision_impacts (owner, origin, affected, type, from_source) VALUES (?, ?, ?, ?, 0)
"""


class Filler:
    """Adds decisions of one owner in other domains, version by version, and the graph between them."""

    def __init__(self, file: Path, owner: str, count: int) -> None:
        self._random = Random(7)
        self._owner = owner
        self._roots = sorted(self._random.randbytes(16) for _ in range(count))
        self._connection = sqlite_file.connect(file, lock_seconds=30.0)
        self._connection.pragma("synchronous", "off")
        self._connection.pragma("foreign_keys", 0)

    def append(self, version: int) -> None:
        """The next version of every decision. The order of the keys keeps a million of them quick."""
        owner, at = self._owner, _MONDAY + version
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(_ADD_VERSION, ((owner, root, version, at) for root in self._roots))
        self._connection.executemany(_MOVE_CHAIN, ((owner, root, version, version) for root in self._roots))
        self._connection.executemany(_MOVE_HEAD, self._heads(version, at))
        if version == 1:
            self._connection.executemany(_ADD_POSTING, sorted(self._postings()))
        self._connection.execute("COMMIT")

    def join(self, origin: UUID, reached: int, edges: int, edges_elsewhere: int) -> None:
        """Relate `reached` of the decisions so that a change of the origin reaches each of them and no other.

        The rest of the graph has `edges_elsewhere` relations, among the other decisions.
        """
        shuffled = self._random.sample(self._roots, len(self._roots))
        near, elsewhere = shuffled[:reached], shuffled[reached:]
        self._connection.execute("BEGIN IMMEDIATE")
        self._relate(
            sorted([*self._reaching(origin.bytes, near, edges), *self._pairs(elsewhere, edges_elsewhere)])
        )
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Let SQLite look at the tables, as it does in a service that runs, and let go of the file."""
        self._connection.execute("ANALYZE")
        self._connection.pragma("wal_checkpoint", "TRUNCATE")
        self._connection.close()

    def _heads(self, version: int, at: int) -> Iterator[tuple[str, bytes, int, int, int, int]]:
        for number, root in enumerate(self._roots):
            yield self._owner, root, version, 2 + number % _DOMAINS, 1 + number % 3, at

    def _postings(self) -> Iterator[tuple[str, int, bytes]]:
        for root in self._roots:
            for _ in range(_WORDS):
                yield self._owner, self._random.getrandbits(63), root

    def _reaching(self, origin: bytes, near: list[bytes], edges: int) -> Iterator[tuple[bytes, bytes]]:
        """A tree, so that everything is reached, and more relations across it, with cycles among them."""
        all_of_them = [origin, *near]
        for number, affected in enumerate(near):
            yield all_of_them[number // 3], affected
        yield from self._pairs(all_of_them, edges - len(near))

    def _pairs(self, roots: list[bytes], count: int) -> Iterator[tuple[bytes, bytes]]:
        for _ in range(count):
            one, other = self._random.choice(roots), self._random.choice(roots)
            if one != other:
                yield one, other

    def _relate(self, pairs: list[tuple[bytes, bytes]]) -> None:
        owner = self._owner
        self._connection.executemany(
            _ADD_IMPACT, ((owner, origin, affected, _DEPENDS_ON) for origin, affected in pairs)
        )
        self._connection.executemany(
            _ADD_RELATION, ((owner, affected, _DEPENDS_ON, origin) for origin, affected in pairs)
        )
