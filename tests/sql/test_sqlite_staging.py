"""Large commits on SQLite in parts: others write in between, and nobody sees half of one."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gieok import Gieok
from gieok.adapters.sql.driver import sqlite, sqlite_copy, sqlite_staging
from gieok.adapters.sql.driver.database import Session, Tx
from gieok.adapters.sql.driver.sqlite import SqliteDatabase
from gieok.errors import OutcomeUnknown, StoreUnavailable
from tests.owner_data.world import export, fill, pieces, records
from tests.sql.killed_commit import ENTRIES, add_entries
from tests.sql.raw import raw
from tests.sql.test_sqlite_copy import add

LAST = bytes([ENTRIES - 1]) * 16


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every changed row is a part of its own."""
    monkeypatch.setattr(sqlite_copy, "PART_BYTES", 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gieok.db"


@pytest.fixture
async def database(path: Path) -> AsyncIterator[SqliteDatabase]:
    opened = SqliteDatabase(path)
    for owner in ("ana", "ben"):
        await opened.write(owner, lambda tx: tx.run("add_owner", key_generation=1, created_at="2026"))
    yield opened
    await opened.close()


async def entries(database: SqliteDatabase, owner: str = "ana") -> int:
    return len(await database.read(owner, lambda tx: tx.all("list_audit_entries", limit=100)))


def staged(path: Path) -> list[int]:
    """How many rows of commits and of parts there are."""
    connection = raw(path)
    tables = ("staged_commits", "staged_changes")
    counts = [connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0] for table in tables]
    connection.close()
    return counts


async def test_others_write_between_the_parts(
    database: SqliteDatabase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not only before the first part and after the last one."""
    order: list[str] = []
    advance = sqlite_staging.advance

    def recorded(session: Session, owner: str) -> bool:
        order.append("part")
        return advance(session, owner)

    async def write_as_ben() -> None:
        while True:
            await database.write("ben", lambda tx: tx.one("get_owner"))
            order.append("ben")

    monkeypatch.setattr(sqlite, "advance", recorded)
    writing = asyncio.create_task(write_as_ben())
    await database.write("ana", add_entries, heavy=True)
    writing.cancel()
    parts = [at for at, what in enumerate(order) if what == "part"]
    assert len(parts) == ENTRIES
    assert all("ben" in order[one:other] for one, other in itertools.pairwise(parts))
    assert (await entries(database), staged(path)) == (ENTRIES, [0, 0])


async def test_the_owner_sees_all_parts_or_none(database: SqliteDatabase, path: Path) -> None:
    """In this process and in another one; a reader who comes in between helps to finish."""
    elsewhere = SqliteDatabase(path)
    heavy = asyncio.create_task(database.write("ana", add_entries, heavy=True))
    seen: list[int] = []
    while not heavy.done():
        seen += [await entries(database), await entries(elsewhere)]
        await asyncio.sleep(0)
    await heavy
    assert set(seen) <= {0, ENTRIES}
    assert await entries(elsewhere) == ENTRIES
    await elsewhere.close()


STEPS = [
    ("begin", 0),
    ("add", 0),
    ("add", 7),
    ("hold", 0),
    ("advance", 0),
    ("advance", 1),
    ("advance", ENTRIES - 1),
    ("check_stored", 0),
    ("delete_part", 5),
]


@pytest.mark.req("OPS-3", "ENG-6")
@pytest.mark.parametrize(("method", "calls"), STEPS)
async def test_a_killed_commit_is_stored_whole_or_not_at_all(
    database: SqliteDatabase, path: Path, method: str, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is stored from the small commit on that holds the owner. What remains is deleted by a later one."""
    command = [sys.executable, "-m", "tests.sql.killed_commit", str(path), method, str(calls)]
    ran = await asyncio.to_thread(subprocess.run, command, capture_output=True, check=False)
    assert ran.returncode == -9, ran.stderr
    is_held = method in ("advance", "check_stored", "delete_part")
    assert await entries(database, "ben") == 0
    assert await entries(database) == (ENTRIES if is_held else 0)
    monkeypatch.setattr(sqlite_staging, "ABANDONED_MICROSECONDS", -1)
    await database.write("ben", add_entries, heavy=True)
    assert staged(path) == [0, 0]


async def test_an_owner_with_an_unfinished_commit_can_be_written_to(
    database: SqliteDatabase, path: Path
) -> None:
    command = [sys.executable, "-m", "tests.sql.killed_commit", str(path), "advance", "3"]
    await asyncio.to_thread(subprocess.run, command, capture_output=True, check=False)

    def count(tx: Tx) -> int:
        return len(tx.all("list_audit_entries", limit=100))

    assert await database.write("ana", count) == ENTRIES
    assert await database.write("ana", count, heavy=True) == ENTRIES


@pytest.mark.parametrize("taken", [bytes(16), LAST], ids=["first part", "last part"])
async def test_parts_that_do_not_fit_are_undone_and_the_work_is_repeated(
    database: SqliteDatabase, path: Path, taken: bytes
) -> None:
    runs = 0
    loop = asyncio.get_running_loop()

    def work(tx: Tx) -> None:
        nonlocal runs
        runs += 1
        if runs == 1:
            asyncio.run_coroutine_threadsafe(database.write("ana", add(taken)), loop).result(30)
            add_entries(tx)
        else:
            assert tx.one("get_audit_entry", id=taken)
            add(b"x" * 16)(tx)
            add(b"y" * 16)(tx)

    await database.write("ana", work, heavy=True)
    assert (runs, await entries(database), staged(path)) == (2, 3, [0, 0])


async def test_a_cancelled_caller_learns_that_the_commit_was_stored(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    heavy: asyncio.Task[None]
    advance = sqlite_staging.advance
    loop = asyncio.get_running_loop()

    def cancelling(session: Session, owner: str) -> bool:
        loop.call_soon_threadsafe(heavy.cancel)
        return advance(session, owner)

    monkeypatch.setattr(sqlite, "advance", cancelling)
    heavy = asyncio.create_task(database.write("ana", add_entries, heavy=True))
    await heavy
    assert await entries(database) == ENTRIES


async def test_a_failure_while_parts_are_applied_is_an_unknown_outcome(
    database: SqliteDatabase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The owner's next transaction finishes the commit."""

    def broken(_session: Session, _owner: str) -> bool:
        raise StoreUnavailable("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(sqlite, "advance", broken)
        with pytest.raises(OutcomeUnknown, match="the disk is full"):
            await database.write("ana", add_entries, heavy=True)
        assert staged(path) == [1, ENTRIES]
    assert await entries(database) == ENTRIES


@pytest.mark.req("OPS-3")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_an_import_in_many_parts_restores_an_export(gieok: Gieok, steps: list[int]) -> None:
    """Each row is a part, so that every table's references are in order."""
    await fill(gieok.user("minsu"))
    taken = await export(gieok.user("minsu"))
    await gieok.user("jiyoung").data.import_(pieces(taken))
    again = records(await export(gieok.user("jiyoung")))
    assert [each for each in again if each["kind"] != "audit"] == [
        each for each in records(taken) if each["kind"] != "audit"
    ]
    assert len(steps) > len(again)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each part that was applied."""
    seen: list[int] = []
    advance: Any = sqlite_staging.advance

    def counted(session: Session, owner: str) -> bool:
        seen.append(1)
        return advance(session, owner)

    monkeypatch.setattr(sqlite, "advance", counted)
    return seen
