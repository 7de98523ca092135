"""Which analyzer made an owner's search indexes, and how far they are rebuilt for another analyzer."""

from __future__ import annotations

from gieok.adapters.sql.driver.database import Tx

START = b""


class SqlSearchIndexes:
    """The progress of one owner's indexes inside one transaction: positions, no content."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def lock(self, name: str, analyzer: str) -> bytes | None:
        """Lock the progress of an index. Returns where to continue, or None if the index is complete."""
        self._tx.run("begin_search_index", name=name, analyzer=analyzer, position=START)
        row = self._tx.one("lock_search_index", name=name)
        assert row is not None  # noqa: S101  it existed or was added, and only an erasure deletes it
        made_by, position = row
        return position if made_by == analyzer else START

    def move(self, name: str, analyzer: str, position: bytes | None) -> None:
        """Save the position up to which the index is rebuilt; None if it is complete."""
        self._tx.run("move_search_index", name=name, analyzer=analyzer, position=position)
