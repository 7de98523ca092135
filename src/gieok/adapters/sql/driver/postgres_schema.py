"""The schema `gieok` of a PostgreSQL database: made, recognised, migrated."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import psycopg

from gieok.adapters.sql.driver.database import Row
from gieok.adapters.sql.driver.migrations import CREATE_LEDGER, READ_LEDGER, Applied, Migration, pending
from gieok.errors import SchemaMismatch

_OPENERS = 0x6769656F
"""The advisory lock of those who migrate: 'gieo'."""

_WAIT_LONG = "SET LOCAL lock_timeout = '10min'; SET LOCAL statement_timeout = '10min'"
"""Another one's migration of a large table may take longer than any lock of daily work."""
_SCHEMA_EXISTS = "SELECT to_regnamespace('gieok') IS NOT NULL"
_LEDGER_EXISTS = "SELECT to_regclass('gieok.schema_migrations') IS NOT NULL"
_HAS_TABLES = "SELECT EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('gieok'))"
_WRITE_LEDGER = "INSERT INTO schema_migrations VALUES (%s, %s, %s, %s)"


def prepare(connection: psycopg.Connection[Row], known: Sequence[Migration], place: str) -> None:
    """Make the schema if it is not there, or recognise it, and bring it up to date.

    One transaction a migration. Openers wait for each other, and the later one finds the work done.
    """
    if not pending(known, read_ledger(connection), place):
        return
    with _alone(connection):
        for migration in pending(known, read_ledger(connection), place):
            with connection.transaction():
                if migration.version == 1:
                    _make(connection, place)
                _apply(connection, migration)


def read_ledger(connection: psycopg.Connection[Row]) -> list[Applied]:
    """The migrations that the database has had; none when it is new."""
    if not _is_true(connection, _LEDGER_EXISTS):
        return []
    return [Applied(*row) for row in connection.execute(READ_LEDGER.encode())]


@contextmanager
def _alone(connection: psycopg.Connection[Row]) -> Generator[None, None, None]:
    """Hold the lock from before a transaction begins: an earlier one might not see the other's tables."""
    with connection.transaction():  # for its settings only: the lock outlives it
        connection.execute(_WAIT_LONG)
        connection.execute("SELECT pg_advisory_lock(%s)", [_OPENERS])
    try:
        yield
    finally:
        if not connection.closed:
            connection.execute("SELECT pg_advisory_unlock(%s)", [_OPENERS])


def _make(connection: psycopg.Connection[Row], place: str) -> None:
    if not _is_true(connection, _SCHEMA_EXISTS):
        connection.execute("CREATE SCHEMA gieok")
    if _is_true(connection, _HAS_TABLES):
        raise SchemaMismatch(f"{place} has a schema gieok of another program; give Gieok another database")
    connection.execute(CREATE_LEDGER.encode())


def _apply(connection: psycopg.Connection[Row], migration: Migration) -> None:
    connection.execute("SET LOCAL statement_timeout = 0")  # a large table may take its time, once
    connection.execute(migration.sql.encode())
    now = datetime.now(UTC).isoformat(timespec="seconds")
    connection.execute(_WRITE_LEDGER, [migration.version, migration.name, migration.sha256, now])


def _is_true(connection: psycopg.Connection[Row], question: str) -> bool:
    return connection.execute(question.encode()).fetchall() == [(True,)]
