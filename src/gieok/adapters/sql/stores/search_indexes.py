"""By which analyzer an owner's search indexes were made, and how far they are made anew for another one."""

from __future__ import annotations

from gieok.adapters.sql.driver.database import Tx

START = b""


class SqlSearchIndexes:
    """The ledger of one owner's indexes inside one transaction. It holds positions, and no words."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def hold(self, name: str, analyzer: str) -> bytes | None:
        """Where to go on making an index anew, which nobody else does meanwhile. None where it is done."""
        self._tx.run("begin_search_index", name=name, analyzer=analyzer, position=START)
        row = self._tx.one("hold_search_index", name=name)
        assert row is not None  # noqa: S101  it was there or was added, and only an erasure removes it
        made_by, position = row
        return position if made_by == analyzer else START

    def move(self, name: str, analyzer: str, position: bytes | None) -> None:
        """Note how far it is; None is all of it."""
        self._tx.run("move_search_index", name=name, analyzer=analyzer, position=position)
