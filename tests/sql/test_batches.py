"""Group commit and the thread pool: which writes share a commit, and what happens to those that fail."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import pytest

from gieok.adapters.sql.driver.database import Limits, Session, Tx
from gieok.adapters.sql.driver.sqlite import SqliteDatabase
from gieok.adapters.sql.driver.thread_pool import ThreadPool, WorkItem
from gieok.errors import NotFound, StoreDamaged, StoreUnavailable
from tests.sql.raw import raw

PAGE_IN_THE_LOG = 4096 + 24
"""A page and its header."""
NO_SESSION = cast(Session, None)


def add(tx: Tx) -> int:
    return tx.run("add_owner", key_generation=1, created_at="2026-01-01")


def exists(tx: Tx) -> bool:
    return tx.one("get_owner") is not None


def update_to(generation: int) -> Callable[[Tx], int]:
    """Each commit that changes the row writes its page to the log; the same value again writes nothing."""
    return lambda tx: tx.run("set_owner_key_generation", key_generation=generation)


def size_of(path: Path) -> int:
    return path.stat().st_size


class BusyWriter:
    """Keeps the writer thread busy, so that writes sent in the meantime wait and then share one commit."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._entered, self._release = threading.Event(), threading.Event()

    async def __aenter__(self) -> None:
        self._task = asyncio.create_task(self._database.write("held", self._hold))
        assert await asyncio.to_thread(self._entered.wait, 30)

    async def __aexit__(self, *_: object) -> None:
        await asyncio.sleep(0)  # lets the tasks created in the meantime queue their work
        self._release.set()
        await self._task

    def _hold(self, tx: Tx) -> None:
        self._entered.set()
        assert self._release.wait(30)


@pytest.mark.req("ENG-6")
async def test_a_failing_write_does_not_fail_the_others_of_its_commit(tmp_path: Path) -> None:
    """Of a batch with one failing unit, that caller gets its error and every other is stored."""
    database = SqliteDatabase(tmp_path / "gieok.db")

    def fail(tx: Tx) -> None:
        add(tx)
        raise NotFound("mine alone")

    async with BusyWriter(database):
        works = [fail if number == 3 else add for number in range(8)]
        batch = [asyncio.create_task(database.write(f"owner-{n}", work)) for n, work in enumerate(works)]
    answers = await asyncio.gather(*batch, return_exceptions=True)
    assert str(answers.pop(3)) == "mine alone"
    assert answers == [1] * 7
    stored = [await database.read(f"owner-{number}", exists) for number in range(8)]
    assert stored == [number != 3 for number in range(8)]
    await database.close()


async def test_waiting_writes_share_one_commit(tmp_path: Path) -> None:
    """A hundred waiting updates of one row reach the log as one commit, not as a hundred."""
    database = SqliteDatabase(tmp_path / "gieok.db")
    await database.write("kim", add)
    before = size_of(tmp_path / "gieok.db-wal")
    async with BusyWriter(database):
        waiting = [asyncio.create_task(database.write("kim", update_to(number))) for number in range(2, 102)]
    assert await asyncio.gather(*waiting) == [1] * 100
    assert size_of(tmp_path / "gieok.db-wal") - before == PAGE_IN_THE_LOG
    await database.close()


async def test_writes_sent_at_once_share_one_commit(tmp_path: Path) -> None:
    """Also when the writer was idle: it is woken after all of them were sent, not by the first."""
    database = SqliteDatabase(tmp_path / "gieok.db")
    await database.write("kim", add)
    begun = threading.Event()

    def begin(tx: Tx) -> int:
        begun.set()
        return update_to(2)(tx)

    async def send_second() -> int:
        assert not begun.wait(0.05)
        return await database.write("kim", update_to(3))

    before = size_of(tmp_path / "gieok.db-wal")
    assert await asyncio.gather(database.write("kim", begin), send_second()) == [1, 1]
    assert size_of(tmp_path / "gieok.db-wal") - before == PAGE_IN_THE_LOG
    await database.close()


async def test_a_commit_has_at_most_batch_units_writes(tmp_path: Path) -> None:
    """The rest goes into the next commit."""
    database = SqliteDatabase(tmp_path / "gieok.db", Limits(batch_units=4))
    await database.write("kim", add)
    before = size_of(tmp_path / "gieok.db-wal")
    await asyncio.gather(*(database.write("kim", update_to(number)) for number in range(2, 11)))
    assert size_of(tmp_path / "gieok.db-wal") - before == 3 * PAGE_IN_THE_LOG
    await database.close()


def write_on_an_ending_loop(database: SqliteDatabase, owners: Sequence[str]) -> None:
    """Send writes on an event loop that ends before it can wake the writer."""
    loop = asyncio.new_event_loop()
    abandoned = [loop.create_task(database.write(owner, add)) for owner in owners]
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()
    assert not any(task.done() for task in abandoned)


def test_a_loop_that_ends_before_it_wakes_the_writer_does_not_block_others(tmp_path: Path) -> None:
    """Writes of other loops are stored, and the database closes."""
    database = SqliteDatabase(tmp_path / "gieok.db")
    write_on_an_ending_loop(database, ["kim"])

    async def write() -> int:
        added = await asyncio.wait_for(database.write("lee", add), 30)
        await asyncio.wait_for(database.close(), 30)
        return added

    assert asyncio.run(write()) == 1


def test_a_full_queue_that_no_loop_empties_is_emptied(tmp_path: Path) -> None:
    """A write that finds the queue full is refused, and wakes the writer."""
    database = SqliteDatabase(tmp_path / "gieok.db", Limits(waiting_units=2))
    write_on_an_ending_loop(database, ["kim", "park"])

    async def write() -> bool:
        with pytest.raises(StoreUnavailable, match="2 units of work wait"):
            await database.write("lee", add)
        while not await database.read("park", exists):
            pass
        assert await database.write("lee", add) == 1
        await database.close()
        return True

    assert asyncio.run(asyncio.wait_for(write(), 30))


@pytest.mark.parametrize("batch_size", [1, 8])
async def test_closing_a_pool_runs_everything_that_is_queued(batch_size: int) -> None:
    """Also if the thread is idle and was not woken yet."""

    def run_batch(items: list[WorkItem[object]]) -> None:
        for item in items:
            item.run(NO_SESSION)

    pool = ThreadPool("test", [run_batch], lambda error: error, batch_size=batch_size, queue_size=8)
    sent = [asyncio.create_task(pool.run(None, lambda _: "done", writes=True)) for _ in range(3)]
    closing = asyncio.create_task(pool.close())
    assert await asyncio.wait_for(asyncio.gather(*sent), 30) == ["done"] * 3
    await closing


@pytest.mark.req("ENG-6")
async def test_a_transaction_that_sqlite_rolls_back_fails_every_write_of_the_batch(tmp_path: Path) -> None:
    """SQLite may roll back the whole transaction when one statement fails; then no write of it succeeds."""
    path = tmp_path / "gieok.db"
    database = SqliteDatabase(path)
    other = raw(path)
    other.execute(
        "CREATE TRIGGER ends BEFORE INSERT ON owners WHEN NEW.owner = 'owner-2'"
        " BEGIN SELECT raise(ROLLBACK, 'over'); END"
    )
    other.close()
    async with BusyWriter(database):
        batch = [asyncio.create_task(database.write(f"owner-{number}", add)) for number in range(5)]
    answers = await asyncio.gather(*batch, return_exceptions=True)
    assert [type(each) for each in answers] == [StoreDamaged] * 5
    assert not any([await database.read(f"owner-{number}", exists) for number in range(5)])
    assert await database.write("owner-0", add) == 1
    await database.close()
