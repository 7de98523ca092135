"""Search indexes in memory: read from the packed terms of the rows, cached, and kept up to date by revision.

A scope is what a search looks through: the memories of a persona, the turn memories of a session, the
decisions of a domain. Every change of a row raises the scope's revision and stores it with the row. A search
reads the revision in its own transaction, and then only the rows that changed since the index was made, so
that all processes agree.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple
from uuid import UUID

from gieok.adapters.sql.cache import UNCACHED, OwnerCache
from gieok.adapters.sql.driver.database import Row, Tx
from gieok.errors import StoreDamaged
from gieok.ranking import EMPTY_INDEX, Damaged, IndexRow, SearchIndex

INLINE_ROWS = 500
"""More rows than this are not read on the event loop's thread."""
_BEFORE_ALL = -1


class IndexEntry(NamedTuple):
    """What the index columns of a row say, compared with what they should."""

    row: str
    before: bytes
    """The position before the row."""
    position: bytes
    """The position of the row: `reindex` returns it after it has written these columns again."""
    is_right: bool


ScopeKind = Literal["turns", "decisions", "documents"]


class TooManyRows(Exception):
    """The index must be read first, which takes too long for the event loop's thread. `OwnerScope.read`
    catches this and runs the work again on a database thread."""


class Revision(NamedTuple):
    """The revision of a scope, the one at which a row was deleted last, and the number of rows."""

    current: int
    removed: int
    rows: int


@dataclass(frozen=True, slots=True)
class _Cached:
    revision: Revision
    index: SearchIndex


class IndexCache:
    """The indexes of one owner for one transaction."""

    def __init__(self, cache: OwnerCache, *, is_reading: bool, is_inline: bool) -> None:
        """`is_reading` marks a transaction that sees only committed data, so that its indexes may be cached.
        `is_inline` marks one that runs on the event loop's thread."""
        self._cache = cache
        self._is_reading = is_reading
        self._is_inline = is_inline

    def get(
        self, key: Hashable, revision: Revision, rows_after: Callable[[int], Sequence[Row]]
    ) -> SearchIndex:
        """The index of a scope at this revision. `rows_after` reads the rows that were changed after a
        revision, as the columns of an `IndexRow`.

        StoreDamaged if the terms of a row are damaged, or if a row is missing.
        """
        cached: _Cached | None = self._cache.get(key)
        if cached is not None and cached.revision == revision:
            return cached.index
        # Not the base for an older snapshot, nor where a row is gone that nothing tells of.
        if cached is not None and revision.removed <= cached.revision.current <= revision.current:
            after, base = cached.revision.current, cached.index
        else:
            after, base = _BEFORE_ALL, EMPTY_INDEX
            if self._is_inline and revision.rows > INLINE_ROWS:
                raise TooManyRows
        try:
            index = base.with_changes([IndexRow(*row) for row in rows_after(after)])
        except Damaged as damaged:
            raise StoreDamaged(
                f"the search terms of row {UUID(bytes=damaged.row_id)} are damaged; restore a backup"
            ) from None
        if len(index) != revision.rows:
            raise StoreDamaged(
                f"a search index should have {revision.rows} rows and has {len(index)}; restore a backup"
            )
        if self._is_reading and (cached is None or cached.revision.current <= revision.current):
            self._cache.put(key, _Cached(revision, index), index.bytes)
        return index


UNCACHED_INDEXES = IndexCache(UNCACHED.indexes, is_reading=False, is_inline=False)
"""Caches nothing."""


def scope_revision(tx: Tx, kind: ScopeKind, scope: str) -> Revision | None:
    """The revision of a scope; None if it never had a row."""
    row = tx.one("get_search_scope", kind=kind, scope=scope)
    return Revision(*row) if row else None


def change_scope(tx: Tx, kind: ScopeKind, scope: str, *, added: int = 0) -> int:
    """Raise the revision of a scope and return it. Locks the scope until the transaction ends.

    `added` is the number of new rows, negative for removed ones.
    """
    row = tx.one("change_search_scope", kind=kind, scope=scope, added=added)
    assert row is not None  # noqa: S101  the statement adds or updates one row
    return row[0]
