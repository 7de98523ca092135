"""PgBouncer in transaction mode: a transaction gets any server connection, and others had it before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from gieok import Gieok, Settings
from gieok.adapters.sql.driver.database import Limits, Tx
from gieok.adapters.sql.driver.open import find_database, open_database, open_keystore
from gieok.errors import OutcomeUnknown, SettingsInvalid, StepFailed, StoreUnavailable
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.requests import RequestKey
from gieok.testing.settings import settings_for
from tests.pgbouncer import PgBouncer
from tests.postgres import Postgres

OWNERS = tuple(f"owner-{number}" for number in range(6))
TURNS = 5
_SESSION = """
SELECT current_setting('search_path'), current_setting('statement_timeout'), current_setting('lock_timeout'),
       coalesce(current_setting('gieok.owner', true), ''),
       coalesce(current_setting('gieok.worker', true), ''),
       (SELECT count(*) FROM pg_prepared_statements),
       (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')
"""


@pytest.fixture
def direct_url(postgres: Postgres) -> Iterator[str]:
    """A database that is not made yet, without PgBouncer."""
    url = postgres.new_database()
    yield url
    postgres.drop(url)


@pytest.fixture
def pgbouncer(direct_url: str) -> Iterator[PgBouncer]:
    """Two server connections for the database: fewer than one process opens to PgBouncer."""
    started = PgBouncer(direct_url, pool_size=2)
    yield started
    started.close()


@pytest.fixture
def pooled_settings(pgbouncer: PgBouncer, tmp_path: Path) -> Settings:
    settings = settings_for(pgbouncer.url, tmp_path / "root.key")
    return replace(settings, keystore_url=pgbouncer.keystore_url)


@pytest.fixture
async def pooled(pooled_settings: Settings) -> AsyncIterator[Gieok]:
    """Gieok with its database and its keystore behind PgBouncer."""
    async with await Gieok.open(pooled_settings) as opened:
        yield opened


async def talk(gieok: Gieok, owner: str, turns: int) -> None:
    """Say `turns` sentences, each of them again until it is answered, as a client with a retry does."""
    for number in range(turns):
        text = f"{owner} 이야기 {number}번"
        once = RequestKey(key=f"k{number}", body=text.encode())
        for _ in range(500):
            try:
                await gieok.user(owner).chat.send("hana", text, session_ref="s", once=once)
            except (StoreUnavailable, OutcomeUnknown, StepFailed):
                await asyncio.sleep(0.02)
            else:
                break
        else:
            raise AssertionError("PgBouncer did not come back")


async def said(gieok: Gieok, owner: str) -> list[str]:
    """What the owner said, as their log has it."""
    log = await gieok.user(owner).sessions.log("s", limit=200)
    return [each.content for each in log if each.role == "user"]


@pytest.mark.req("OPS-4")
async def test_a_load_of_several_owners_on_fewer_connections(pooled: Gieok) -> None:
    """Every owner finds what they said, in order, and nothing of another who had the same connection."""
    for owner in OWNERS:
        await pooled.user(owner).personas.create(PersonaDraft(name="하나"), persona_id="hana")
    await asyncio.gather(*(talk(pooled, owner, TURNS) for owner in OWNERS))
    for owner in OWNERS:
        assert await said(pooled, owner) == [f"{owner} 이야기 {number}번" for number in range(TURNS)]


@pytest.mark.req("ENG-6", "OPS-4")
async def test_nothing_is_lost_or_doubled_when_pgbouncer_is_killed(
    pooled: Gieok, pgbouncer: PgBouncer
) -> None:
    """Killed three times under load. A client that repeats with the same key has each turn stored once."""
    for owner in OWNERS:
        await pooled.user(owner).personas.create(PersonaDraft(name="하나"), persona_id="hana")
    talking = asyncio.gather(*(talk(pooled, owner, 3 * TURNS) for owner in OWNERS))
    for _ in range(3):
        await asyncio.sleep(0.3)
        pgbouncer.kill()
        await asyncio.sleep(0.1)
        await asyncio.to_thread(pgbouncer.start)
    await asyncio.wait_for(talking, 120)
    for owner in OWNERS:
        assert await said(pooled, owner) == [f"{owner} 이야기 {number}번" for number in range(3 * TURNS)]


@pytest.mark.req("OPS-4")
async def test_nothing_of_a_transaction_stays_on_a_server_connection(pgbouncer: PgBouncer) -> None:
    """Neither settings nor locks nor prepared statements: the next client of the connection finds its own."""
    with psycopg.connect(pgbouncer.url, autocommit=True, prepare_threshold=None) as fresh:
        before = fresh.execute(_SESSION).fetchone()
    database = open_database(pgbouncer.url, limits=Limits(connections=4))
    open_keystore(pgbouncer.url).close()
    for number in range(20):  # more often than a statement is run before it would be prepared
        await asyncio.gather(*(database.write(f"{owner}-{number}", _add) for owner in OWNERS))
        await database.system_read(lambda tx: tx.all("count_jobs_of_all"))
    await database.close()
    with ThreadPoolExecutor(2) as pool:  # both server connections
        assert list(pool.map(_session, [pgbouncer.url] * 2)) == [before, before]


def test_processes_that_migrate_at_once_wait_for_each_other(pgbouncer: PgBouncer) -> None:
    with ThreadPoolExecutor() as pool:
        opening = [pool.submit(open_database, pgbouncer.url) for _ in range(4)]
        for each in opening:
            asyncio.run(each.result().close())
    found = find_database(pgbouncer.url)
    assert found is not None
    assert (found.pending, found.is_pooled) == (0, True)


def test_a_direct_connection_is_not_taken_for_a_pooled_one(direct_url: str) -> None:
    asyncio.run(open_database(direct_url).close())
    found = find_database(direct_url)
    assert found is not None
    assert found.is_pooled is False


async def test_a_keystore_in_the_pool_of_its_database_is_refused(pooled_settings: Settings) -> None:
    """All connections could be held by transactions that wait for the keystore's."""
    shared = replace(pooled_settings, keystore_url=pooled_settings.database_url)
    with pytest.raises(SettingsInvalid, match="GIEOK_KEYSTORE_URL"):
        await Gieok.open(shared)


def _session(url: str) -> object:
    with psycopg.connect(url, prepare_threshold=None) as connection:
        connection.execute("SELECT pg_sleep(0.3)")
        return connection.execute(_SESSION).fetchone()


def _add(tx: Tx) -> int:
    return tx.run("add_owner", key_generation=1, created_at="2026-01-01")
