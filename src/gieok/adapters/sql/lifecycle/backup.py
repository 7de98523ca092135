"""Consistent copy of a SQLite database and its keystore while other processes use both.

The keystore is locked while the database snapshot begins: no key is created or destroyed in between, so the
copied keys open exactly the copied rows. The copying itself blocks nobody.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol, cast

import apsw

from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.driver.sqlite_file import translate_error

LOCK_SECONDS = 10.0
PAGES_AT_ONCE = 256

Report = Callable[[int, int], None]
"""Called with the number of copied pages and the number of all pages."""


class _Copying(Protocol):
    @property
    def remaining(self) -> int: ...
    @property
    def page_count(self) -> int: ...
    def step(self, npages: int) -> bool: ...


class Pair(NamedTuple):
    """A database and its keystore."""

    database: Path
    keystore: Path


def copy_both(source: Pair, target: Pair, report: Report) -> None:
    """Copy both files to new paths. StoreUnavailable if one cannot be read."""
    database, keystore = source
    with _explained(database), closing(sqlite_file.connect(database, LOCK_SECONDS, read_only=True)) as data:
        with closing(sqlite_file.connect(keystore, LOCK_SECONDS)) as keys:
            keys.execute("BEGIN IMMEDIATE")
            data.execute("BEGIN")
            data.execute("SELECT count(*) FROM schema_migrations").fetchall()  # the snapshot begins here
            copy_file(keystore, target.keystore)
            keys.execute("ROLLBACK")
        _copy(data, target.database, report)


def copy_file(source: Path, target: Path) -> None:
    """Copy one SQLite file, even while other processes use it."""
    with _explained(source), closing(sqlite_file.connect(source, LOCK_SECONDS, read_only=True)) as connection:
        _copy(connection, target, lambda _done, _all: None)


def copy_immutable(source: Path, target: Path) -> None:
    """Copy one SQLite file that nobody changes, such as a backup, perhaps on a read-only disk."""
    with _explained(source), closing(open_immutable(source)) as connection:
        _copy(connection, target, lambda _done, _all: None)


def check_file(path: Path) -> bool:
    """Whether a file is an intact SQLite database. Creates no lock and no log file."""
    try:
        with closing(open_immutable(path)) as connection:
            return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    except apsw.Error:
        return False


def open_immutable(path: Path) -> sqlite_file.Connection:
    """Open a file that nobody changes, so that SQLite creates no file beside it either."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return cast("sqlite_file.Connection", apsw.Connection(f"{path.absolute().as_uri()}?immutable=1", flags))


def _copy(source: sqlite_file.Connection, path: Path, report: Report) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    with closing(cast("sqlite_file.Connection", connection)) as target:
        backup = cast("AbstractContextManager[_Copying]", target.backup("main", source, "main"))
        with backup as copying:
            is_done = False
            while not is_done:
                is_done = copying.step(PAGES_AT_ONCE)
                report(copying.page_count - copying.remaining, copying.page_count)
        target.pragma("journal_mode", "delete")  # a single file without a WAL file


@contextmanager
def _explained(path: Path) -> Generator[None]:
    try:
        yield
    except apsw.Error as error:
        raise translate_error(error, str(path)) from None
