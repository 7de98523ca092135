"""Migrations: what is applied, what is backed up first, and what is refused untouched."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import psycopg
import pytest

from gieok.adapters.sql.driver.database import Database, Tx
from gieok.adapters.sql.driver.migrations import Applied, Migration, load_migrations, pending
from gieok.adapters.sql.driver.open import open_database
from gieok.adapters.sql.driver.postgres.database import PostgresDatabase
from gieok.adapters.sql.driver.sqlite import SqliteDatabase
from gieok.errors import SchemaMismatch
from tests.postgres import Postgres
from tests.sql.raw import raw

KNOWN = (Migration(1, "ground", "one"), Migration(2, "more", "two"))
LEDGER = [Applied(migration.version, migration.name, migration.sha256) for migration in KNOWN]


def test_migrations_missing_in_the_ledger_are_pending() -> None:
    assert pending(KNOWN, [], "here") == KNOWN
    assert pending(KNOWN, LEDGER[:1], "here") == KNOWN[1:]
    assert pending(KNOWN, LEDGER, "here") == ()


@pytest.mark.parametrize(
    ("ledger", "message"),
    [
        (
            [*LEDGER, Applied(3, "future", "0")],
            "here has schema version 3, newer than 2 of this program",
        ),
        ([Applied(1, "ground", "0" * 64)], r"another migration 1 \(ground\)"),
        ([Applied(1, "other", LEDGER[0].sha256)], r"another migration 1 \(other\)"),
        ([LEDGER[1]], "has migration 2 but not 1"),
    ],
)
def test_an_unknown_ledger_is_refused(ledger: Sequence[Applied], message: str) -> None:
    with pytest.raises(SchemaMismatch, match=message):
        pending(KNOWN, ledger, "here")


def test_both_dialects_have_the_same_migrations() -> None:
    sqlite, postgres = ([(m.version, m.name) for m in load_migrations(d)] for d in ("sqlite", "postgres"))
    assert sqlite == postgres


def add(tx: Tx) -> int:
    return tx.run("add_owner", key_generation=1, created_at="2026-01-01")


def reopened(url: str, migrations: Sequence[Migration]) -> Database:
    if url.startswith("sqlite"):
        return SqliteDatabase(Path(url.removeprefix("sqlite:///")), migrations=migrations)
    return PostgresDatabase(url, migrations=migrations)


def next_migration(url: str, sql: str) -> tuple[Migration, ...]:
    known = load_migrations("sqlite" if url.startswith("sqlite") else "postgres")
    return (*known, Migration(len(known) + 1, "next", sql))


async def test_an_older_database_is_migrated_and_keeps_its_data(database_url: str) -> None:
    old = open_database(database_url)
    await old.write("kim", add)
    await old.close()
    later = next_migration(database_url, "CREATE TABLE later (owner TEXT PRIMARY KEY);")
    new = reopened(database_url, later)
    assert await new.read("kim", lambda tx: tx.one("get_owner")) == (1, None)
    assert (await new.status()).schema_version == len(later)
    await new.close()


@pytest.mark.parametrize("sql", ["CREATE TABLE half (a TEXT); INSERT INTO no_such_table VALUES (1);"])
async def test_a_migration_that_fails_leaves_the_database_as_it_was(database_url: str, sql: str) -> None:
    old = open_database(database_url)
    await old.write("kim", add)
    before = (await old.status()).schema_version
    await old.close()
    with pytest.raises(SchemaMismatch):
        reopened(database_url, next_migration(database_url, sql))
    again = open_database(database_url)
    assert (await again.status()).schema_version == before
    assert await again.read("kim", lambda tx: tx.one("get_owner")) == (1, None)
    await again.close()
    fixed = reopened(database_url, next_migration(database_url, "CREATE TABLE half (a TEXT);"))
    await fixed.close()


async def test_a_newer_database_is_refused(database_url: str) -> None:
    newer = next_migration(database_url, "CREATE TABLE later (owner TEXT PRIMARY KEY);")
    await reopened(database_url, newer).close()
    with pytest.raises(SchemaMismatch, match=f"has schema version {len(newer)}, newer than"):
        open_database(database_url)
    await reopened(database_url, newer).close()


async def test_a_database_with_other_migrations_is_refused(database_url: str) -> None:
    await open_database(database_url).close()
    known = list(load_migrations("sqlite" if database_url.startswith("sqlite") else "postgres"))
    known[0] = Migration(1, known[0].name, known[0].sql + "-- altered")
    with pytest.raises(SchemaMismatch, match="another migration 1"):
        reopened(database_url, known)
    await open_database(database_url).close()


async def make_old(path: Path) -> int:
    """A database with a row of kim's; its schema version."""
    old = SqliteDatabase(path)
    await old.write("kim", add)
    version = (await old.status()).schema_version
    await old.close()
    return version


