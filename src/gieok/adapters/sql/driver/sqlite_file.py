"""SQLite files: creating, checking and migrating them, connections, and the mapping of apsw's errors.

A file of another program is never opened with SQLite, because even opening may change it: its header is read
as bytes first.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, cast

import apsw

from gieok.adapters.sql.driver.migrations import CREATE_LEDGER, READ_LEDGER, Applied, Migration, pending
from gieok.errors import Conflict, GieokError, SchemaMismatch, StoreDamaged, StoreUnavailable

APPLICATION_ID = 0x4769656F
"""'Gieo', in the header of every Gieok database."""

_MAGIC = b"SQLite format 3\x00"
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_RECOVERY_MILLISECONDS = 10_000
_LEDGER_EXISTS = "SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'"
_WRITE_LEDGER = "INSERT INTO schema_migrations VALUES (?, ?, ?, ?)"


class Cursor(Protocol):
    def fetchall(self) -> list[tuple[Any, ...]]: ...
    def close(self, force: bool = False) -> None: ...


class Backup(Protocol):
    def step(self) -> bool: ...


class Connection(Protocol):
    """The part of apsw's connection that Gieok uses. apsw's own types are incomplete."""

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
    """Create the file if it does not exist, check that it is a Gieok database, and migrate it."""
    create_file(path, str(path))
    _check_file(path)
    connection = connect(path, lock_seconds)
    try:
        if connection.pragma("application_id") != APPLICATION_ID:
            connection.pragma("application_id", APPLICATION_ID)
        _use_wal(connection, lock_seconds)
        _migrate(connection, path, known)
    finally:
        connection.close()


MAX_WAL_BYTES = 64 * 1024 * 1024
"""Size to which the write-ahead log is cut once its pages are in the database."""


def connect(path: Path, lock_seconds: float, *, read_only: bool = False) -> Connection:
    """Open a connection with the settings that all connections share."""
    return _configure(_open(path), lock_seconds, read_only=read_only)


def connect_temporary() -> Connection:
    """Open a new database in a temporary file without a name."""
    return _configure(cast(Connection, apsw.Connection("")), 0, read_only=False)


def _configure(connection: Connection, lock_seconds: float, *, read_only: bool) -> Connection:
    connection.set_busy_timeout(int(lock_seconds * 1000))
    connection.pragma("synchronous", "full")
    connection.pragma("foreign_keys", 1)
    connection.pragma("trusted_schema", 0)
    connection.pragma("secure_delete", 1)  # so that an erasure leaves nothing in freed pages
    connection.pragma("temp_store", "memory")
    connection.pragma("journal_size_limit", MAX_WAL_BYTES)
    connection.pragma("query_only", int(read_only))
    return connection


def _open(path: Path) -> Connection:
    return cast(Connection, apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE))


class OpenedFile:
    """An open file. If it is moved, replaced or removed, SQLite does not notice and keeps writing to the old
    file, where nobody will look for it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity = self._stat()

    def check(self) -> None:
        """StoreUnavailable if another file, or none, is at the path now."""
        if self._stat() != self._identity:
            raise StoreUnavailable(f"{self._path} was removed or replaced while it was open; restart Gieok")

    def _stat(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino


def read_ledger(connection: Connection) -> list[Applied]:
    """The migrations that were applied to the file; none for a new file."""
    if not connection.execute(_LEDGER_EXISTS).fetchall():
        return []
    return [Applied(*row) for row in connection.execute(READ_LEDGER).fetchall()]


def database_exists(path: Path) -> bool:
    """Whether a Gieok database is at `path`. False for an empty file; refuses a file of another program."""
    try:
        _check_file(path)
        return path.stat().st_size > 0
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StoreUnavailable(
            f"{path} cannot be read ({error.strerror}); give this user read and write access to the file and "
            "its folder"
        ) from None


def create_file(path: Path, what: str) -> None:
    """Create an empty file that only this user can read, unless the file exists."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            with suppress(FileExistsError):  # another process created it at the same moment
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreUnavailable(
            f"{what} cannot be opened for writing ({error.strerror}); choose another path, or give this user "
            "read and write access to the file and its folder"
        ) from None


def read_header(path: Path) -> bytes:
    """Read the first 100 bytes of a file, through SQLite's own file layer.

    Closing a file that was opened by other means drops every POSIX lock of this process on it. If the file is
    no database but has a rollback journal, SQLite rolls back the interrupted transaction first: a power cut
    while the file was created leaves it so.
    """
    header = _read_start(path, 100, apsw.SQLITE_OPEN_MAIN_DB)
    journal = path.with_name(f"{path.name}-journal")
    if header.startswith(_MAGIC) or not journal.exists():
        return header
    if not _read_start(journal, 8, apsw.SQLITE_OPEN_MAIN_JOURNAL).startswith(_JOURNAL_MAGIC):
        return header
    connection = _open(path)
    try:
        connection.set_busy_timeout(_RECOVERY_MILLISECONDS)
        connection.pragma("schema_version")
    except apsw.NotADBError:
        return header  # the journal is not of this file
    finally:
        connection.close()
    return _read_start(path, 100, apsw.SQLITE_OPEN_MAIN_DB)


def _read_start(path: Path, length: int, kind: int) -> bytes:
    file = apsw.VFSFile("", str(path), [kind | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        return file.xRead(length, 0)
    finally:
        file.xClose()


def check_regular(path: Path, what: str) -> None:
    """Refuse a folder or a device, with a clearer message than SQLite's."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise StoreUnavailable(f"{what} is not a regular file; choose the path of a file")


def _check_file(path: Path) -> None:
    check_regular(path, str(path))
    if path.stat().st_size == 0:
        return
    try:
        header = read_header(path)
    except apsw.Error as error:
        raise translate_error(error, str(path)) from None
    if path.stat().st_size == 0:  # rolled back to nothing
        return
    if not header.startswith(_MAGIC):
        raise StoreDamaged(f"{path} is not a SQLite database; move it away or choose another path")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise SchemaMismatch(f"{path} is a SQLite database of another program; choose another path")


def _use_wal(connection: Connection, lock_seconds: float) -> None:
    """Switch to WAL mode. SQLite does not wait for the lock of this pragma, so this retries."""
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
    """Apply each pending migration in its own transaction. The ledger is read again under the write lock,
    because another process may have migrated the file in between."""
    needs_backup = bool(read_ledger(connection))
    while pending(known, read_ledger(connection), str(path)):
        connection.execute("BEGIN IMMEDIATE")
        try:
            ledger = read_ledger(connection)
            if to_do := pending(known, ledger, str(path)):
                if needs_backup:
                    _back_up(path, version=ledger[-1].version)
                    needs_backup = False
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
    """Copy the file before its migration. The caller holds the write lock, so nothing changes it."""
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


_LOCKED = "another process holds the write lock of {place}; end it or wait for it, then try again"
_NO_ENTRY = (
    "{place} cannot be opened; check that its folder exists and that this user can read and write there"
)
_READ_ONLY = "{place} is read-only; give this user write access to the file and its folder"
_FULL = "the disk of {place} is full; free some space, then try again"
_DISK = "the disk of {place} reported an error; check the disk, its quota and its log, then try again"
_MEMORY = "there was not enough memory to use {place}; give the process more"
_CLOSED = "{place} was closed in the meantime; open it again"
_CORRUPT = "{place} is damaged; stop writing to it and restore the newest backup"
_NOT_A_DATABASE = "{place} is not a SQLite database; move it away or choose another path"

_UNAVAILABLE: Mapping[type[apsw.Error], str] = {
    apsw.BusyError: _LOCKED,
    apsw.LockedError: _LOCKED,
    apsw.ProtocolError: _LOCKED,
    apsw.CantOpenError: _NO_ENTRY,
    apsw.PermissionsError: _NO_ENTRY,
    apsw.AuthError: _NO_ENTRY,
    apsw.ReadOnlyError: _READ_ONLY,
    apsw.FullError: _FULL,
    apsw.NoLFSError: _FULL,
    apsw.IOError: _DISK,
    apsw.NoMemError: _MEMORY,
    apsw.AbortError: _CLOSED,
    apsw.InterruptError: _CLOSED,
    apsw.ConnectionClosedError: _CLOSED,
    apsw.CursorClosedError: _CLOSED,
    apsw.VFSFileClosedError: _CLOSED,
}

_DAMAGED: Mapping[type[apsw.Error], str] = {
    apsw.CorruptError: _CORRUPT,
    apsw.FormatError: _CORRUPT,
    apsw.EmptyError: _CORRUPT,
    apsw.MismatchError: _CORRUPT,
    apsw.NotADBError: _NOT_A_DATABASE,
}

_SAME_KEY = frozenset(
    (apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY, apsw.SQLITE_CONSTRAINT_ROWID)
)

INTERNAL_ERRORS = frozenset(
    (
        apsw.BindingsError,
        apsw.ConnectionNotClosedError,
        apsw.ExecTraceAbort,
        apsw.ExecutionCompleteError,
        apsw.ExtensionLoadingError,
        apsw.ForkingViolationError,
        apsw.IncompleteExecutionError,
        apsw.InternalError,
        apsw.InvalidContextError,
        apsw.MisuseError,
        apsw.NoFTS5Error,
        apsw.NotFoundError,
        apsw.RangeError,
        apsw.ThreadingViolationError,
        apsw.TooBigError,
        apsw.VFSNotImplementedError,
    )
)
"""Errors that only a bug in Gieok can cause."""


def translate_error(error: BaseException, place: str) -> BaseException:
    """Map an error of apsw to one of `gieok.errors`. Returns any other error unchanged."""
    if not isinstance(error, apsw.Error):
        return error
    kind = type(error)
    number = cast(int, getattr(error, "extendedresult", 0))
    code = f"SQLite {kind.__name__} {number}"
    if kind in _UNAVAILABLE:
        return StoreUnavailable(f"{_UNAVAILABLE[kind].format(place=place)} ({code})")
    if kind in _DAMAGED:
        return StoreDamaged(f"{_DAMAGED[kind].format(place=place)} ({code})")
    if kind is apsw.ConstraintError:
        return _translate_constraint_error(number, place, code)
    if kind in (apsw.SQLError, apsw.SchemaChangeError):
        return SchemaMismatch(
            f"the tables of {place} are not those of its schema version; restore the newest backup ({code})"
        )
    return GieokError(f"Gieok used SQLite wrongly on {place}; please report this ({code})")


def _translate_constraint_error(number: int, place: str, code: str) -> GieokError:
    if number in _SAME_KEY:
        return Conflict(
            f"a row with the same key was stored in {place} in the meantime; read it and try again ({code})"
        )
    return StoreDamaged(
        f"a row violates a constraint of {place}, so nothing was stored; please report this ({code})"
    )
