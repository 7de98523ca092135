"""Long writes on SQLite, such as an import, without blocking other writers.

SQLite has one writer at a time. So the work runs on a copy of the owner's rows, in a temporary database that
has no name, and SQLite's session extension records its changes. They are applied to the real database
afterwards, see `sqlite_staging`. The copy shows as much as the database itself: content in it is sealed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from graphlib import TopologicalSorter
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import apsw

from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.driver.database import Row

T = TypeVar("T")

PART_BYTES = 256 * 1024
"""Size of a part, about. Other writers wait for one part at a time."""
GUARD = "SELECT * FROM owners WHERE owner = :owner"
"""The owner's guard row. It changes when the owner is erased or a key is rotated."""
HELD = """
    SELECT id, state, parts, applied FROM staged_commits
    WHERE owner = :owner AND state IN ('applying', 'undoing')
"""
"""The commit that is being applied in parts, if any: until it is finished, nobody uses the owner's rows."""

_TABLES = """
    SELECT name, sql, EXISTS (SELECT 1 FROM pragma_table_info(name, 'live') WHERE name = 'owner')
    FROM live.sqlite_schema WHERE type = 'table' AND sql IS NOT NULL AND name NOT LIKE 'staged!_%' ESCAPE '!'
"""
_INDEXES = """
    SELECT sql FROM live.sqlite_schema
    WHERE type = 'index' AND sql IS NOT NULL AND tbl_name NOT LIKE 'staged!_%' ESCAPE '!'
"""
_REFERENCES = """
    SELECT tables.name, keys."table"
    FROM sqlite_schema AS tables LEFT JOIN pragma_foreign_key_list(tables.name) AS keys
    WHERE tables.type = 'table' AND tables.sql IS NOT NULL
"""


class UnfinishedCommitError(Exception):
    """A commit of this owner is being applied. Finish it, then try again."""


class OwnerChanges:
    """The changes that some work has made on a copy of an owner's rows. Close it after use."""

    def __init__(self, guard: list[Row], changesets: Mapping[str, IO[bytes]], files: ExitStack) -> None:
        """`changesets` has one of each table, referenced tables first."""
        self.guard = guard
        self._changesets = changesets
        self._files = files

    def parts(self) -> Iterator[bytes]:
        """Changesets that can be applied one after the other, at least one.

        In an order that foreign keys and unique keys allow: deletes, the referencing rows first; then updates
        and inserts, the referenced rows first.
        """
        tables = tuple(self._changesets)
        return _packed(
            change
            for names, operation in ((reversed(tables), "DELETE"), (tables, ""))
            for name in names
            for wanted in ((operation,) if operation else ("UPDATE", "INSERT"))
            for change in self._changes(name)
            if change.op == wanted
        )

    def close(self) -> None:
        self._files.close()

    def _changes(self, table: str) -> Iterator[apsw.TableChange]:
        changeset = self._changesets[table]
        changeset.seek(0)
        yield from apsw.Changeset.iter(changeset.read)


def _packed(changes: Iterable[apsw.TableChange]) -> Iterator[bytes]:
    part, size, is_first = apsw.ChangesetBuilder(), 0, True
    for change in changes:
        part.add_change(change)
        size += sum(_size(value) for value in (*(change.new or ()), *(change.old or ())))
        if size >= PART_BYTES:
            yield part.output()
            part.close()
            part, size, is_first = apsw.ChangesetBuilder(), 0, False
    if size or is_first:
        yield part.output()
    part.close()


def _size(value: object) -> int:
    return len(value) if isinstance(value, str | bytes) else 8


def run_on_copy(
    path: Path, owner: str, work: Callable[[sqlite_file.Connection], T]
) -> tuple[T, OwnerChanges]:
    """Run `work` in a transaction on a copy of the owner's rows. Its result, and its changes."""
    copy = sqlite_file.connect_temporary()
    try:
        guard = _copy_rows(path, owner, copy)
        recorders = {table: apsw.Session(cast(Any, copy), "main") for table in _referenced_first(copy)}
        for table, recorder in recorders.items():
            recorder.attach(table)
        copy.execute("BEGIN")
        result = work(copy)
        copy.execute("COMMIT")
        files = ExitStack()
        changesets: dict[str, IO[bytes]] = {}
        for table, recorder in recorders.items():
            if not recorder.is_empty:
                changesets[table] = files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - closed by OwnerChanges
                recorder.changeset_stream(cast(Any, changesets[table].write))
        return result, OwnerChanges(guard, changesets, files)
    finally:
        copy.close()


def _copy_rows(path: Path, owner: str, copy: sqlite_file.Connection) -> list[Row]:
    """Copy the schema, the owner's rows, and the tables without an owner. Returns the owner's guard row."""
    copy.pragma("foreign_keys", 0)  # tables are copied in any order
    copy.execute("ATTACH :path AS live", {"path": str(path)})
    copy.execute("BEGIN")
    if copy.execute(HELD, {"owner": owner}).fetchall():
        raise UnfinishedCommitError
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
    guard = copy.execute(GUARD, {"owner": owner}).fetchall()
    copy.execute("COMMIT")
    copy.execute("DETACH live")
    copy.pragma("foreign_keys", 1)
    return guard


def _referenced_first(copy: sqlite_file.Connection) -> list[str]:
    """All tables, each after those that its foreign keys refer to."""
    referenced: dict[str, set[str]] = {}
    for table, other in copy.execute(_REFERENCES).fetchall():
        referenced.setdefault(table, set()).update({other} - {None, table})
    return list(TopologicalSorter(referenced).static_order())