async def is_there(path: Path, migrations: Sequence[Migration] | None = None) -> bool:
    """Whether kim's row is in the database at `path`."""
    database = SqliteDatabase(path, migrations=migrations)
    found = await database.read("kim", lambda tx: tx.one("get_owner"))
    await database.close()
    return found is not None


def test_sqlite_is_backed_up_before_it_is_migrated(tmp_path: Path) -> None:
    """The backup is a whole database of the old version, for its owner's eyes only."""
    path = tmp_path / "gieok.db"
    version = asyncio.run(make_old(path))
    assert list(tmp_path.glob("*backup*")) == []
    later = next_migration("sqlite", "DELETE FROM owners;")
    assert not asyncio.run(is_there(path, later))
    (backup,) = tmp_path.glob("gieok.db.backup-*")
    assert backup.name.startswith(f"gieok.db.backup-v{version}-")
    assert backup.stat().st_mode & 0o777 == 0o600
    assert asyncio.run(is_there(backup))


def test_a_refused_sqlite_file_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "gieok.db"
    newer = next_migration("sqlite", "CREATE TABLE later (a TEXT);")
    asyncio.run(SqliteDatabase(path, migrations=newer).close())
    before = path.read_bytes()
    with pytest.raises(SchemaMismatch):
        SqliteDatabase(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["gieok.db"]


def test_a_postgresql_schema_of_another_program_is_refused(postgres: Postgres) -> None:
    url = postgres.new_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA gieok CREATE TABLE gieok.theirs (a text)")
        with pytest.raises(SchemaMismatch, match="schema gieok of another program"):
            open_database(url)
        tables = connection.execute("SELECT relname FROM pg_class WHERE relnamespace = 'gieok'::regnamespace")
        assert tables.fetchall() == [("theirs",)]


@pytest.mark.req("OPS-4")
async def test_every_primary_key_begins_with_the_owner_in_sqlite(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "gieok.db")
    await database.close()
    connection = raw(tmp_path / "gieok.db")
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    for (table,) in tables:
        columns = connection.execute("SELECT name, pk FROM pragma_table_info(?)", (table,)).fetchall()
        if table not in ("meta", "schema_migrations"):
            assert ("owner", 1) in columns, table
    connection.close()


@pytest.mark.req("OPS-4")
async def test_every_table_has_an_owner_key_and_row_security_in_postgresql(
    postgres: Postgres,
) -> None:
    url = postgres.new_database()
    await open_database(url).close()
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT relname, relrowsecurity AND relforcerowsecurity, pg_get_constraintdef(pg_constraint.oid)"
            " FROM pg_class JOIN pg_constraint ON conrelid = pg_class.oid AND contype = 'p'"
            " WHERE relnamespace = 'gieok'::regnamespace AND relname NOT IN ('meta', 'schema_migrations')"
        ).fetchall()
    assert {"owners", "turn_memories", "search_scopes"} <= {table for table, _, _ in tables}
    for table, walled, key in tables:
        assert walled, table
        assert key.startswith(("PRIMARY KEY (owner,", "PRIMARY KEY (owner)")), table
