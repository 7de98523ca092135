"""How a claimed job runs: one function per kind, and one place that puts failed jobs back into the queue.

To add a kind: name it in `JobKind`, write its runner here and list it in `_RUNNERS`. A runner settles its
job, in the commit that stores the result or after idempotent work, so that each job takes effect once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from gieok.adapters.sql.lifecycle.owners import erase_owner, rotate_used_key
from gieok.adapters.sql.scope import OwnerScope, SqlView
from gieok.adapters.sql.stores.jobs import JobScope
from gieok.app.background.delivery import deliver_events
from gieok.app.cycles import run_idempotent
from gieok.app.embedding import embed_batch, is_in_force
from gieok.app.session_plans import Role, plan_for
from gieok.engine import ExecutionPlan
from gieok.errors import (
    Conflict,
    GieokError,
    InputRefused,
    NotFound,
    OwnerErased,
    RateLimited,
    StoreDamaged,
    SummaryFailed,
    cause_of,
)
from gieok.memory.canon.records import FactChange
from gieok.memory.canon.remembering import Remembered
from gieok.memory.cycle_records import CycleSubject
from gieok.memory.jobs.records import ClaimedJob, Job, JobKind, JobOutcome, JobStatus
from gieok.memory.jobs.rules import after_batch
from gieok.memory.observations import Refusal
from gieok.memory.requests import RequestKey
from gieok.text import ANALYZER_VERSION

if TYPE_CHECKING:
    from gieok.app import Gieok

_log = logging.getLogger(__name__)

MAX_JOBS = 1000
POLL_SECONDS = 0.02
LEASE = timedelta(minutes=5)
"""How long a claim lasts. Longer than a cycle can take, so that a live worker keeps its job."""
REINDEX_BATCH = 100
"""How many rows are re-indexed in one transaction: few, because writers wait for it."""
ANALYZER = str(ANALYZER_VERSION)
"""The analyzer version of this process."""

PUT_BACK_PLAN = "put_back_job"

JobPlans = Mapping[JobKind, str | ExecutionPlan]
JOB_PLANS: JobPlans = {"walk": "walk_anchors", "excerpt": "replace_excerpt"}
"""Plans by kind of job. The plan gets the job as `request.job` and settles it.

A plan that a program gives for a kind in `SESSION_ROLES` replaces the one that the session's chat plan names.
"""
SESSION_ROLES: Mapping[JobKind, Role] = {
    "remember": "remember",
    "summary": "summarize",
    "watch": "close_inactive",
}
"""The kinds that work on a session, and the role of their plan among those that its chat plan names."""


@dataclass(frozen=True)
class Remembering:
    """A job that remembers exchanges: its state, and once it is done what it changed and refused."""

    job_id: UUID
    status: JobStatus
    changes: tuple[FactChange, ...] = ()
    dropped: tuple[Refusal, ...] = ()


class Jobs:
    """One owner's background jobs."""

    def __init__(self, gieok: Gieok, scope: OwnerScope) -> None:
        self._gieok = gieok
        self._scope = scope

    async def get(self, job_id: UUID) -> Job:
        """The current state of a job. Raises NotFound."""
        job = await self._scope.read(lambda view: view.jobs.get(job_id))
        if job is None:
            raise NotFound(f"there is no job {job_id}")
        return job

    async def list(
        self, *, status: JobStatus | None = None, limit: int = 50, after: UUID | None = None
    ) -> Sequence[Job]:
        """Jobs, newest first. For the next page, `after` is the id of the last job seen."""
        if not 1 <= limit <= MAX_JOBS:
            raise InputRefused(f"must be 1 to {MAX_JOBS}", at="limit")
        return await self._scope.read(
            lambda view: view.jobs.list(status=status, after=after, limit=limit), replica=True
        )

    async def retry(self, job_id: UUID, *, once: RequestKey | None = None) -> Job:
        """Run a failed job again. Raises NotFound, Conflict if it has not failed.

        `once` is an idempotency key: a repeated request returns the job as it is now.
        """
        now, cycles = self._gieok.engine.clock(), self._gieok.cycles(self._scope)

        async def retry(request: RequestKey | None) -> Job:
            def work(view: SqlView) -> Job:
                job = view.jobs.retry(job_id, now)
                if request is not None:
                    cycles.save_result(view, request, str(job_id))
                return job

            return await self._scope.write(work)

        async def replay(stored: str) -> Job:
            return await self.get(UUID(stored))

        job = await run_idempotent(cycles, once, "retry_job", retry, replay)
        self._gieok.job_queued.set()
        return job

    async def result(self, job_id: UUID) -> Remembered | None:
        """What a remember job changed and refused. None for other jobs, or while there is no result."""
        return await self._scope.read(lambda view: view.remembered.get(job_id))

    async def remembering(self, job_id: UUID) -> Remembering:
        """A remember job with its result."""
        job, result = await self.get(job_id), await self.result(job_id)
        if result is None:
            return Remembering(job_id, job.status)
        return Remembering(job_id, job.status, result.changes, result.dropped)

    async def run(self, job_id: UUID) -> Job:
        """Run a job in this process if it is due and no worker has claimed it. Returns its state."""
        now = self._gieok.engine.clock()
        claimed = await self._scope.write(lambda view: view.jobs.claim(job_id, now, now + LEASE))
        if claimed is not None:
            await run_job(self._gieok, ClaimedJob(self._scope.owner, claimed))
        return await self.get(job_id)

    async def catch_up(self, lane: str) -> None:
        """Run the jobs of a lane that are due, in order, and wait for those that another worker runs. Returns
        early if one of them fails."""
        while await self._advance(lane):
            pass

    async def wait(self, job_id: UUID) -> Remembering:
        """Run a remember job here, after the earlier ones of its lane, or wait for the worker that runs it.

        Returns early if one of them has failed and waits for its next attempt.
        """
        while (job := await self.get(job_id)).status in ("queued", "running"):
            if not await self._advance(job.lane or ""):
                break
        return await self.remembering(job_id)

    async def _advance(self, lane: str) -> bool:
        """Run the first job of a lane, or give the worker that runs it a moment. False if it failed or waits
        for its next attempt, or if there is none."""
        now = self._gieok.engine.clock()
        claimed = await self._scope.write(lambda view: view.jobs.claim_first(lane, now, now + LEASE))
        if claimed is not None:
            return await run_job(self._gieok, ClaimedJob(self._scope.owner, claimed))
        first = await self._scope.read(lambda view: view.jobs.first(lane))
        if first is None or (first.status == "queued" and first.due_at and first.due_at > now):
            return False
        await asyncio.sleep(POLL_SECONDS)
        return True


