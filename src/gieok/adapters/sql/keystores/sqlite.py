"""The keystore in a SQLite file of its own.

Destroyed keys leave no trace: `secure_delete` overwrites deleted rows; the rollback journal, unlike a
write-ahead log, is deleted with each commit; and an erasure or a new root key rewrites the whole file.
Several processes may share the file.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import apsw

from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.driver.sqlite import SqliteSession
from gieok.adapters.sql.driver.sqlite_file import translate_error
from gieok.adapters.sql.keystores.operations import KeyTx, SqlKeyStore, keystore_schema
from gieok.errors import SchemaMismatch, StoreDamaged, StoreUnavailable

SCHEMA_VERSION = 1
_APPLICATION_ID = 0x47694B79  # 'GiKy' in the file header: tells a keystore from the database beside it
_MAGIC = b"SQLite format 3\x00"


class SqliteKeyStore(SqlKeyStore):
    """Wrapped keys in the file `path`, which is created with mode 0600 if it does not exist."""

    def __init__(self, path: Path, lock_seconds: float = 10.0) -> None:
        """`lock_seconds`: how long to wait for another process, for example while it rotates the root key."""
        super().__init__(str(path))
        self._lock = Lock()
        sqlite_file.create_file(path, f"the keystore {path}")
        _check_header(path)
        self._file = sqlite_file.OpenedFile(path)
        with self._explained():
            self._connection = sqlite_file.connect(path, lock_seconds)
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @contextmanager
    def _reading(self) -> Generator[KeyTx]:
        with self._transaction("BEGIN") as session:
            yield KeyTx(session)

    @contextmanager
    def _writing(self, *, exclusive: bool = False) -> Generator[KeyTx]:
        # SQLite allows one writer at a time, so every write transaction is exclusive.
        with self._transaction("BEGIN IMMEDIATE") as session:
            yield KeyTx(session)

    def _scrub(self) -> None:
        # When SQLite moves rows between pages, a copy may stay behind that `secure_delete` does not
        # overwrite. Only rewriting the file removes it. It takes 0.1 s for 10,000 owners.
        with self._lock, self._explained():
            SqliteSession(self._connection).control("VACUUM")

    def _prepare(self) -> None:
        with self._transaction("BEGIN") as session:
            is_new = _schema_version(session) == 0
        with self._lock, self._explained():
            SqliteSession(self._connection).control("PRAGMA journal_mode = DELETE")
        if is_new:
            with self._transaction("BEGIN IMMEDIATE") as session:
                if _schema_version(session) == 0:
                    session.control(keystore_schema("sqlite"))
                    session.control(f"PRAGMA application_id = {_APPLICATION_ID}")
                    session.control(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @contextmanager
    def _transaction(self, begin: str) -> Generator[SqliteSession]:
        with self._lock, self._explained():
            session = SqliteSession(self._connection)
            try:
                self._file.check()
                session.begin(begin)
                yield session
                session.control("COMMIT")
            except BaseException:
                session.roll_back()
                raise

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except apsw.Error as error:
            raise translate_error(error, f"the keystore {self.location}") from None


def keystore_file_exists(path: Path) -> bool:
    """Whether there is a keystore at `path`. An empty file does not count: it has no tables yet."""
    try:
        sqlite_file.check_regular(path, f"the keystore {path}")
        return path.stat().st_size > 0
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StoreUnavailable(
            f"the keystore {path} cannot be read ({error.strerror}); give this user read and write access "
            "to the file and its folder"
        ) from None


def _check_header(path: Path) -> None:
    """Check by its header that the file is a keystore. Opening a foreign file as a database might change
    it."""
    sqlite_file.check_regular(path, f"the keystore {path}")
    if path.stat().st_size == 0:
        return
    try:
        header = sqlite_file.read_header(path)
    except apsw.Error as error:
        raise translate_error(error, f"the keystore {path}") from None
    if path.stat().st_size == 0:  # rolled back to nothing
        return
    if not header.startswith(_MAGIC) or int.from_bytes(header[68:72], "big") != _APPLICATION_ID:
        raise StoreDamaged(
            f"{path} is not a Gieok keystore, or it is damaged; restore the keystore, or choose another path"
        )
    version = int.from_bytes(header[60:64], "big")
    if version != SCHEMA_VERSION:
        raise SchemaMismatch(
            f"the keystore {path} has schema {version}, but this Gieok supports schema {SCHEMA_VERSION}; "
            "use the version of Gieok that created it"
        )


def _schema_version(session: SqliteSession) -> int:
    return session.fetch("PRAGMA user_version", {})[0][0]
