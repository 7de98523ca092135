"""The contract of a `Database`, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from gieok.adapters.sql.driver.database import Database, Limits, Tx
from gieok.adapters.sql.driver.open import open_database
from gieok.errors import NotFound, SettingsInvalid, StoreUnavailable


def add(tx: Tx) -> int:
    return tx.run("add_owner", key_generation=1, created_at="2026-01-01")


def generation(tx: Tx) -> int | None:
    found = tx.one("get_owner")
    return None if found is None else found[0]


def advance(tx: Tx) -> int:
    return tx.run("set_owner_key_generation", key_generation=2)


def saving(token: int) -> Callable[[Tx], int]:
    """Work that stores one row of its own, of an owner who exists."""
    identity = (token & 0xFF).to_bytes(16, "big")
    return lambda tx: tx.run(
        "add_evidence", id=identity, digest_token=token, card=b"c", content=b"c", created_at=1
    )


@pytest.fixture
async def narrow(database_url: str) -> AsyncIterator[Database]:
    """A database with a single thread for writes, so that a second unit has to wait for the first."""
    opened = open_database(database_url, limits=Limits(connections=1, readers=1))
    yield opened
    await opened.close()


class Gate:
    """Work that waits until the test opens it."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self._open = threading.Event()

    def wait(self) -> None:
        self.entered.set()
        assert self._open.wait(30)

    def open(self) -> None:
        self._open.set()

    async def reached(self) -> None:
        assert await asyncio.to_thread(self.entered.wait, 30)


async def test_written_data_can_be_read_after_reopening(database_url: str) -> None:
    """A finished write is there for the next process."""
    first = open_database(database_url)
    assert await first.write("kim", add) == 1
    await first.close()
    second = open_database(database_url)
    assert await second.read("kim", generation) == 1
    await second.close()


@pytest.mark.req("OPS-4")
async def test_an_owner_never_sees_the_rows_of_another(database: Database) -> None:
    await database.write("kim", add)
    assert await database.read("lee", generation) is None
    assert await database.write("lee", lambda tx: tx.run("set_owner_key_generation", key_generation=9)) == 0
    assert await database.read("kim", generation) == 1


@pytest.mark.req("ENG-6")
@pytest.mark.parametrize("error", [NotFound("no such session"), ValueError("x"), SystemExit(3)])
async def test_a_failing_write_stores_nothing_and_raises_its_error(
    database: Database, error: BaseException
) -> None:
    def work(tx: Tx) -> None:
        add(tx)
        raise error

    with pytest.raises(type(error)) as caught:
        await database.write("kim", work)
    assert caught.value is error
    assert await database.read("kim", generation) is None


async def test_a_read_cannot_write(database: Database) -> None:
    with pytest.raises(StoreUnavailable, match="read-only"):
        await database.read("kim", add)
    assert await database.read("kim", generation) is None


async def test_a_transaction_cannot_be_used_after_its_work(database: Database) -> None:
    """What a store hands out by mistake does not run outside of a transaction."""
    kept = await database.read("kim", lambda tx: tx)
    with pytest.raises(RuntimeError, match="has ended"):
        kept.one("get_owner")


async def test_a_read_sees_one_snapshot(database: Database) -> None:
    """What is committed while a read is under way is not seen by it."""
    await database.write("kim", add)
    gate = Gate()

    def look_twice(tx: Tx) -> tuple[int | None, int | None]:
        before = generation(tx)
        gate.wait()
        return before, generation(tx)

    reading = asyncio.create_task(database.read("kim", look_twice, heavy=True))
    await gate.reached()
    await database.write("kim", advance)
    gate.open()
    assert await reading == (1, 1)
    assert await database.read("kim", generation) == 2


async def test_every_concurrent_write_is_stored(database: Database) -> None:
    await database.write("kim", add)
    await asyncio.gather(*(database.write("kim", saving(token)) for token in range(-20, 20)))
    found = await database.read("kim", lambda tx: tx.all("find_evidence", tokens=list(range(-20, 20))))
    assert len(found) == 40


@pytest.mark.parametrize("tokens", [[], [1], [-(2**63), 2**63 - 1, 0]])
async def test_a_list_can_be_a_parameter(database: Database, tokens: list[int]) -> None:
    await database.write("kim", add)
    for token in (-(2**63), 2**63 - 1, 1, 2):
        await database.write("kim", saving(token))
    found = await database.read("kim", lambda tx: tx.all("find_evidence", tokens=tokens))
    assert len(found) == len(set(tokens) - {0})


async def test_run_many_accepts_no_rows(database: Database) -> None:
    await database.write("kim", lambda tx: tx.run_many("add_impacts", []))


@pytest.mark.req("ENG-6")
async def test_a_write_cancelled_before_it_began_is_never_stored(narrow: Database) -> None:
    gate = Gate()
    first = asyncio.create_task(narrow.write("kim", lambda tx: (add(tx), gate.wait())))
    await gate.reached()
    second = asyncio.create_task(narrow.write("lee", add))
    await asyncio.sleep(0)  # the second is queued behind the first
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    gate.open()
    await first
    assert await narrow.read("kim", generation) == 1
    assert await narrow.read("lee", generation) is None