async def run_job(gieok: Gieok, claimed: ClaimedJob) -> bool:
    """Run a job and return whether it succeeded. A failed job goes back to the queue, with a backoff.

    A worker that lost its lease, or whose owner was erased meanwhile, changes nothing.
    """
    job = claimed.job
    try:
        await _RUNNERS[job.kind](gieok, claimed)
    except GieokError as error:
        cause = cause_of(error)
        if isinstance(cause, OwnerErased):
            return False
        failure = cause if isinstance(cause, GieokError) else error
        _log.warning("job %s (%s) failed: %s", job.id, job.kind, failure.code)
        await _put_back(gieok, claimed, failure)
        return False
    return True


async def runnable_kinds(gieok: Gieok) -> tuple[JobKind, ...]:
    """The kinds of job that this process can run: `embed` only while its embedder is in force, `archive` only
    with an archive."""
    vector_search = gieok.vector_search
    can_embed = vector_search is not None and await is_in_force(gieok.database, vector_search)
    can_run = {"embed": can_embed, "archive": gieok.archive is not None}
    return tuple(kind for kind in _RUNNERS if can_run.get(kind, True))


async def _put_back(gieok: Gieok, claimed: ClaimedJob, failure: GieokError) -> None:
    """Queue a failed job for a retry, or mark it as failed. This also works without the owner's keys."""
    request = {
        "job": claimed.job,
        "code": failure.code,
        "isFinal": isinstance(failure, SummaryFailed) and claimed.job.kind == "summary",
        "retryAfter": failure.retry_after if isinstance(failure, RateLimited) else None,
    }
    try:
        scope = JobScope(gieok.database, claimed.owner)
        await gieok.engine.run(gieok.check(PUT_BACK_PLAN), scope, request)
    except GieokError as error:
        _log.warning("job %s waits for its lease to expire, or has lost it: %s", claimed.job.id, error.code)


async def _run_plan(gieok: Gieok, claimed: ClaimedJob) -> None:
    job, scope = claimed.job, gieok.scope(claimed.owner)
    plan = gieok.job_plans.get(job.kind) or await _session_plan(gieok, scope, job)
    is_shown = job.kind in ("remember", "summary")  # a watch would take the place of records that say more
    subject = CycleSubject(session_ref=job.subject, job_id=job.id) if is_shown else None
    await gieok.cycles(scope).run(plan, {"job": job}, subject=subject)


async def _session_plan(gieok: Gieok, scope: OwnerScope, job: Job) -> str:
    session = await scope.read(lambda view: view.sessions.get(job.subject))
    if session is None:
        raise StoreDamaged(f"the session of job {job.id} is missing; restore a backup")
    return plan_for(gieok.engine.registry, session, SESSION_ROLES[job.kind])


async def _replace_excerpt(gieok: Gieok, claimed: ClaimedJob) -> None:
    """Summarise the messages of an excerpt. Nothing is left to do if it was deleted or rewritten."""
    job, scope = claimed.job, gieok.scope(claimed.owner)

    def settle_if_gone(view: SqlView) -> bool:
        is_gone = view.companion.source(UUID(job.subject)) is None
        if is_gone:
            view.jobs.settle(job, JobOutcome(status="done"))
        return is_gone

    if not await scope.write(settle_if_gone):
        await _run_plan(gieok, claimed)


