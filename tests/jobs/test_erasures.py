"""Erase jobs: a worker finishes the erasure that a killed process began."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from gieok import Gieok, Persona
from gieok.app.background import jobs
from gieok.app.background.worker import Worker
from gieok.errors import StoreUnavailable
from gieok.memory.jobs.records import JobDraft
from tests.behind import Behind
from tests.turns.run_turn import run_turn

MINA = Persona(name="미나", language="ko", system_prompt="너는 미나야.")


async def test_an_erasure_that_was_cut_off_is_finished(gieok: Gieok, behind: Behind) -> None:
    """The keys of one owner are gone and the rows are not; a worker removes them, and no other's."""
    for owner in ("ana", "ben"):
        await run_turn(gieok.user(owner), "s1", "내일 중요한 면접이 있어", persona=MINA)
    gieok.vault.begin_erasure("ana")
    stop = asyncio.Event()
    working = asyncio.create_task(Worker(gieok, idle_seconds=0.01, erasures_seconds=0).run(stop))
    async with asyncio.timeout(60):
        while await asyncio.to_thread(gieok.vault.unfinished_erasures):
            assert not working.done()
    stop.set()
    await working
    assert behind.run("SELECT DISTINCT owner FROM turn_memories") == [("ben",)]
    assert behind.run("SELECT owner FROM owners") == [("ben",)]
    assert behind.count("jobs") == 0


async def test_an_erasure_that_fails_is_retried_without_the_owner_s_keys(
    gieok: Gieok, behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first attempt fails; the job goes back to the queue with a backoff, and the second one succeeds."""
    await run_turn(gieok.user("ana"), "s1", "내일 중요한 면접이 있어", persona=MINA)
    gieok.vault.begin_erasure("ana")
    worker, now = Worker(gieok, erasures_seconds=0), gieok.engine.clock()

    async def fail(*_: object) -> None:
        raise StoreUnavailable("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "erase_owner", fail)
        assert await worker.run_once(now) == 0, "the process that began it may still be alive"
        assert await worker.run_once(now) == 1
    sql = "SELECT kind, subject, status, error FROM jobs"
    assert behind.run(sql) == [("erase", "ana", "queued", "STORE_UNAVAILABLE")]
    assert await worker.run_once(gieok.engine.clock() + timedelta(seconds=6)) == 1
    assert gieok.vault.unfinished_erasures() == []
    assert [behind.count(table) for table in ("owners", "jobs", "turn_memories")] == [0, 0, 0]


async def test_a_row_in_the_database_is_not_enough_to_destroy_keys(gieok: Gieok, behind: Behind) -> None:
    """An erase job counts only where the keystore says that an erasure was begun."""
    await run_turn(gieok.user("ana"), "s1", "내일 중요한 면접이 있어", persona=MINA)
    now = gieok.engine.clock()
    forged = JobDraft(id=uuid4(), kind="erase", subject="ana", due_at=now)
    await gieok.scope("ana").write(lambda view: view.jobs.add(forged, now))
    assert await Worker(gieok).run_once(now) == 1
    assert behind.run("SELECT status FROM jobs") == [("done",)]
    assert (await run_turn(gieok.user("ana"), "s1", "면접 기억나?", persona=MINA)).recalled


async def test_jobs_run_while_nothing_can_be_discovered(
    gieok: Gieok, behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The keystore is unavailable, so unfinished erasures cannot be read. A job that was claimed runs."""

    def fail() -> list[str]:
        raise StoreUnavailable("the keystore is down")

    monkeypatch.setattr(gieok.vault, "unfinished_erasures", fail)
    now = gieok.engine.clock()
    due = JobDraft(id=uuid4(), kind="walk", subject="s1", due_at=now)
    await gieok.scope("ana").write(lambda view: view.jobs.add(due, now))
    assert await Worker(gieok, erasures_seconds=0).run_once(now) == 1
    assert behind.run("SELECT status FROM jobs") == [("done",)]
