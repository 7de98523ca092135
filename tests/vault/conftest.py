"""Keystores and root keys for the vault's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gieok.adapters.sql.keystores.sqlite import SqliteKeyStore
from gieok.vault import FileRootKey, KeyStore, Vault
from tests.postgres import Postgres
from tests.vault.opening import Opener


@pytest.fixture
def root(tmp_path: Path) -> FileRootKey:
    """A root key file that does not exist yet."""
    return FileRootKey(tmp_path / "secrets" / "root.key")


@pytest.fixture
def sqlite_keystores(tmp_path: Path) -> Iterator[Opener]:
    """Opens the same SQLite keystore several times, once per simulated process."""
    with Opener(lambda: SqliteKeyStore(tmp_path / "data" / "gieok.db.keys")) as opener:
        yield opener


@pytest.fixture(params=["sqlite", "postgres"])
def keystores(request: pytest.FixtureRequest) -> Opener:
    """The same for a keystore of each kind."""
    return request.getfixturevalue(f"{request.param}_keystores")


@pytest.fixture
def postgres_keystores(request: pytest.FixtureRequest) -> Iterator[Opener]:
    """The same in a new PostgreSQL database."""
    from gieok.adapters.sql.keystores.postgres import PostgresKeyStore  # noqa: PLC0415 - psycopg loads slowly

    server: Postgres = request.getfixturevalue("postgres")
    url = server.new_database()
    with Opener(lambda: PostgresKeyStore(url)) as opener:
        yield opener
    server.drop(url)


@pytest.fixture
def keystore(keystores: Opener) -> KeyStore:
    return keystores.open()


@pytest.fixture
def vault(sqlite_keystores: Opener, root: FileRootKey) -> Vault:
    """A new vault over SQLite."""
    return Vault(sqlite_keystores.open(), root)
