"""`gieok db`, on both databases."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gieok.adapters.sql.driver.migrations import Migration, load_migrations
from gieok.adapters.sql.driver.postgres.database import PostgresDatabase
from gieok.adapters.sql.driver.sqlite import SqliteDatabase
from gieok.settings import sqlite_path
from tests.cli.conftest import Run, Start, files_in, recalled, remember


@pytest.fixture
def database_url(unmade_database_url: str) -> str:
    """A database that has no tables yet."""
    return unmade_database_url


def make(url: str, migrations: Sequence[Migration]) -> None:
    """Create a database with the schema of another version of Gieok."""
    file = sqlite_path(url)
    database = (
        SqliteDatabase(file, migrations=migrations) if file else PostgresDatabase(url, migrations=migrations)
    )
    asyncio.run(database.close())


def newest(url: str) -> int:
    return len(migrations_of(url))


def migrations_of(url: str) -> tuple[Migration, ...]:
    return load_migrations("sqlite" if sqlite_path(url) else "postgres")


def test_status_of_a_missing_database_creates_nothing(run: Run, home: Path, url: str) -> None:
    for _ in range(2):
        done = run("db", "status")
        assert done.exit_code == 0
        assert "does not exist yet" in done.stdout
        assert "not-to-be-seen" not in done.stdout
        assert json.loads(run("db", "status", "--json").stdout)["exists"] is False
    assert files_in(home.parent) == {}


def test_upgrade_creates_the_database(run: Run, url: str) -> None:
    done = run("db", "upgrade")
    assert done.exit_code == 0
    assert done.stdout.startswith("created ")
    assert "applied 0001_ground\n" in done.stdout
    assert run("db", "upgrade").stdout == f"schema {newest(url)} is up to date\n"


def test_status_shows_schema_size_and_durability(run: Run, url: str) -> None:
    remember("kim")
    facts = run("db", "status").stdout
    status = json.loads(run("db", "status", "--json").stdout)
    assert f"{newest(url)} of {newest(url)}, up to date" in facts
    assert (status["exists"], status["schemaVersion"], status["pending"]) == (True, newest(url), 0)
    assert status["sizeBytes"] > 0
    assert "not-to-be-seen" not in facts + str(status)
    expected = "journal wal, synchronous full" if sqlite_path(url) else "row-level security separates owners"
    assert expected in facts


def test_status_does_not_migrate_an_older_database_and_upgrade_does(run: Run, url: str) -> None:
    make(url, migrations_of(url)[:1])
    for _ in range(2):
        assert f"1 of {newest(url)}, {newest(url) - 1} pending" in run("db", "status").stdout
    done = json.loads(run("db", "upgrade", "--json").stdout)
    assert (done["created"], done["schemaVersion"]) == (False, newest(url))
    assert done["applied"] == [f"{each.version:04d}_{each.name}" for each in migrations_of(url)[1:]]
    assert ("backup" in done) == bool(sqlite_path(url))
    assert "backup" not in json.loads(run("db", "upgrade", "--json").stdout)


def test_upgrade_backs_up_the_old_schema(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{home / 'gieok.db'}"
    monkeypatch.setenv("GIEOK_DATABASE_URL", url)
    make(url, migrations_of(url)[:1])
    backup = json.loads(run("db", "upgrade", "--json").stdout)["backup"]
    shown = json.loads(run("db", "status", "--json", GIEOK_DATABASE_URL=f"sqlite:///{backup}").stdout)
    assert (shown["schemaVersion"], shown["pending"]) == (1, newest(url) - 1)


def test_a_newer_database_is_refused_and_unchanged(run: Run, home: Path, url: str) -> None:
    make(url, [*migrations_of(url), Migration(newest(url) + 1, "future", "CREATE TABLE future (a integer)")])
    before = files_in(home.parent)
    for command in ("status", "upgrade"):
        done = run("db", command)
        assert (done.exit_code, done.stdout) == (1, "")
        assert f"schema version {newest(url) + 1}, newer than {newest(url)} of this program" in done.stderr
        assert "[SCHEMA_MISMATCH]" in done.stderr
    assert files_in(home.parent) == before


def test_status_and_upgrade_keep_stored_data(run: Run, url: str) -> None:
    remember("kim")
    run("db", "status")
    run("db", "upgrade")
    assert recalled("kim") == 1


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"not a database at all" * 9, "STORE_DAMAGED"), (b"SQLite format 3\0" + bytes(99), "SCHEMA_MISMATCH")],
)
def test_a_file_of_another_program_is_refused_and_unchanged(
    run: Run, home: Path, content: bytes, code: str
) -> None:
    file = home / "other.db"
    file.write_bytes(content)
    for command in ("status", "upgrade"):
        done = run("db", command, GIEOK_DATABASE_URL=f"sqlite:///{file}")
        assert done.exit_code == 1
        assert f"[{code}]" in done.stderr
    assert files_in(home) == {str(file): content}


def test_a_path_that_cannot_be_created_is_an_error(run: Run, home: Path) -> None:
    (home / "file").touch()
    for place in (home / "file" / "gieok.db", Path("/proc/gieok/gieok.db"), home):
        done = run("db", "upgrade", GIEOK_DATABASE_URL=f"sqlite:///{place}")
        assert done.exit_code == 1
        assert str(place) in done.stderr
        assert "[STORE_UNAVAILABLE]" in done.stderr


def test_a_read_only_folder_is_an_error(start: Start, home: Path) -> None:
    folder = home / "closed"
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("the superuser may write everywhere")
    done = start("db", "upgrade", GIEOK_DATABASE_URL=f"sqlite:///{folder}/gieok.db")
    assert done.returncode == 1
    assert "Permission denied" in done.stderr


def test_an_unreachable_server_is_an_error_without_the_password(start: Start) -> None:
    for command in ("status", "upgrade"):
        done = start("db", command, GIEOK_DATABASE_URL="postgresql://me:not-to-be-seen@127.0.0.1:1/x")
        assert (done.returncode, done.stdout) == (1, "")
        assert "postgresql://me@127.0.0.1:1/x cannot be reached" in done.stderr
        assert "not-to-be-seen" not in done.stderr


@pytest.mark.parametrize(
    ("environ", "file", "reason"),
    [
        (
            {"GIEOK_DATABASE_URL": "mysql://me:not-to-be-seen@host/db"},
            None,
            "begin with sqlite:/// or postgresql://",
        ),
        ({"GIEOK_DATABASE_URL": "password=not-to-be-seen"}, None, "begin with sqlite:/// or postgresql://"),
        ({}, b"database_url = ", "gieok.toml cannot be read as TOML"),
        ({}, b"\xff\xfe", "gieok.toml cannot be read as TOML"),
        ({}, b"database_ulr = 'sqlite:///x.db'", "did you mean 'database_url'?"),
        ({}, b"database_url = 3", "'database_url' must be a non-empty string"),
        ({"GIEOK_CONFIG": "/nowhere/gieok.toml"}, None, "/nowhere/gieok.toml cannot be read"),
    ],
)
def test_invalid_settings_are_an_error(
    run: Run, home: Path, environ: dict[str, str], file: bytes | None, reason: str
) -> None:
    if file is not None:
        (home / "gieok.toml").write_bytes(file)
    done = run("db", "status", **environ)
    assert (done.exit_code, done.stdout) == (1, "")
    assert reason in done.stderr
    assert "[SETTINGS_INVALID]" in done.stderr
    assert "not-to-be-seen" not in done.stderr


def test_postgresql_without_its_driver_says_what_to_install(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    done = run("db", "status", GIEOK_DATABASE_URL="postgresql://localhost/x")
    assert done.exit_code == 1
    assert "pip install 'gieok[postgres]'" in done.stderr


def test_korean(run: Run, home: Path) -> None:
    assert "아직 없습니다" in run("db", "status", "--lang", "ko").stdout
    assert "생성했습니다" in run("db", "upgrade", "--lang", "ko").stdout
