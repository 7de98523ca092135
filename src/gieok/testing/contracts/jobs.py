"""Contract suite for stores of jobs. Subclass it and define the fixtures `job_scope_of` and `claim_due`.

class TestMyStore(JobStoreContract):
    @pytest.fixture
    def job_scope_of(self): ...   # owner → a scope with async `read(work)` and `write(work)`
    @pytest.fixture
    def claim_due(self): ...      # async (now, lease_until, limit) → jobs of any owner that are due
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeVar
from uuid import UUID, uuid4

import pytest

from gieok.errors import Conflict
from gieok.memory.jobs.records import ClaimedJob, Job, JobDraft, JobKind, JobOutcome
from gieok.memory.jobs.store import JobView

T = TypeVar("T")
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
LEASE = timedelta(minutes=5)


class JobScope(Protocol):
    """One owner's jobs, with one transaction per call."""

    async def read(self, work: Callable[[JobView], T]) -> T: ...
    async def write(self, work: Callable[[JobView], T]) -> T: ...


JobScopeOf = Callable[[str], JobScope]
ClaimDue = Callable[[datetime, datetime, int], Awaitable[Sequence[ClaimedJob]]]


async def queue(scope: JobScope, *, minute: int = 0, kind: JobKind = "summary", seq: int = 1) -> UUID:
    """Queue a job that is due this many minutes after the start."""
    draft = JobDraft(
        id=uuid4(),
        kind=kind,
        subject="s",
        first_seq=seq,
        last_seq=seq,
        due_at=START + timedelta(minutes=minute),
    )
    await scope.write(lambda view: view.jobs.add(draft, START))
    return draft.id


async def get(scope: JobScope, job_id: UUID) -> Job:
    job = await scope.read(lambda view: view.jobs.get(job_id))
    assert job is not None
    return job


async def settle(scope: JobScope, job: Job, outcome: JobOutcome) -> None:
    await scope.write(lambda view: view.jobs.settle(job, outcome))


