"""Reads from a replica: what any process committed before is always in them, whatever fails."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gieok import Gieok, Settings
from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.driver.open import find_replica_status, open_database
from gieok.adapters.sql.driver.postgres import replica as module
from gieok.errors import SettingsInvalid, StoreUnavailable
from gieok.interfaces.cli.doctor.servers import check_replica
from gieok.interfaces.cli.texts import Translator
from gieok.memory.canon.records import PersonaDraft
from gieok.testing.settings import settings_for
from tests.postgres import Postgres
from tests.replica import ReplicaServer
from tests.sql.test_postgres import end_connections

OWNERS = tuple(f"owner-{number}" for number in range(4))


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Postgres, ReplicaServer]]:
    primary = Postgres()
    follower = ReplicaServer(primary)
    yield primary, follower
    follower.close()
    primary.close()


@pytest.fixture
def follower(servers: tuple[Postgres, ReplicaServer]) -> ReplicaServer:
    return servers[1]


@pytest.fixture
def settings(servers: tuple[Postgres, ReplicaServer], tmp_path: Path) -> Settings:
    url = servers[0].new_database()
    read_url = servers[1].url(url)
    return replace(settings_for(url, tmp_path / "root.key"), read_database_url=read_url)


@pytest.fixture
async def writer(settings: Settings) -> AsyncIterator[Gieok]:
    async with await Gieok.open(settings) as opened:
        yield opened


@pytest.fixture
async def reader(settings: Settings, writer: Gieok) -> AsyncIterator[Gieok]:
    """As another process: it shares nothing with the writer but the servers."""
    async with await Gieok.open(settings) as opened:
        yield opened


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The owners of the reads that the replica has answered."""
    answered: list[str] = []
    run = module.Replica._read  # pyright: ignore[reportPrivateUsage]

    def spy(*arguments: object) -> object:
        result = run(*arguments)  # pyright: ignore[reportArgumentType, reportUnknownVariableType]
        answered.append(str(arguments[1]))
        return result  # pyright: ignore[reportUnknownVariableType]

    monkeypatch.setattr(module.Replica, "_read", spy)
    monkeypatch.setattr(module, "REST_SECONDS", 0.2)
    return answered


async def add(gieok: Gieok, owner: str, number: int) -> None:
    await gieok.user(owner).personas.create(PersonaDraft(name="하나"), persona_id=f"p{number:02}")


async def names(gieok: Gieok, owner: str) -> list[str]:
    return [card.id for card in await gieok.user(owner).personas.list(limit=100)]


async def write_and_read(writer: Gieok, reader: Gieok, owner: str, count: int) -> None:
    """After each write, both processes list it."""
    for number in range(count):
        await add(writer, owner, number)
        expected = [f"p{each:02}" for each in range(number + 1)]
        assert await names(reader, owner) == expected
        assert await names(writer, owner) == expected


async def until_served(gieok: Gieok, served: list[str], owner: str) -> None:
    """Read until the replica answers again."""
    deadline = time.monotonic() + 60
    served.clear()
    while not served:
        assert time.monotonic() < deadline
        await names(gieok, owner)
        await asyncio.sleep(0.05)


@pytest.mark.req("OPS-4")
async def test_a_read_sees_every_write_of_every_process(
    writer: Gieok, reader: Gieok, served: list[str]
) -> None:
    await asyncio.gather(*(write_and_read(writer, reader, owner, 12) for owner in OWNERS))
    await until_served(reader, served, OWNERS[0])


async def test_a_replica_that_is_behind_is_not_asked(
    writer: Gieok, reader: Gieok, follower: ReplicaServer, served: list[str]
) -> None:
    await add(writer, "kim", 0)
    await until_served(reader, served, "kim")
    follower.run("SELECT pg_wal_replay_pause()")
    try:
        served.clear()
        await add(writer, "kim", 1)
        assert await names(reader, "kim") == ["p00", "p01"]
        assert await names(writer, "kim") == ["p00", "p01"]
        assert served == []
    finally:
        follower.run("SELECT pg_wal_replay_resume()")
    await until_served(reader, served, "kim")


