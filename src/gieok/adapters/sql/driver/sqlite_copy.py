"""Long writes on SQLite, such as an import, without blocking other writers.

SQLite has one writer at a time. So the work runs on a copy of the owner's rows, in a temporary database that
has no name, and SQLite's session extension records its changes. A short transaction then applies the changes
to the real database, unless one of these rows was changed in the meantime. The copy shows as much as the
database itself: content in it is sealed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import apsw

from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.driver.database import Row, Session

T = TypeVar("T")

_TABLES = """
    SELECT name, sql, EXISTS (SELECT 1 FROM pragma_table_info(name, 'live') WHERE name = 'owner')
    FROM live.sqlite_schema WHERE type = 'table' AND sql IS NOT NULL
"""
_INDEXES = "SELECT sql FROM live.sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
_GUARD = "SELECT * FROM owners WHERE owner = :owner"


class ChangedMeanwhileError(Exception):
    """The owner's rows were changed after they were copied. Copy them again and repeat the work."""


class OwnerChanges:
    """The changes that some work has made on a copy of an owner's rows. Close it after use."""

    def __init__(self, owner: str, guard: list[Row], changeset: IO[bytes]) -> None:
        self._owner = owner
        self._guard = guard
        self._changeset = changeset

    def apply(self, session: Session) -> None:
        """Make the changes in an open transaction. ChangedMeanwhileError if they do not fit any more.

        The owner's guard row must be the same: it changes when the owner is erased or a key is rotated.
        """
        if session.fetch(_GUARD, {"owner": self._owner}) != self._guard:
            raise ChangedMeanwhileError
        self._changeset.seek(0)
        try:
            apsw.Changeset.apply(
                self._changeset.read, cast(Any, session).connection, conflict=_stop_at_conflict
            )
        except apsw.AbortError:
            raise ChangedMeanwhileError from None

    def close(self) -> None:
        self._changeset.close()


def run_on_copy(
    path: Path, owner: str, work: Callable[[sqlite_file.Connection], T]
) -> tuple[T, OwnerChanges]:
    """Run `work` in a transaction on a copy of the owner's rows. Its result, and its changes."""
    copy = sqlite_file.connect_temporary()
    try:
        guard = _copy_rows(path, owner, copy)
        recorder = apsw.Session(cast(Any, copy), "main")
        recorder.attach()
        copy.execute("BEGIN")
        result = work(copy)
        copy.execute("COMMIT")
        changeset = tempfile.TemporaryFile()  # noqa: SIM115 - closed by OwnerChanges
        recorder.changeset_stream(cast(Any, changeset.write))
        return result, OwnerChanges(owner, guard, changeset)
    finally:
        copy.close()


def _copy_rows(path: Path, owner: str, copy: sqlite_file.Connection) -> list[Row]:
    """Copy the schema, the owner's rows, and the tables without an owner. Returns the owner's guard row."""
    copy.pragma("foreign_keys", 0)  # tables are copied in any order
    copy.execute("ATTACH :path AS live", {"path": str(path)})
    copy.execute("BEGIN")
    for name, sql, has_owner in copy.execute(_TABLES).fetchall():
        copy.execute(sql)
        condition = "owner = :owner" if has_owner else ":owner IS NOT NULL"
        # The name comes from our own schema.
        copy.execute(
            f"INSERT INTO main.{name} SELECT * FROM live.{name} WHERE {condition}",  # noqa: S608
            {"owner": owner},
        )
    for (sql,) in copy.execute(_INDEXES).fetchall():
        copy.execute(sql)
    guard = copy.execute(_GUARD, {"owner": owner}).fetchall()
    copy.execute("COMMIT")
    copy.execute("DETACH live")
    copy.pragma("foreign_keys", 1)
    return guard


def _stop_at_conflict(_reason: int, _change: object) -> int:
    return apsw.SQLITE_CHANGESET_ABORT