class JobStoreContract:
    """Run against every store of jobs."""

    @pytest.mark.req("COMP-8")
    async def test_due_jobs_are_claimed_once_longest_due_first(
        self, job_scope_of: JobScopeOf, claim_due: ClaimDue
    ) -> None:
        minsu, jiyoung = job_scope_of("minsu"), job_scope_of("jiyoung")
        late, later = await queue(minsu, minute=2), await queue(jiyoung, minute=1)
        await queue(minsu, minute=9)
        now = START + timedelta(minutes=5)
        claimed = await claim_due(now, now + LEASE, 10)
        assert [(each.owner, each.job.id) for each in sorted(claimed, key=lambda one: one.owner)] == [
            ("jiyoung", later),
            ("minsu", late),
        ]
        assert {(each.job.status, each.job.attempts, each.job.fence) for each in claimed} == {
            ("running", 1, 1)
        }
        assert list(await claim_due(now, now + LEASE, 10)) == []

    async def test_a_claim_respects_its_limit(self, job_scope_of: JobScopeOf, claim_due: ClaimDue) -> None:
        scope = job_scope_of("minsu")
        ids = [await queue(scope, minute=minute) for minute in range(3)]
        now = START + timedelta(minutes=5)
        taken = [(await claim_due(now, now + LEASE, 1))[0].job.id for _ in range(3)]
        assert taken == ids

    async def test_concurrent_workers_never_claim_the_same_job(
        self, job_scope_of: JobScopeOf, claim_due: ClaimDue
    ) -> None:
        scope = job_scope_of("minsu")
        ids = {await queue(scope) for _ in range(12)}
        claims = await asyncio.gather(*(claim_due(START, START + LEASE, 4) for _ in range(6)))
        taken = [each.job.id for claimed in claims for each in claimed]
        taken += [each.job.id for each in await claim_due(START, START + LEASE, 20)]
        assert sorted(taken) == sorted(ids)

    async def test_an_expired_lease_is_claimed_by_another_worker(
        self, job_scope_of: JobScopeOf, claim_due: ClaimDue
    ) -> None:
        """The first worker can no longer settle the job."""
        scope = job_scope_of("minsu")
        job_id = await queue(scope)
        (first,) = await claim_due(START, START + LEASE, 1)
        later = START + LEASE
        (second,) = await claim_due(later, later + LEASE, 1)
        assert (second.job.id, second.job.attempts, second.job.fence) == (job_id, 2, 2)
        with pytest.raises(Conflict, match=str(job_id)):
            await settle(scope, first.job, JobOutcome(status="done", memory_id=uuid4()))
        assert await get(scope, job_id) == second.job

    async def test_a_settled_job_is_done_and_cannot_be_settled_again(
        self, job_scope_of: JobScopeOf, claim_due: ClaimDue
    ) -> None:
        scope = job_scope_of("minsu")
        job_id, memory_id = await queue(scope), uuid4()
        (claimed,) = await claim_due(START, START + LEASE, 1)
        await settle(scope, claimed.job, JobOutcome(status="done", memory_id=memory_id))
        done = await get(scope, job_id)
        assert (done.status, done.memory_id, done.due_at) == ("done", memory_id, None)
        with pytest.raises(Conflict):
            await settle(scope, claimed.job, JobOutcome(status="failed", error="STEP_FAILED"))
        far = START + timedelta(days=365)
        assert list(await claim_due(far, far + LEASE, 10)) == []

    async def test_a_requeued_job_keeps_its_memory(
        self, job_scope_of: JobScopeOf, claim_due: ClaimDue
    ) -> None:
        scope = job_scope_of("minsu")
        job_id, memory_id = await queue(scope), uuid4()
        again = START + timedelta(minutes=15)
        (first,) = await claim_due(START, START + LEASE, 1)
        await settle(scope, first.job, JobOutcome(status="queued", due_at=again, memory_id=memory_id))
        assert list(await claim_due(again - timedelta(seconds=1), again + LEASE, 1)) == []
        (second,) = await claim_due(again, again + LEASE, 1)
        assert second.job.memory_id == memory_id
        assert second.job.attempts == 1, "a success resets the attempts"
        await settle(scope, second.job, JobOutcome(status="queued", due_at=again, error="STORE_UNAVAILABLE"))
        put_back = await get(scope, job_id)
        assert (put_back.memory_id, put_back.attempts) == (memory_id, 1)

    async def test_a_job_is_claimed_by_id_only_while_it_is_due(self, job_scope_of: JobScopeOf) -> None:
        scope = job_scope_of("minsu")
        job_id = await queue(scope, minute=1)
        due = START + timedelta(minutes=1)

        async def claim(owner: JobScope, at: datetime) -> Job | None:
            return await owner.write(lambda view: view.jobs.claim(job_id, at, at + LEASE))

        assert await claim(scope, START) is None
        assert await claim(job_scope_of("jiyoung"), due) is None
        assert await claim(scope, due) is not None
        assert await claim(scope, due) is None

    async def test_unfinished_summaries_are_those_without_a_memory(
        self, job_scope_of: JobScopeOf, claim_due: ClaimDue
    ) -> None:
        scope = job_scope_of("minsu")
        await queue(scope, kind="watch", minute=9)
        second, first = await queue(scope, seq=2, minute=9), await queue(scope, seq=1, minute=9)
        done = await queue(scope, seq=3)
        (claimed,) = await claim_due(START, START + LEASE, 10)
        assert claimed.job.id == done
        await settle(scope, claimed.job, JobOutcome(status="done", memory_id=uuid4()))
        left = await scope.read(lambda view: view.jobs.unfinished_summaries("s"))
        assert [job.id for job in left] == [first, second]
        assert (
            list(await job_scope_of("jiyoung").read(lambda view: view.jobs.unfinished_summaries("s"))) == []
        )

    async def test_a_failed_summary_can_be_retried(
        self, job_scope_of: JobScopeOf, claim_due: ClaimDue
    ) -> None:
        scope = job_scope_of("minsu")
        job_id = await queue(scope)
        (claimed,) = await claim_due(START, START + LEASE, 1)
        await settle(scope, claimed.job, JobOutcome(status="failed", error="LLM_SUMMARY_FAILED"))
        assert list(await claim_due(START, START + LEASE, 1)) == []
        assert await scope.write(lambda view: view.jobs.retry_summaries("s", START)) == 1
        retried = await get(scope, job_id)
        assert (retried.status, retried.attempts, retried.error) == ("queued", 0, None)
        assert await scope.write(lambda view: view.jobs.retry_summaries("s", START)) == 0

    async def test_adding_a_job_twice_queues_it_once(self, job_scope_of: JobScopeOf) -> None:
        scope = job_scope_of("minsu")
        draft = JobDraft(id=uuid4(), kind="watch", subject="s", due_at=START)
        await scope.write(lambda view: view.jobs.add(draft, START))
        await scope.write(
            lambda view: view.jobs.add(draft.model_copy(update={"due_at": START + LEASE}), START)
        )
        assert (await get(scope, draft.id)).due_at == START

    async def test_a_finished_job_can_be_queued_again(
        self, job_scope_of: JobScopeOf, claim_due: ClaimDue
    ) -> None:
        scope = job_scope_of("minsu")
        draft = JobDraft(id=uuid4(), kind="embed", subject="hana", due_at=START)
        later = draft.model_copy(update={"due_at": START + LEASE})
        await scope.write(lambda view: view.jobs.requeue(draft, START))
        await scope.write(lambda view: view.jobs.requeue(later, START))
        assert (await get(scope, draft.id)).due_at == START, "it is queued already"
        (claimed,) = await claim_due(START, START + LEASE, 1)
        await scope.write(lambda view: view.jobs.requeue(later, START))
        assert (await get(scope, draft.id)).status == "running"
        await settle(scope, claimed.job, JobOutcome(status="done"))
        await scope.write(lambda view: view.jobs.requeue(later, START))
        again = await get(scope, draft.id)
        assert (again.status, again.attempts, again.due_at) == ("queued", 0, later.due_at)

    async def test_a_job_with_a_new_subject_is_lost_to_the_worker_that_has_it(
        self, job_scope_of: JobScopeOf, claim_due: ClaimDue
    ) -> None:
        scope = job_scope_of("minsu")
        draft = JobDraft(id=uuid4(), kind="reindex", subject="3", due_at=START)
        await scope.write(lambda view: view.jobs.requeue(draft, START))
        (claimed,) = await claim_due(START, START + LEASE, 1)
        newer = draft.model_copy(update={"subject": "4"})
        await scope.write(lambda view: view.jobs.requeue(newer, START))
        with pytest.raises(Conflict):
            await settle(scope, claimed.job, JobOutcome(status="done"))
        assert (await get(scope, draft.id)).subject == "4"
