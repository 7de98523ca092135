"""The SQLite and PostgreSQL keystores: the contract suite, and tests specific to each."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import psycopg
import pytest

from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.keystores.postgres import PostgresKeyStore
from gieok.adapters.sql.keystores.sqlite import SqliteKeyStore
from gieok.errors import GieokError, SchemaMismatch, SettingsInvalid, StoreDamaged, StoreUnavailable
from gieok.testing.contracts.keystores import (
    OTHER_ROOT,
    ROOT,
    KeyStoreContract,
    OpenKeyStore,
    a_head,
    at_once,
    first_keys,
    tag_of,
)
from gieok.vault import FileRootKey, KeyStore, Place, Vault
from tests.postgres import Postgres
from tests.vault.opening import Opener


class TestSqlite(KeyStoreContract):
    @pytest.fixture
    def open_keystore(self, sqlite_keystores: Opener) -> OpenKeyStore:
        return sqlite_keystores.open


class TestPostgres(KeyStoreContract):
    @pytest.fixture
    def open_keystore(self, postgres_keystores: Opener) -> OpenKeyStore:
        return postgres_keystores.open


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "gieok.db.keys"


@pytest.fixture
def claimed(sqlite_keystores: Opener) -> KeyStore:
    keystore = sqlite_keystores.open()
    keystore.claim(a_head())
    return keystore


def bytes_on_disk(file: Path) -> bytes:
    """The file and every file that SQLite may create beside it."""
    return b"".join(found.read_bytes() for found in file.parent.glob(f"{file.name}*"))


def test_the_file_is_private(claimed: KeyStore, file: Path) -> None:
    """Only this user can read the keystore."""
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.req("OPS-3")
def test_destroyed_keys_are_not_in_the_file(claimed: KeyStore, file: Path) -> None:
    """After an erasure no byte of a wrapped key is left on disk, even if SQLite had moved it between
    pages."""
    chance = Random(7)  # an order in which `secure_delete` alone leaves a copy behind
    kept = {f"owner-{number}-": first_keys(f"owner-{number}-") for number in range(200)}
    owners = list(kept)
    chance.shuffle(owners)
    for quarter in (owners[start : start + 50] for start in range(0, 200, 50)):
        claimed.insert(ROOT, os.urandom(32), [key for owner in quarter for key in kept[owner]])
    assert all(key.wrapped in bytes_on_disk(file) for keys in kept.values() for key in keys)
    erased = chance.sample(owners, 60)
    for owner in erased:
        claimed.begin_erasure(owner, tag_of(owner))
    left = bytes_on_disk(file)
    assert not [owner for owner in erased for key in kept[owner] if key.wrapped[:16] in left]
    assert all(key.wrapped in left for owner in kept.keys() - set(erased) for key in kept[owner])


@pytest.mark.req("OPS-3")
def test_a_finished_erasure_leaves_no_name_in_the_file(claimed: KeyStore, file: Path) -> None:
    """The name of an erased owner is overwritten, not only unlinked."""
    claimed.insert(ROOT, os.urandom(32), first_keys("someone-in-particular"))
    tag = os.urandom(32)
    claimed.begin_erasure("someone-in-particular", tag)
    assert b"someone-in-particular" in bytes_on_disk(file)
    claimed.finish_erasure(tag)
    assert b"someone-in-particular" not in bytes_on_disk(file)


def test_retired_and_rewrapped_keys_are_not_in_the_file(claimed: KeyStore, file: Path) -> None:
    """Keys that a rotation replaced are overwritten too."""
    old = claimed.insert(ROOT, tag_of("kim"), first_keys("kim"))
    claimed.add(ROOT, tag_of("kim"), replace(first_keys("kim")[0], generation=2))
    claimed.delete_older(ROOT, "kim", 2)
    assert old[0].wrapped not in bytes_on_disk(file)
    claimed.rewrap(ROOT, a_head(OTHER_ROOT), lambda key: replace(key, wrapped=os.urandom(60)))
    assert old[1].wrapped not in bytes_on_disk(file)


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"\0" * 4096])
def test_a_file_that_is_not_a_keystore_is_refused_and_unchanged(file: Path, content: bytes) -> None:
    """A wrong path does not destroy the file."""
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(StoreDamaged, match="not a Gieok keystore"):
        SqliteKeyStore(file)
    assert file.read_bytes() == content


def test_a_database_of_another_program_is_refused_and_unchanged(file: Path) -> None:
    """Not every SQLite file is a keystore."""
    file.parent.mkdir()
    file.touch()
    connection = sqlite_file.connect(file, lock_seconds=1)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("CREATE TABLE other (x)")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(StoreDamaged, match="not a Gieok keystore"):
        SqliteKeyStore(file)
    assert file.read_bytes() == before


def test_a_newer_schema_in_sqlite_is_refused(sqlite_keystores: Opener, file: Path) -> None:
    """An older version does not change the keystore of a newer one."""
    sqlite_keystores.open().close()
    connection = sqlite_file.connect(file, lock_seconds=1)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(SchemaMismatch, match="schema 2"):
        sqlite_keystores.open()


def test_a_damaged_keystore_is_reported(sqlite_keystores: Opener, file: Path) -> None:
    """Garbage after a valid header raises StoreDamaged."""
    sqlite_keystores.open().close()
    content = file.read_bytes()
    file.write_bytes(content[:100] + b"\xff" * (len(content) - 100))
    with pytest.raises(StoreDamaged):
        sqlite_keystores.open().head()


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    """With the path and the remedy."""
    (tmp_path / "data").write_text("a file where a folder is needed")
    with pytest.raises(StoreUnavailable, match=r"gieok\.db\.keys.*choose another path"):
        SqliteKeyStore(tmp_path / "data" / "gieok.db.keys")


def test_a_keystore_locked_by_another_process_is_unavailable(claimed: KeyStore, file: Path) -> None:
    """The wait for the lock is limited, and reading is possible meanwhile."""
    impatient = SqliteKeyStore(file, lock_seconds=0.05)
    holder = sqlite_file.connect(file, lock_seconds=1)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="lock"):
        impatient.begin_erasure("kim", tag_of("kim"))
    assert impatient.head() == claimed.head()
    holder.close()
    impatient.begin_erasure("kim", tag_of("kim"))
    impatient.close()


CREATE_IN_ANOTHER_PROCESS = """
import sys
from pathlib import Path
from gieok.adapters.sql.keystores.sqlite import SqliteKeyStore
from gieok.vault import FileRootKey, Place, Vault