@pytest.mark.req("ENG-6")
@pytest.mark.parametrize("cancels", [1, 3])
async def test_a_write_cancelled_after_it_began_returns_its_result(narrow: Database, cancels: int) -> None:
    gate = Gate()

    def work(tx: Tx) -> str:
        gate.wait()
        add(tx)
        return "stored"

    task = asyncio.create_task(narrow.write("kim", work))
    await gate.reached()
    for _ in range(cancels):
        task.cancel()
        await asyncio.sleep(0)  # let the cancellation arrive
    gate.open()
    assert await task == "stored"
    assert await narrow.read("kim", generation) == 1


async def test_a_write_that_fails_after_its_cancellation_raises_its_error(narrow: Database) -> None:
    gate = Gate()

    def work(tx: Tx) -> None:
        add(tx)
        gate.wait()
        raise NotFound("no such session")

    task = asyncio.create_task(narrow.write("kim", work))
    await gate.reached()
    task.cancel()
    await asyncio.sleep(0)  # let the cancellation arrive
    gate.open()
    with pytest.raises(NotFound):
        await task
    assert await narrow.read("kim", generation) is None


async def test_a_cancelled_read_is_cancelled_at_once(narrow: Database) -> None:
    gate = Gate()
    task = asyncio.create_task(narrow.read("kim", lambda tx: gate.wait(), heavy=True))
    await gate.reached()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.open()
    assert await narrow.read("kim", generation) is None


async def test_the_next_read_runs_on_the_same_thread(database: Database) -> None:
    """Its connection still holds what was read before."""
    threads = {await database.read("kim", lambda _: threading.get_ident(), heavy=True) for _ in range(20)}
    assert len(threads) == 1


async def test_work_beyond_the_queue_size_is_refused(database_url: str) -> None:
    """Overload is told at once instead of growing a queue without end."""
    database = open_database(database_url, limits=Limits(connections=1, readers=1, waiting_units=2))
    gate = Gate()
    running = asyncio.create_task(database.write("kim", lambda tx: (add(tx), gate.wait())))
    await gate.reached()
    waiting = [asyncio.create_task(database.write("kim", generation)) for _ in range(2)]
    await asyncio.sleep(0)  # both are queued
    with pytest.raises(StoreUnavailable, match="2 units of work wait"):
        await database.write("lee", add)
    gate.open()
    await running
    assert await asyncio.gather(*waiting) == [1, 1]
    await database.close()


def test_two_event_loops_may_share_a_database(database_url: str) -> None:
    """A worker with a loop of its own gets its answers on that loop."""
    database = open_database(database_url)

    async def write(number: int) -> int | None:
        await asyncio.gather(*(database.write(f"owner-{number}-{each}", add) for each in range(20)))
        return await database.read(f"owner-{number}-19", generation)

    def run(number: int) -> int | None:
        return asyncio.run(write(number))

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(run, range(2))) == [1, 1]
    asyncio.run(database.close())


async def test_meta_values_are_stored(database: Database) -> None:
    assert await database.get_meta("analyzer") is None
    await database.set_meta("analyzer", "mecab-ko 1")
    await database.set_meta("analyzer", "mecab-ko 2")
    assert await database.get_meta("analyzer") == "mecab-ko 2"


async def test_the_check_passes_and_changes_nothing(database: Database) -> None:
    await database.check()
    assert await database.get_meta("probe") is None


async def test_status_has_the_facts_for_an_operator(database: Database, database_url: str) -> None:
    status = await database.status()
    assert (
        status.dialect == database.dialect == ("sqlite" if database_url.startswith("sqlite") else "postgres")
    )
    assert status.schema_version == status.latest_version >= 1
    assert status.pending == 0
    assert status.size_bytes > 0
    assert "not-to-be-seen" not in repr(status)
    if status.dialect == "sqlite":
        assert (status.journal_mode, status.synchronous) == ("wal", "full")
    else:
        assert (status.role, status.bypasses_row_security) == ("gieok", False)


async def test_a_new_database_can_be_opened_concurrently(database_url: str) -> None:
    """Several processes that start together on an empty database all come up, and it is migrated once."""
    opened = await asyncio.gather(*(asyncio.to_thread(open_database, database_url) for _ in range(6)))
    for database in opened:
        await database.write(f"owner-{id(database)}", add)
        assert (await database.status()).pending == 0
    await asyncio.gather(*(database.close() for database in opened))


async def test_closing_finishes_queued_work_and_refuses_more(database_url: str) -> None:
    database = open_database(database_url)
    writes = [asyncio.create_task(database.write(f"owner-{number}", add)) for number in range(10)]
    await asyncio.sleep(0)  # all are queued
    await database.close()
    assert await asyncio.gather(*writes) == [1] * 10
    with pytest.raises(StoreUnavailable, match="closed"):
        await database.write("kim", add)
    await database.close()


@pytest.mark.parametrize("limits", [{"readers": 0}, {"lock_seconds": 0}, {"batch_units": -1}])
def test_a_limit_must_be_positive(limits: dict[str, int]) -> None:
    with pytest.raises(SettingsInvalid, match=f"the limit {next(iter(limits))} must be more than 0"):
        Limits(**limits)


@pytest.mark.parametrize(
    "url", ["", "gieok.db", "mysql://host/db", "sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:x.db"]
)
def test_an_unsupported_url_is_refused(url: str) -> None:
    with pytest.raises(SettingsInvalid, match="URL"):
        open_database(url)