@pytest.mark.req("ENG-6")
async def test_reads_go_on_while_the_replica_is_killed_and_restarted(
    writer: Gieok, reader: Gieok, follower: ReplicaServer, served: list[str]
) -> None:
    await add(writer, "kim", 0)
    await until_served(reader, served, "kim")
    rounds, finished, stop = 0, asyncio.Semaphore(0), asyncio.Event()

    async def load(owner: str) -> None:
        nonlocal rounds
        while not stop.is_set():
            await write_and_read(writer, reader, f"{owner}-{rounds}", 5)
            rounds += 1
            finished.release()

    loads = asyncio.gather(*(load(owner) for owner in OWNERS))
    for change in (follower.kill, follower.start):
        for _ in range(4):
            await asyncio.wait_for(finished.acquire(), 60)
        await asyncio.to_thread(change)
    stop.set()
    await asyncio.wait_for(loads, 120)
    await until_served(reader, served, "kim")


async def test_a_read_that_loses_the_replica_at_its_end_is_repeated_by_the_primary(
    settings: Settings, writer: Gieok, served: list[str]
) -> None:
    await add(writer, "kim", 0)
    await until_served(writer, served, "kim")
    runs: list[str] = []

    def work(tx: Tx) -> int:
        runs.append("run")
        if len(runs) == 1:
            end_connections(settings.read_database_url or "")
        return len(runs)

    assert await writer.database.read("kim", work, replica=True) == 2


async def test_a_turn_reads_from_the_primary(writer: Gieok, served: list[str]) -> None:
    """What a cycle reads decides what it writes. A search and an export write nothing."""
    await add(writer, "kim", 0)
    await until_served(writer, served, "kim")
    served.clear()
    await writer.user("kim").chat.send("p00", "나 부산으로 이사했어", wait_memory=True)
    assert served == []
    await writer.user("kim").companion.search("p00", "부산")
    exported = [chunk async for chunk in writer.user("kim").data.export()]
    assert exported
    assert len(served) >= 2


async def test_status_shows_the_lag(
    settings: Settings, writer: Gieok, follower: ReplicaServer, served: list[str]
) -> None:
    read_url = settings.read_database_url
    assert read_url is not None
    await add(writer, "kim", 0)
    await until_served(writer, served, "kim")
    follower.run("SELECT pg_wal_replay_pause()")
    try:
        await add(writer, "kim", 1)
        found = find_replica_status(read_url, settings.database_url)
        assert (found.is_following, found.lag_bytes > 0) == (True, True)
        assert "not-to-be-seen" not in found.url
    finally:
        follower.run("SELECT pg_wal_replay_resume()")


def test_doctor_shows_the_replica(settings: Settings) -> None:
    """Its lag, or why it is not used: that is no failure, because reads go to the primary."""
    asyncio.run(open_database(settings.database_url).close())
    t = Translator("en")
    (found,) = check_replica(settings, t)
    assert (found.name, found.level in {"ok", "warning"}) == ("replica", True)
    assert " behind" in found.text
    away = replace(settings, read_database_url="postgresql://gieok:secret@127.0.0.1:1/none")
    (found,) = check_replica(away, t)
    assert (found.level, "secret" in found.text) == ("warning", False)
    assert list(check_replica(replace(settings, read_database_url=None), t)) == []


async def test_another_server_is_no_replica(settings: Settings, postgres: Postgres) -> None:
    with pytest.raises(SettingsInvalid, match="GIEOK_READ_DATABASE_URL"):
        find_replica_status(postgres.new_database(), settings.database_url)
    with pytest.raises(StoreUnavailable):
        find_replica_status("postgresql://gieok@127.0.0.1:1/none", settings.database_url)


async def test_a_promoted_replica_is_not_asked(
    servers: tuple[Postgres, ReplicaServer], tmp_path: Path, served: list[str]
) -> None:
    """It has all that was committed, but it does not follow any more."""
    url = servers[0].new_database()
    promoted = ReplicaServer(servers[0])
    try:
        promoted.run("SELECT pg_promote()")
        settings = replace(settings_for(url, tmp_path / "root.key"), read_database_url=promoted.url(url))
        async with await Gieok.open(settings) as gieok:
            await add(gieok, "kim", 0)
            assert await names(gieok, "kim") == ["p00"]
            assert served == []
    finally:
        promoted.close()
