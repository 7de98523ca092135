"""The schema `gieok` in PostgreSQL: its ledger, its migrations and their lock, and partitions.

A new database may have its tables hash-partitioned by owner. The migrations are the same: each CREATE TABLE
with an owner is extended when it runs. Later migrations find out whether the database is partitioned.
"""

from __future__ import annotations

import re
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
_COUNT_PARTITIONS = """
SELECT count(*) FROM pg_inherits JOIN pg_class ON pg_class.oid = inhparent
WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'gieok') AND relname = 'owners'"""
_CREATE_TABLE = re.compile(r"^CREATE TABLE (\w+) \(\n(.*?)^\);", re.MULTILINE | re.DOTALL)
_OWNER_COLUMN = re.compile(r"^ +owner +text\b", re.MULTILINE)
NOT_PARTITIONED = frozenset({"tokens"})
"""A token is found by its hash, before it is known whose it is."""
_WRITE_LEDGER = "INSERT INTO schema_migrations VALUES (%s, %s, %s, %s)"


def prepare_schema(
    session: PostgresSession, known: Sequence[Migration], place: str, partitions: int = 0
) -> None:
    """Create the schema if it does not exist, check that it is Gieok's, and migrate it.

    The tables of a new database get so many `partitions`; 0 for none. Each migration has its own transaction.
    Processes that open the database at once wait for each other.
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
                is_new = to_do[0].version == 1
                _apply(connection, to_do[0], place, partitions if is_new else count_partitions(connection))


def read_ledger(connection: psycopg.Connection[Row]) -> list[Applied]:
    """The migrations that were applied to the database; none for a new one."""
    if not _is_true(connection, _TABLE_EXISTS, "schema_migrations"):
        return []
    return [Applied(*row) for row in connection.execute(READ_LEDGER.encode())]


def count_partitions(connection: psycopg.Connection[Row]) -> int:
    """How many partitions each table of one owner's rows has; 0 for none."""
    row = connection.execute(_COUNT_PARTITIONS).fetchone()
    return row[0] if row else 0


def partitioned(sql: str, partitions: int) -> str:
    """A migration whose new tables are partitioned by owner.

    Row-level security of a table does not hold where a partition is named directly, so each partition has its
    own, without any policy: nothing can be read or written there by name.
    """

    def extend(found: re.Match[str]) -> str:
        table, columns = found[1], found[2]
        if table in NOT_PARTITIONED or not _OWNER_COLUMN.search(columns):
            return found[0]
        parts = "".join(
            f"\nCREATE TABLE {table}_p{number} PARTITION OF {table}"
            f" FOR VALUES WITH (MODULUS {partitions}, REMAINDER {number});"
            f"\nALTER TABLE {table}_p{number} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;"
            for number in range(partitions)
        )
        return f"CREATE TABLE {table} (\n{columns}) PARTITION BY HASH (owner);{parts}"

    return _CREATE_TABLE.sub(extend, sql) if partitions else sql


def _apply(connection: psycopg.Connection[Row], migration: Migration, place: str, partitions: int) -> None:
    if migration.version == 1:
        _create_schema(connection, place)
    connection.execute(_NO_TIMEOUT)
    connection.execute(partitioned(migration.sql, partitions).encode())
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
