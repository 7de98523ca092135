"""The schema `gieok` in PostgreSQL: its ledger, its migrations, and the lock of those who migrate."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import psycopg

from gieok.adapters.sql.driver.database import Row
from gieok.adapters.sql.driver.migrations import CREATE_LEDGER, READ_LEDGER, Applied, Migration, pending
from gieok.adapters.sql.driver.postgres.session import TO_READ, TO_WRITE, PostgresSession
from gieok.errors import SchemaMismatch

_LOCK = "SELECT pg_advisory_xact_lock(%s)"
_MIGRATION_LOCK = 0x6769656F
"""The advisory lock that migrations take: 'gieo'."""
_LONG_TIMEOUTS = "SET LOCAL lock_timeout = '10min'; SET LOCAL statement_timeout = '10min'"
"""Another process may be migrating a large table."""
_NO_TIMEOUT = "SET LOCAL statement_timeout = 0"
"""Migrating a large table may take long."""
# Queries the catalogue tables: after waiting for a lock, `to_regclass` may answer from a stale cache.
_SCHEMA_EXISTS = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'gieok')"
_TABLE_EXISTS = """
SELECT EXISTS (
    SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = 'gieok' AND relname LIKE %s
)"""
_WRITE_LEDGER = "INSERT INTO schema_migrations VALUES (%s, %s, %s, %s)"


def prepare_schema(session: PostgresSession, known: Sequence[Migration], place: str) -> None:
    """Create the schema if it does not exist, check that it is Gieok's, and migrate it.

    Each migration has its own transaction. Processes that open the database at once wait for each other.
    """
    with session.transaction(TO_READ) as connection:
        to_do = pending(known, read_ledger(connection), place)
    while to_do:
        with session.transaction(TO_WRITE) as connection:
            connection.execute(_LONG_TIMEOUTS)
            connection.execute(_LOCK, [_MIGRATION_LOCK])
            connection.execute(session.settings.encode())
            to_do = pending(known, read_ledger(connection), place)
            if to_do:
                _apply(connection, to_do[0], place)


def read_ledger(connection: psycopg.Connection[Row]) -> list[Applied]:
    """The migrations that were applied to the database; none for a new one."""
    if not _is_true(connection, _TABLE_EXISTS, "schema_migrations"):
        return []
    return [Applied(*row) for row in connection.execute(READ_LEDGER.encode())]


def _apply(connection: psycopg.Connection[Row], migration: Migration, place: str) -> None:
    if migration.version == 1:
        _create_schema(connection, place)
    connection.execute(_NO_TIMEOUT)
    connection.execute(migration.sql.encode())
    now = datetime.now(UTC).isoformat(timespec="seconds")
    connection.execute(_WRITE_LEDGER, [migration.version, migration.name, migration.sha256, now])


def _create_schema(connection: psycopg.Connection[Row], place: str) -> None:
    if not _is_true(connection, _SCHEMA_EXISTS):
        connection.execute("CREATE SCHEMA gieok")
    if _is_true(connection, _TABLE_EXISTS, "%"):
        raise SchemaMismatch(f"{place} has a schema gieok of another program; give Gieok another database")
    connection.execute(CREATE_LEDGER.encode())


def _is_true(connection: psycopg.Connection[Row], query: str, *params: str) -> bool:
    return connection.execute(query.encode(), params or None).fetchall() == [(True,)]
