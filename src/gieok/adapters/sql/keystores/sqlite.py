"""The keystore in a SQLite file of its own.

Destroyed means gone: `secure_delete` overwrites what is deleted, the rollback journal, unlike a
write-ahead log, is removed with each commit, and an erasure or a new root key writes the whole file
anew. Several processes may share the file.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import apsw

from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.driver.sqlite import SqliteSession
from gieok.adapters.sql.driver.sqlite_errors import explain
from gieok.adapters.sql.keystores.operations import KeyTx, SqlKeyStore, keystore_schema
from gieok.errors import SchemaMismatch, StoreDamaged, StoreUnavailable

SCHEMA_VERSION = 1
_APPLICATION_ID = 0x47694B79  # 'GiKy' in the header: a keystore, and not the database beside it
_MAGIC = b"SQLite format 3\x00"


class SqliteKeyStore(SqlKeyStore):
    """Wrapped keys in the file `path`, which is made with mode 0600 if it is not there."""

    def __init__(self, path: Path, lock_seconds: float = 10.0) -> None:
        """`lock_seconds`: how long to wait for another process; rotating the root key may take it a while."""
        super().__init__(str(path))
        self._lock = Lock()
        sqlite_file.make_file(path, f"the keystore {path}")
        _recognise(path)
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
    def _writing(self, *, alone: bool = False) -> Generator[KeyTx]:
        # SQLite lets one writer in at a time, so each is alone.
        with self._transaction("BEGIN IMMEDIATE") as session:
            yield KeyTx(session)

    def _scrub(self) -> None:
        # When SQLite moves rows between pages, a copy may stay behind where `secure_delete` does not see it.
        # Only a new file is sure to have none. It takes 0.1 s for 10,000 owners.
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
            raise explain(error, f"the keystore {self.location}") from None


def keystore_file_exists(path: Path) -> bool:
    """Whether there is a keystore at `path`. An empty file is none yet; SQLite has made nothing in it."""
    try:
        sqlite_file.check_regular(path, f"the keystore {path}")
        return path.stat().st_size > 0
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StoreUnavailable(
            f"the keystore {path} cannot be read ({error.strerror}); let this user read and write the file "
            "and its folder"
        ) from None


def _recognise(path: Path) -> None:
    """Refuse a file that is not ours from its bytes alone: opening it as a database might change it."""
    sqlite_file.check_regular(path, f"the keystore {path}")
    if path.stat().st_size == 0:
        return
    try:
        header = sqlite_file.read_header(path)
    except apsw.Error as error:
        raise explain(error, f"the keystore {path}") from None
    if not header.startswith(_MAGIC) or int.from_bytes(header[68:72], "big") != _APPLICATION_ID:
        raise StoreDamaged(
            f"{path} is not a Gieok keystore, or no longer; restore the keystore, or choose another path"
        )
    version = int.from_bytes(header[60:64], "big")
    if version != SCHEMA_VERSION:
        raise SchemaMismatch(
            f"the keystore {path} has schema {version}, and this Gieok knows schema {SCHEMA_VERSION}; "
            "use the version of Gieok that made it"
        )


def _schema_version(session: SqliteSession) -> int:
    return session.fetch("PRAGMA user_version", {})[0][0]