async def _embed(gieok: Gieok, claimed: ClaimedJob) -> None:
    """Embed one batch of a persona's memories."""
    if gieok.vector_search is None:
        raise InputRefused("there is no embedder; set GIEOK_EMBEDDER, or open Gieok with one")
    job, persona_id, space = claimed.job, claimed.job.subject, gieok.vector_search.space
    scope = gieok.scope(claimed.owner)
    await embed_batch(gieok.cycles(scope), persona_id, space)
    now = gieok.engine.clock()

    def settle(view: SqlView) -> None:
        has_more = not view.vectors.is_finished(persona_id, space)
        view.jobs.settle(job, after_batch(has_more=has_more, now=now))

    await scope.write(settle)


async def _reindex(gieok: Gieok, claimed: ClaimedJob) -> None:
    """Re-index one batch of an owner's rows with the analyzer of this process.

    Texts are found by the terms that they were stored under. Until this is done, a search may miss what
    another analyzer indexed.
    """
    job, now = claimed.job, gieok.engine.clock()
    if job.subject != ANALYZER:
        raise Conflict(
            f"job {job.id} is for analyzer {job.subject}, but this process has analyzer {ANALYZER}"
        )

    def reindex_batch(view: SqlView) -> None:
        has_more = False
        for name, reindex in view.reindexes.items():
            after = view.search_indexes.lock(name, ANALYZER)
            if after is not None:
                view.search_indexes.move(name, ANALYZER, reindex(after, REINDEX_BATCH))
                has_more = True
                break
        view.jobs.settle(job, after_batch(has_more=has_more, now=now))

    await OwnerScope(gieok.database, gieok.vault, claimed.owner, archive=gieok.archive).write(reindex_batch)


async def _index(gieok: Gieok, claimed: ClaimedJob) -> None:
    """Index one batch of the facts and messages that an older release stored. The migration that made them
    searchable queues this."""
    now = gieok.engine.clock()

    def index_batch(view: SqlView) -> None:
        indexed = view.facts.index_missing(REINDEX_BATCH) or view.messages.index_missing(REINDEX_BATCH)
        view.jobs.settle(claimed.job, after_batch(has_more=indexed > 0, now=now))

    await gieok.scope(claimed.owner).write(index_batch)


async def _merge_facts(gieok: Gieok, claimed: ClaimedJob) -> None:
    """Retire the older ones of facts that share a slot. The migration that introduced slots queues this."""
    now = gieok.engine.clock()

    def merge(view: SqlView) -> None:
        view.facts.consolidate(at=now)
        view.jobs.settle(claimed.job, JobOutcome(status="done"))

    await gieok.scope(claimed.owner).write(merge)


async def _rotate(gieok: Gieok, claimed: ClaimedJob) -> None:
    """Replace a data key before it has sealed too many values. Nothing is left to do if that has happened.

    A worker that dies while it reseals leaves rows under both keys, which stay readable; the next rotation
    destroys the older keys.
    """
    job, now = claimed.job, gieok.engine.clock()
    rows = await rotate_used_key(
        gieok.database, gieok.vault, claimed.owner, int(job.subject), now, gieok.archive
    )
    _log.info("job %s has resealed %d rows under a new data key", job.id, rows)
    await gieok.scope(claimed.owner).write(lambda view: view.jobs.settle(job, JobOutcome(status="done")))


async def _move_texts(gieok: Gieok, claimed: ClaimedJob) -> None:
    """Move the text of one batch of old messages to the archive."""
    now = gieok.engine.clock()
    has_more = gieok.archive is not None and await gieok.archive.move_texts(claimed.owner, now)
    await gieok.scope(claimed.owner).write(
        lambda view: view.jobs.settle(claimed.job, after_batch(has_more=has_more, now=now))
    )


async def _erase(gieok: Gieok, claimed: ClaimedJob) -> None:
    """Finish an erasure; the job is deleted with the owner's other rows.

    Only if the keystore says that it was begun: a row in the database must not be enough to destroy keys.
    """
    if await asyncio.to_thread(gieok.vault.is_erased, claimed.owner):
        await erase_owner(gieok.database, gieok.vault, claimed.owner, gieok.consumers, gieok.cache)
        return
    _log.warning("job %s is ignored: the keystore has no erasure of its owner", claimed.job.id)
    await JobScope(gieok.database, claimed.owner).write(
        lambda view: view.jobs.settle(claimed.job, JobOutcome(status="done"))
    )


_RUNNERS: Mapping[JobKind, Callable[[Gieok, ClaimedJob], Awaitable[None]]] = {
    **dict.fromkeys((*SESSION_ROLES, *JOB_PLANS), _run_plan),
    "excerpt": _replace_excerpt,
    "embed": _embed,
    "reindex": _reindex,
    "index": _index,
    "merge": _merge_facts,
    "rotate": _rotate,
    "archive": _move_texts,
    "deliver": deliver_events,
    "erase": _erase,
}