vault = Vault(SqliteKeyStore(Path(sys.argv[1])), FileRootKey(Path(sys.argv[2])))
print(vault.create("kim").seal(Place("t", "c", "1"), b"hello").hex())
"""


def test_processes_that_start_at_once_share_root_key_and_keys(
    sqlite_keystores: Opener, file: Path, tmp_path: Path
) -> None:
    """Four processes start on an empty machine: one root key, one keystore, one key for the owner."""
    root_file = tmp_path / "secrets" / "root.key"
    command = [sys.executable, "-c", CREATE_IN_ANOTHER_PROCESS, str(file), str(root_file)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    sealed = [process.communicate(timeout=60)[0].strip() for process in started]
    keys = Vault(sqlite_keystores.open(), FileRootKey(root_file)).keys("kim")
    assert [keys.open(Place("t", "c", "1"), bytes.fromhex(text)) for text in sealed] == [b"hello"] * 4


def test_concurrent_starts_on_postgres_create_one_schema(postgres: Postgres) -> None:
    """Several processes may start on an empty database."""
    url = postgres.new_database()
    opened = at_once(*[lambda: PostgresKeyStore(url)] * 4)
    opened[0].claim(a_head())
    assert {keystore.head() for keystore in opened} == {opened[0].head()}
    for keystore in opened:
        keystore.close()


def test_a_newer_schema_in_postgres_is_refused(postgres: Postgres) -> None:
    """An older version does not change the keystore of a newer one."""
    url = postgres.new_database()
    PostgresKeyStore(url).close()
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE gieok_keys.keystore_schema SET version = 2")
    with pytest.raises(SchemaMismatch, match="schema 2"):
        PostgresKeyStore(url)


def test_the_keystore_reconnects_after_a_restart_of_postgres(postgres: Postgres) -> None:
    """It is unavailable while the server is down, and works again without any action."""
    keystore = PostgresKeyStore(postgres.new_database())
    keystore.claim(a_head())
    postgres.stop()
    try:
        for _ in range(2):
            with pytest.raises(StoreUnavailable):
                keystore.head()
    finally:
        postgres.start()
    assert keystore.head() is not None
    keystore.close()


def test_a_connection_lost_while_idle_is_replaced(postgres: Postgres) -> None:
    """A server or firewall that drops idle connections causes no error."""
    url = postgres.new_database()
    keystore = PostgresKeyStore(url)
    keystore.claim(a_head())
    with psycopg.connect(url) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert keystore.head() is not None
    keystore.close()


def test_a_postgres_password_is_not_shown(postgres: Postgres) -> None:
    """Neither the location nor an error contains the password."""
    url = postgres.new_database()
    assert "not-to-be-seen" in url
    keystore = PostgresKeyStore(url)
    assert "not-to-be-seen" not in keystore.location
    keystore.close()
    attempts: list[Callable[[], object]] = [
        lambda: PostgresKeyStore(url.rpartition("/")[0] + "/absent"),
        lambda: PostgresKeyStore("postgresql://gieok:not-to-be-seen@[/"),
    ]
    for attempt, expected in zip(attempts, (StoreUnavailable, SettingsInvalid), strict=True):
        with pytest.raises(GieokError) as refused:
            attempt()
        assert refused.type is expected
        assert "not-to-be-seen" not in str(refused.value)
