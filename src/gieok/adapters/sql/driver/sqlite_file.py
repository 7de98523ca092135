"""A SQLite file from its path to ready: made, recognised, backed up, migrated.

A file that is not Gieok's is never opened by SQLite, because even opening may change it: its header is read
as bytes first.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, cast

import apsw

from gieok.adapters.sql.driver.migrations import CREATE_LEDGER, READ_LEDGER, Applied, Migration, pending
from gieok.adapters.sql.driver.sqlite_errors import explain
from gieok.errors import SchemaMismatch, StoreDamaged, StoreUnavailable

APPLICATION_ID = 0x4769656F
"""'Gieo' in the header of every file of ours."""

_MAGIC = b"SQLite format 3\x00"
_LEDGER_EXISTS = "SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'"
_WRITE_LEDGER = "INSERT INTO schema_migrations VALUES (?, ?, ?, ?)"


class Cursor(Protocol):
    def fetchall(self) -> list[tuple[Any, ...]]: ...


class Backup(Protocol):
    def step(self) -> bool: ...


class Connection(Protocol):
    """What we use of apsw's connection, whose own types are not known whole to a type checker."""

    @property
    def filename(self) -> str: ...
    @property
    def in_transaction(self) -> bool: ...
    def execute(self, statements: str, bindings: object = None) -> Cursor: ...
    def executemany(self, statements: str, sequenceofbindings: object) -> Cursor: ...
    def pragma(self, name: str, value: int | str | None = None) -> Any: ...
    def changes(self) -> int: ...
    def set_busy_timeout(self, milliseconds: int) -> None: ...
    def backup(
        self, databasename: str, sourceconnection: Connection, sourcedatabasename: str
    ) -> AbstractContextManager[Backup]: ...
    def close(self) -> None: ...


def prepare(path: Path, known: Sequence[Migration], lock_seconds: float) -> None:
    """Make the file if it is not there, or recognise it, and bring its schema up to date."""
    make_file(path, str(path))
    _recognise(path)
    connection = connect(path, lock_seconds)
    try:
        if connection.pragma("application_id") != APPLICATION_ID:
            connection.pragma("application_id", APPLICATION_ID)
        _use_wal(connection, lock_seconds)
        _migrate(connection, path, known)
    finally:
        connection.close()


def connect(path: Path, lock_seconds: float, *, read_only: bool = False) -> Connection:
    """A connection with the settings that every one of ours has."""
    connection = _open(path)
    connection.set_busy_timeout(int(lock_seconds * 1000))
    connection.pragma("synchronous", "full")
    connection.pragma("foreign_keys", 1)
    connection.pragma("trusted_schema", 0)
    connection.pragma("secure_delete", 1)  # an erasure leaves no tokens or refs in freed pages
    connection.pragma("temp_store", "memory")
    connection.pragma("query_only", int(read_only))
    return connection


def _open(path: Path) -> Connection:
    return cast(Connection, apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE))


def read_ledger(connection: Connection) -> list[Applied]:
    """The migrations that the file has had; none when it is new."""
    if not connection.execute(_LEDGER_EXISTS).fetchall():
        return []
    return [Applied(*row) for row in connection.execute(READ_LEDGER).fetchall()]


def is_there(path: Path) -> bool:
    """Whether a database of ours is at `path`. An empty file is none yet; a file of others is refused."""
    try:
        _recognise(path)
        return path.stat().st_size > 0
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StoreUnavailable(
            f"{path} cannot be read ({error.strerror}); let this user read and write the file and its folder"
        ) from None


def make_file(path: Path, what: str) -> None:
    """An empty file that only this user can read, unless there is a file already."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            with suppress(FileExistsError):  # another process was faster
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreUnavailable(
            f"{what} cannot be opened for writing ({error.strerror}); choose another path, or let this user "
            "read and write the file and its folder"
        ) from None


def read_header(path: Path) -> bytes:
    """The first bytes of a file, through SQLite's own file layer.

    To close a plain file would drop every lock that this process has on it, and another process could then
    take the database for abandoned.
    """
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        return file.xRead(100, 0)
    finally:
        file.xClose()


def check_regular(path: Path, what: str) -> None:
    """Refuse a folder or a device: SQLite would fail on it in words that help nobody."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise StoreUnavailable(f"{what} is not a regular file; choose the path of a file")


def _recognise(path: Path) -> None:
    check_regular(path, str(path))
    if path.stat().st_size == 0:
        return
    try:
        header = read_header(path)
    except apsw.Error as error:
        raise explain(error, str(path)) from None
    if not header.startswith(_MAGIC):
        raise StoreDamaged(f"{path} is not a SQLite database; move it away or choose another path")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise SchemaMismatch(f"{path} is a SQLite database of another program; choose another path")


def _use_wal(connection: Connection, lock_seconds: float) -> None:
    """Switch to WAL once. SQLite does not wait for its lock here when two openers meet, so we do."""
    deadline = time.monotonic() + lock_seconds
    while True:
        try:
            mode = connection.pragma("journal_mode", "wal")
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            if mode != "wal":
                raise StoreUnavailable(
                    f"{connection.filename} cannot use a write-ahead log; put it on a local disk"
                )
            return


def _migrate(connection: Connection, path: Path, known: Sequence[Migration]) -> None:
    """One transaction a migration, the ledger read again under the write lock: openers do not collide."""
    unsaved = bool(read_ledger(connection))
    while pending(known, read_ledger(connection), str(path)):
        connection.execute("BEGIN IMMEDIATE")
        try:
            ledger = read_ledger(connection)
            if to_do := pending(known, ledger, str(path)):
                if unsaved:
                    _back_up(path, version=ledger[-1].version)
                    unsaved = False
                _apply(connection, to_do[0])
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _apply(connection: Connection, migration: Migration) -> None:
    connection.execute(CREATE_LEDGER)
    connection.execute(migration.sql).fetchall()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    connection.execute(_WRITE_LEDGER, (migration.version, migration.name, migration.sha256, now))


def _back_up(path: Path, version: int) -> None:
    """Copy the file as it is before the migration. The write lock is held, so no one changes it meanwhile."""
    copy = path.with_name(f"{path.name}.backup-v{version}-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}")
    os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    source, target = _open(path), _open(copy)
    try:
        with target.backup("main", source, "main") as backup:
            backup.step()
    except BaseException:
        copy.unlink()
        raise
    finally:
        target.close()
        source.close()
