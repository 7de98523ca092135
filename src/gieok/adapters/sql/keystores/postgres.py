"""The keystore in the schema `gieok_keys` of a PostgreSQL database.

PostgreSQL keeps a deleted row in its files until it vacuums, and in its write-ahead log and backups for
longer. What remains there is a key wrapped by the root key: after an erasure, rotate the root key to make it
useless.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

import psycopg

from gieok.adapters.sql.driver.database import DEFAULT_LIMITS, Limits, Row
from gieok.adapters.sql.driver.postgres import PostgresSession, parse_url, translate_error
from gieok.adapters.sql.keystores.operations import KeyTx, SqlKeyStore, keystore_schema
from gieok.errors import SchemaMismatch

SCHEMA_VERSION = 1
_LOCK = 0x47694B79  # 'GiKy': the advisory lock of writers, shared unless a transaction is exclusive

_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = gieok_keys"
_WRITING = (
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL search_path = gieok_keys; "
    f"SELECT pg_advisory_xact_lock_shared({_LOCK})"
)
_EXCLUSIVE = _WRITING.replace("_shared", "")
# Queries the catalogue tables: after waiting for a lock, `to_regclass` may answer from a stale cache.
_EXISTS = (
    "SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace "
    "WHERE nspname = 'gieok_keys' AND relname = 'keystore_schema'"
)


class PostgresKeyStore(SqlKeyStore):
    """Wrapped keys in PostgreSQL. Reconnects when the next operation begins."""

    def __init__(self, url: str, limits: Limits = DEFAULT_LIMITS) -> None:
        super().__init__(_location(url))
        self._lock = Lock()
        self._session = PostgresSession(url, limits)
        try:
            self._prepare()
        except BaseException:
            self._session.close()
            raise

    def close(self) -> None:
        with self._lock:
            self._session.close()

    @contextmanager
    def _reading(self) -> Generator[KeyTx]:
        with self._transaction(_READING):
            yield KeyTx(self._session)

    @contextmanager
    def _writing(self, *, exclusive: bool = False) -> Generator[KeyTx]:
        with self._transaction(_EXCLUSIVE if exclusive else _WRITING):
            yield KeyTx(self._session)

    def _scrub(self) -> None:
        """Does nothing: PostgreSQL decides when to vacuum. See the module's docstring for what to do."""

    def _prepare(self) -> None:
        with self._transaction(_READING):
            version = self._schema_version()
        if version is None:
            with self._transaction(_EXCLUSIVE):
                version = self._schema_version()
                if version is None:
                    self._session.connection.execute(keystore_schema("postgres").encode())
                    version = SCHEMA_VERSION
        if version != SCHEMA_VERSION:
            raise SchemaMismatch(
                f"the keystore {self.location} has schema {version}, but this Gieok supports schema "
                f"{SCHEMA_VERSION}; use the version of Gieok that created it"
            )

    def _schema_version(self) -> int | None:
        """None if there is no keystore yet."""
        if not self._session.fetch(_EXISTS, {}):
            return None
        return self._session.fetch("SELECT version FROM gieok_keys.keystore_schema", {})[0][0]

    @contextmanager
    def _transaction(self, begin: str) -> Generator[None]:
        with self._lock:
            try:
                connection = self._session.connection
                try:
                    self._begin(begin, connection)
                    yield
                    self._session.commit()
                except BaseException:
                    self._session.roll_back()
                    raise
            except psycopg.Error as error:
                raise translate_error(error, f"the keystore {self.location}") from None

    def _begin(self, begin: str, connection: psycopg.Connection[Row]) -> None:
        """Begin, reconnecting if the connection was lost while idle: no statement has run yet."""
        try:
            connection.execute(begin.encode())
        except psycopg.Error:
            if not connection.closed:
                raise
            self._session.connection.execute(begin.encode())


def keystore_exists(url: str, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Whether there is a keystore at `url`. Creates nothing."""
    location = _location(url)
    session = PostgresSession(url, limits)
    try:
        return bool(session.connection.execute(_EXISTS.encode()).fetchall())
    except psycopg.Error as error:
        raise translate_error(error, f"the keystore {location}") from None
    finally:
        session.close()


def _location(url: str) -> str:
    """Without the password."""
    parts = parse_url(url, "keystore URL")
    return f"gieok_keys in {parts.get('dbname', 'postgres')} on {parts.get('host', 'localhost')}"
