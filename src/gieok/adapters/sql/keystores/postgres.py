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

from gieok.adapters.sql.driver.database import DEFAULT_LIMITS, Limits
from gieok.adapters.sql.driver.postgres.errors import translate_error
from gieok.adapters.sql.driver.postgres.session import TO_READ, TO_WRITE, PostgresSession, parse_url
from gieok.adapters.sql.keystores.operations import KeyTx, SqlKeyStore, keystore_schema
from gieok.errors import SchemaMismatch, SettingsInvalid

SCHEMA_VERSION = 1
_LOCK = 0x47694B79  # 'GiKy': the advisory lock of writers, shared unless a transaction is exclusive

_SHARED = f"SELECT pg_advisory_xact_lock_shared({_LOCK})"
_EXCLUSIVE = f"SELECT pg_advisory_xact_lock({_LOCK})"
# Queries the catalogue tables: after waiting for a lock, `to_regclass` may answer from a stale cache.
_EXISTS = (
    "SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace "
    "WHERE nspname = 'gieok_keys' AND relname = 'keystore_schema'"
)


_SHARED_POOL = (
    "the keystore would share the server connections of a connection pooler with the database, and a "
    "transaction that holds one could wait for ever for another; set GIEOK_KEYSTORE_URL to the PostgreSQL "
    "server itself, or to a second entry of the pooler for the same database"
)


class PostgresKeyStore(SqlKeyStore):
    """Wrapped keys in PostgreSQL. Reconnects when the next operation begins."""

    def __init__(self, url: str, limits: Limits = DEFAULT_LIMITS, *, beside: str | None = None) -> None:
        """`beside` as in `open_keystore`."""
        super().__init__(_location(url))
        self._lock = Lock()
        self._session = PostgresSession(url, limits, schema="gieok_keys")
        try:
            self._prepare()
            if beside is not None:
                self._check_pool(url, beside)
        except BaseException:
            self._session.close()
            raise

    def close(self) -> None:
        with self._lock:
            self._session.close()

    @contextmanager
    def _reading(self) -> Generator[KeyTx]:
        with self._transaction(TO_READ):
            yield KeyTx(self._session)

    @contextmanager
    def _writing(self, *, exclusive: bool = False) -> Generator[KeyTx]:
        with self._transaction(TO_WRITE, _EXCLUSIVE if exclusive else _SHARED):
            yield KeyTx(self._session)

    def _scrub(self) -> None:
        """Does nothing: PostgreSQL decides when to vacuum. See the module's docstring for what to do."""

    def _prepare(self) -> None:
        with self._transaction(TO_READ):
            version = self._schema_version()
        if version is None:
            with self._transaction(TO_WRITE, _EXCLUSIVE):
                version = self._schema_version()
                if version is None:
                    self._session.connection.execute(keystore_schema("postgres").encode())
                    version = SCHEMA_VERSION
        if version != SCHEMA_VERSION:
            raise SchemaMismatch(
                f"the keystore {self.location} has schema {version}, but this Gieok supports schema "
                f"{SCHEMA_VERSION}; use the version of Gieok that created it"
            )

    def _check_pool(self, url: str, database_url: str) -> None:
        if self._session.is_pooled and _pool(url) == _pool(database_url):
            raise SettingsInvalid(_SHARED_POOL)

    def _schema_version(self) -> int | None:
        """None if there is no keystore yet."""
        if not self._session.fetch(_EXISTS, {}):
            return None
        return self._session.fetch("SELECT version FROM gieok_keys.keystore_schema", {})[0][0]

    @contextmanager
    def _transaction(self, start: str, lock: str | None = None) -> Generator[None]:
        with self._lock:
            try:
                with self._session.transaction(start) as connection:
                    if lock is not None:
                        connection.execute(lock.encode())
                    yield
            except psycopg.Error as error:
                raise translate_error(error, f"the keystore {self.location}") from None


def keystore_exists(url: str, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Whether there is a keystore at `url`. Creates nothing."""
    location = _location(url)
    session = PostgresSession(url, limits, schema="gieok_keys")
    try:
        return bool(session.connection.execute(_EXISTS.encode()).fetchall())
    except psycopg.Error as error:
        raise translate_error(error, f"the keystore {location}") from None
    finally:
        session.close()


def _pool(url: str) -> tuple[object, ...]:
    """What a pooler has one pool of server connections for."""
    parts = parse_url(url, "keystore URL")
    return tuple(parts.get(name) for name in ("host", "port", "dbname", "user"))


def _location(url: str) -> str:
    """Without the password."""
    parts = parse_url(url, "keystore URL")
    return f"gieok_keys in {parts.get('dbname', 'postgres')} on {parts.get('host', 'localhost')}"
