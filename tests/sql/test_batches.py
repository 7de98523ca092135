"""One writer that commits for many: who shares a commit, and what becomes of those who fail."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import pytest

from gieok.adapters.sql.driver.database import Limits, Session, Tx
from gieok.adapters.sql.driver.sqlite import SqliteDatabase
from gieok.adapters.sql.driver.units import Crew, Unit
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
    """Each commit that changes the row writes its page to the log; to say the same again writes nothing."""
    return lambda tx: tx.run("set_owner_key_generation", key_generation=generation)


def size_of(path: Path) -> int:
    return path.stat().st_size


class Held:
    """Keeps the writer busy, so that what is written meanwhile waits and then shares one commit."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._entered, self._release = threading.Event(), threading.Event()

    async def __aenter__(self) -> None:
        self._task = asyncio.create_task(self._database.write("held", self._hold))
        assert await asyncio.to_thread(self._entered.wait, 30)

    async def __aexit__(self, *_: object) -> None:
        await asyncio.sleep(0)  # the tasks made meanwhile have queued their work
        self._release.set()
        await self._task

    def _hold(self, tx: Tx) -> None:
        self._entered.set()
        assert self._release.wait(30)


@pytest.mark.req("ENG-6")
async def test_units_that_share_a_commit_fail_alone(tmp_path: Path) -> None:
    """Of a batch with one failing unit, that caller gets its error and every other is stored."""
    database = SqliteDatabase(tmp_path / "gieok.db")

    def fail(tx: Tx) -> None:
        add(tx)
        raise NotFound("mine alone")

    async with Held(database):
        works = [fail if number == 3 else add for number in range(8)]
        batch = [asyncio.create_task(database.write(f"owner-{n}", work)) for n, work in enumerate(works)]
    answers = await asyncio.gather(*batch, return_exceptions=True)
    assert str(answers.pop(3)) == "mine alone"
    assert answers == [1] * 7
    stored = [await database.read(f"owner-{number}", exists) for number in range(8)]
    assert stored == [number != 3 for number in range(8)]
    await database.close()


async def test_units_that_wait_together_share_one_commit(tmp_path: Path) -> None:
    """A hundred waiting updates of one row reach the log as one commit, not as a hundred."""
    database = SqliteDatabase(tmp_path / "gieok.db")
    await database.write("kim", add)
    before = size_of(tmp_path / "gieok.db-wal")
    async with Held(database):
        waiting = [asyncio.create_task(database.write("kim", update_to(number))) for number in range(2, 102)]
    assert await asyncio.gather(*waiting) == [1] * 100
    assert size_of(tmp_path / "gieok.db-wal") - before == PAGE_IN_THE_LOG
    await database.close()


async def test_units_that_are_asked_for_at_once_share_one_commit(tmp_path: Path) -> None:
    """Also where the writer was at rest: it is woken when everybody has asked, and not by the first."""
    database = SqliteDatabase(tmp_path / "gieok.db")
    await database.write("kim", add)
    begun = threading.Event()

    def begin(tx: Tx) -> int:
        begun.set()
        return update_to(2)(tx)

    async def ask_too() -> int:
        assert not begun.wait(0.05)
        return await database.write("kim", update_to(3))

    before = size_of(tmp_path / "gieok.db-wal")
    assert await asyncio.gather(database.write("kim", begin), ask_too()) == [1, 1]
    assert size_of(tmp_path / "gieok.db-wal") - before == PAGE_IN_THE_LOG
    await database.close()


async def test_a_commit_is_shared_by_no_more_than_allowed(tmp_path: Path) -> None:
    """Whoever is one too many has a commit of their own."""
    database = SqliteDatabase(tmp_path / "gieok.db", Limits(batch_units=4))
    await database.write("kim", add)
    before = size_of(tmp_path / "gieok.db-wal")
    await asyncio.gather(*(database.write("kim", update_to(number)) for number in range(2, 11)))
    assert size_of(tmp_path / "gieok.db-wal") - before == 3 * PAGE_IN_THE_LOG
    await database.close()


def wakes_nobody(database: SqliteDatabase, owners: Sequence[str]) -> None:
    """Ask for writes on a loop that ends before it could wake the writer."""
    loop = asyncio.new_event_loop()
    abandoned = [loop.create_task(database.write(owner, add)) for owner in owners]
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()
    assert not any(task.done() for task in abandoned)


def test_a_loop_that_ends_before_it_wakes_the_writer_holds_up_nobody(tmp_path: Path) -> None:
    """What others write is stored, and the database closes."""
    database = SqliteDatabase(tmp_path / "gieok.db")
    wakes_nobody(database, ["kim"])

    async def write() -> int:
        added = await asyncio.wait_for(database.write("lee", add), 30)
        await asyncio.wait_for(database.close(), 30)
        return added

    assert asyncio.run(write()) == 1


def test_a_queue_that_nobody_empties_is_not_full_for_ever(tmp_path: Path) -> None:
    """Who finds it full is refused, and has it emptied."""
    database = SqliteDatabase(tmp_path / "gieok.db", Limits(waiting_units=2))
    wakes_nobody(database, ["kim", "park"])

    async def write() -> bool:
        with pytest.raises(StoreUnavailable, match="2 units of work wait"):
            await database.write("lee", add)
        while not await database.read("park", exists):
            pass
        assert await database.write("lee", add) == 1
        await database.close()
        return True

    assert asyncio.run(asyncio.wait_for(write(), 30))


@pytest.mark.parametrize("batch", [1, 8])
async def test_what_was_asked_for_before_a_crew_ends_is_done(batch: int) -> None:
    """Also by a thread that was at rest and is yet to be woken."""

    def serve(units: list[Unit[object]]) -> None:
        for unit in units:
            unit.run(NO_SESSION)

    crew = Crew("test", [serve], lambda error: error, batch=batch, waiting=8)
    asked = [asyncio.create_task(crew.do(None, lambda _: "done", writes=True)) for _ in range(3)]
    closing = asyncio.create_task(crew.close())
    assert await asyncio.wait_for(asyncio.gather(*asked), 30) == ["done"] * 3
    await closing


@pytest.mark.req("ENG-6")
async def test_a_batch_that_sqlite_itself_ends_is_told_to_all_of_it(tmp_path: Path) -> None:
    """SQLite may roll everything back when one statement fails; then nobody of the batch is told "stored"."""
    path = tmp_path / "gieok.db"
    database = SqliteDatabase(path)
    other = raw(path)
    other.execute(
        "CREATE TRIGGER ends BEFORE INSERT ON owners WHEN NEW.owner = 'owner-2'"
        " BEGIN SELECT raise(ROLLBACK, 'over'); END"
    )
    other.close()
    async with Held(database):
        batch = [asyncio.create_task(database.write(f"owner-{number}", add)) for number in range(5)]
    answers = await asyncio.gather(*batch, return_exceptions=True)
    assert [type(each) for each in answers] == [StoreDamaged] * 5
    assert not any([await database.read(f"owner-{number}", exists) for number in range(5)])
    assert await database.write("owner-0", add) == 1
    await database.close()
