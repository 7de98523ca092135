"""Heavy writes on SQLite: they run on a copy, and other writers do not wait for them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.driver.sqlite import COPY_ATTEMPTS, SqliteDatabase
from gieok.errors import Conflict, NotFound, StoreDamaged

ID = bytes(16)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    opened = SqliteDatabase(tmp_path / "gieok.db")
    for owner in ("ana", "ben"):
        await opened.write(owner, lambda tx: tx.run("add_owner", key_generation=1, created_at="2026"))
    yield opened
    await opened.close()


def add(identity: bytes = ID) -> Callable[[Tx], int]:
    unchained = {"at": 1, "action": "token.created", "subject": None, "number": None, "hash": None}
    return lambda tx: tx.run("add_audit_entry", id=identity, **unchained)


def rotate(tx: Tx) -> int:
    row = tx.one("get_owner")
    assert row
    return tx.run("set_owner_key_generation", key_generation=row[0] + 1)


async def entries(database: SqliteDatabase, owner: str) -> int:
    return len(await database.read(owner, lambda tx: tx.all("list_audit_entries", limit=100)))


async def test_other_owners_write_while_a_heavy_write_runs(database: SqliteDatabase) -> None:
    started, finish = threading.Event(), threading.Event()

    def work(tx: Tx) -> int:
        started.set()
        assert finish.wait(60)
        return add()(tx)

    heavy = asyncio.create_task(database.write("ana", work, heavy=True))
    await asyncio.to_thread(started.wait, 60)
    async with asyncio.timeout(30):
        await database.write("ben", add())
        await database.write("ana", add(b"1" * 16))
    assert await entries(database, "ana") == 1
    finish.set()
    assert await heavy == 1
    assert (await entries(database, "ana"), await entries(database, "ben")) == (2, 1)


async def test_heavy_work_sees_the_rows_of_its_owner_and_its_own(
    database: SqliteDatabase,
) -> None:
    await database.write("ana", add())
    await database.write("ben", add(b"b" * 16))

    def work(tx: Tx) -> int:
        add(b"1" * 16)(tx)
        return len(tx.all("list_audit_entries", limit=100))

    assert await database.write("ana", work, heavy=True) == 2


async def test_a_failure_of_heavy_work_stores_nothing(database: SqliteDatabase) -> None:
    def work(tx: Tx) -> None:
        add()(tx)
        raise NotFound("no")

    with pytest.raises(NotFound):
        await database.write("ana", work, heavy=True)
    assert await entries(database, "ana") == 0


async def test_a_heavy_write_may_create_its_owner(database: SqliteDatabase) -> None:
    def work(tx: Tx) -> int:
        tx.run("add_owner", key_generation=1, created_at="2026")
        return add()(tx)

    await database.write("new", work, heavy=True)
    assert await entries(database, "new") == 1


async def test_foreign_keys_hold_in_a_heavy_write(database: SqliteDatabase) -> None:
    with pytest.raises(StoreDamaged):
        await database.write("unknown", add(), heavy=True)


@pytest.mark.parametrize("disturb", [add(), rotate], ids=["the same row", "a new key"])
async def test_heavy_work_is_repeated_after_a_change_of_its_rows(
    database: SqliteDatabase, disturb: Callable[[Tx], int]
) -> None:
    """As another process would change them: while the work runs on its copy."""
    runs = 0
    loop = asyncio.get_running_loop()

    def work(tx: Tx) -> int:
        nonlocal runs
        runs += 1
        if runs == 1:
            asyncio.run_coroutine_threadsafe(database.write("ana", disturb), loop).result(30)
        return 0 if tx.one("get_audit_entry", id=ID) else add()(tx)

    assert await database.write("ana", work, heavy=True) == (0 if disturb is not rotate else 1)
    assert (runs, await entries(database, "ana")) == (2, 1)


async def test_heavy_work_that_is_disturbed_each_time_is_a_conflict(database: SqliteDatabase) -> None:
    runs = 0
    loop = asyncio.get_running_loop()

    def work(tx: Tx) -> None:
        nonlocal runs
        runs += 1
        asyncio.run_coroutine_threadsafe(database.write("ana", rotate), loop).result(30)
        add()(tx)

    with pytest.raises(Conflict, match="try again"):
        await database.write("ana", work, heavy=True)
    assert runs == COPY_ATTEMPTS
    assert await entries(database, "ana") == 0
