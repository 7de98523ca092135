"""Workers serve owners in turn, and jobs that a wrong clock has put into the future run."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from gieok import Gieok
from gieok.adapters.sql.stores.jobs import SqlJobStore
from gieok.app.background import worker as working
from gieok.app.background.worker import Worker
from gieok.memory.jobs.records import ClaimedJob, JobDraft, JobOutcome
from gieok.testing.clock import Clock
from tests.behind import Behind


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The owners of the jobs that ran, in order. The jobs are settled and do nothing else."""
    owners: list[str] = []

    async def run_job(gieok: Gieok, claimed: ClaimedJob) -> bool:
        owners.append(claimed.owner)
        await gieok.scope(claimed.owner).write(
            lambda view: view.jobs.settle(claimed.job, JobOutcome(status="done"))
        )
        return True

    monkeypatch.setattr(working, "run_job", run_job)
    return owners


async def queue(gieok: Gieok, owner: str, count: int, clock: Clock) -> list[UUID]:
    await gieok.user(owner).profile.set(display_name=owner)
    drafts = [JobDraft(id=uuid4(), kind="walk", subject="s1", due_at=clock()) for _ in range(count)]

    def add(store: SqlJobStore) -> None:
        for draft in drafts:
            store.add(draft, clock())

    await gieok.scope(owner).write(lambda view: add(view.jobs))
    return [draft.id for draft in drafts]


async def test_an_owner_with_1000_jobs_does_not_delay_others(gieok: Gieok, ran: list[str]) -> None:
    """Five owners have many jobs; the job of a sixth one, queued last, is among the next few."""
    clock = Clock()
    await queue(gieok, "many", 1000, clock)
    for number in range(4):
        await queue(gieok, f"busy-{number}", 50, clock)
    worker = Worker(gieok)
    await worker.run_once(clock.advance(seconds=1))
    await queue(gieok, "late", 1, clock)
    before = len(ran)
    for _ in range(3):
        await worker.run_once(clock.advance(seconds=1))
    assert "late" in ran[before:]
    assert ran[before:].index("late") < 8
    assert set(ran) == {"many", "late", *(f"busy-{number}" for number in range(4))}


async def test_one_owner_alone_uses_all_workers(gieok: Gieok, ran: list[str]) -> None:
    clock = Clock()
    await queue(gieok, "many", 8, clock)
    assert await Worker(gieok, jobs_at_once=4).run_once(clock.advance(seconds=1)) == 4
    assert ran == ["many"] * 4


async def test_a_job_queued_while_the_clock_was_ahead_runs(gieok: Gieok, ran: list[str]) -> None:
    clock = Clock()
    ahead = Clock(clock() + timedelta(days=400))
    await queue(gieok, "mina", 1, ahead)
    worker = Worker(gieok)
    await worker.run_once(clock())
    await worker.run_once(clock.advance(seconds=1))
    assert ran == ["mina"]


async def test_a_claim_of_a_clock_that_was_ahead_expires(
    gieok: Gieok, ran: list[str], behind: Behind
) -> None:
    clock = Clock()
    (job_id,) = await queue(gieok, "mina", 1, clock)
    ahead = clock() + timedelta(days=400)
    await gieok.scope("mina").write(lambda view: view.jobs.claim(job_id, ahead, ahead + timedelta(minutes=5)))
    worker = Worker(gieok)
    await worker.run_once(clock())
    await worker.run_once(clock.advance(seconds=1))
    assert ran == ["mina"]
    assert behind.run("SELECT status FROM jobs") == [("done",)]


async def test_a_job_that_is_due_later_is_left_alone(gieok: Gieok, ran: list[str]) -> None:
    """A watch of a week is no mistake of the clock."""
    clock = Clock()
    await gieok.user("mina").profile.set(display_name="x")
    draft = JobDraft(id=uuid4(), kind="walk", subject="s1", due_at=clock() + timedelta(days=7))
    await gieok.scope("mina").write(lambda view: view.jobs.add(draft, clock()))
    worker = Worker(gieok)
    await worker.run_once(clock())
    await worker.run_once(clock.advance(days=1))
    assert ran == []
    await worker.run_once(clock.advance(days=7))
    assert ran == ["mina"]
