"""Jobs in SQL: a lease that expires, and a fencing token that only the newest claim has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TypeVar, get_args
from uuid import UUID

from gieok.adapters.sql.driver.database import Database, Row, SystemTx, Tx, Value, from_micros, to_micros
from gieok.adapters.sql.stores.notices import SqlNoticeStore
from gieok.errors import Conflict, NotFound
from gieok.memory.jobs.records import (
    ClaimedJob,
    Job,
    JobCount,
    JobDraft,
    JobKind,
    JobOutcome,
    JobPosition,
    JobStatus,
    ServiceJob,
)
from gieok.refs import check_ref

T = TypeVar("T")
_END = 2**63 - 1, b"\xff" * 16
"""After every job in the list of jobs, which is sorted from the newest to the oldest."""
CLOCK_TOLERANCE = timedelta(hours=1)
"""A job that was created so much later than now was created by a clock that was ahead."""
LONGEST_RETRY = timedelta(days=2)
"""No retry waits for longer than this."""


class SqlJobStore:
    """One owner's jobs inside one transaction. They hold no content, so nothing is sealed."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def add(self, draft: JobDraft, at: datetime) -> None:
        self._queue("add_job", draft, at, lane=draft.lane)

    def requeue(self, draft: JobDraft, at: datetime) -> None:
        self._queue("requeue_job", draft, at)

    def get(self, job_id: UUID) -> Job | None:
        row = self._tx.one("get_job", id=job_id.bytes)
        return _job(row) if row else None

    def list(self, *, status: JobStatus | None, after: UUID | None, limit: int) -> list[Job]:
        created_at, last = _END
        if after is not None:
            job = self.get(after)
            if job is None:
                raise NotFound(f"there is no job {after}")
            created_at, last = to_micros(job.created_at), after.bytes
        page: dict[str, Value] = {"created_at": created_at, "id": last, "limit": limit}
        if status is None:
            return [_job(row) for row in self._tx.all("list_jobs", **page)]
        return [_job(row) for row in self._tx.all("list_jobs_by_status", status=status, **page)]

    def unfinished_summaries(self, session_ref: str) -> list[Job]:
        rows = self._tx.all("list_unfinished_summaries", session_ref=check_ref(session_ref, "sessionRef"))
        return [_job(row) for row in rows]

    def summaries(self, session_ref: str) -> list[Job]:
        rows = self._tx.all("list_summaries", session_ref=check_ref(session_ref, "sessionRef"))
        return [_job(row) for row in rows]

    def claim(self, job_id: UUID, now: datetime, lease_until: datetime) -> Job | None:
        row = self._tx.one(
            "claim_job", id=job_id.bytes, now=to_micros(now), lease_until=to_micros(lease_until)
        )
        return _job(row) if row else None

    def first(self, lane: str) -> Job | None:
        row = self._tx.one("get_first_job", lane=check_ref(lane, "lane"))
        return _job(row) if row else None

    def claim_first(self, lane: str, now: datetime, lease_until: datetime) -> Job | None:
        first = self.first(lane)
        return self.claim(first.id, now, lease_until) if first else None

    def retry(self, job_id: UUID, at: datetime) -> Job:
        changed = self._tx.run("retry_job", id=job_id.bytes, at=to_micros(at))
        job = self.get(job_id)
        if job is None:
            raise NotFound(f"there is no job {job_id}")
        if not changed:
            raise Conflict(f"job {job_id} is {job.status}; only a failed job can be retried")
        return job

    def settle(self, job: Job, outcome: JobOutcome) -> None:
        went_well = outcome.status == "queued" and outcome.error is None
        settled = self._tx.run(
            "settle_job",
            id=job.id.bytes,
            fence=job.fence,
            status=outcome.status,
            attempts=0 if went_well else job.attempts,
            due_at=None if outcome.due_at is None else to_micros(outcome.due_at),
            error=outcome.error,
            memory_id=None if outcome.memory_id is None else outcome.memory_id.bytes,
        )
        if not settled:
            raise Conflict(f"another worker has claimed job {job.id} since; this result is dropped")

    def of_messages(self, kind: JobKind, session_ref: str, first: int) -> list[Job]:
        rows = self._tx.all("list_jobs_of_messages", kind=kind, session_ref=session_ref, first=first)
        return [_job(row) for row in rows]

    def override(self, job: Job, outcome: JobOutcome, *, last_seq: int | None = None) -> None:
        self._tx.run(
            "override_job",
            id=job.id.bytes,
            last_seq=last_seq or job.last_seq,
            status=outcome.status,
            due_at=None if outcome.due_at is None else to_micros(outcome.due_at),
            error=outcome.error,
            memory_id=None if outcome.memory_id is None else outcome.memory_id.bytes,
        )

    def retry_summaries(self, session_ref: str, at: datetime) -> int:
        return self._tx.run("retry_summary_jobs", session_ref=session_ref, at=to_micros(at))

    def delete_finished(self, before: datetime, limit: int, *, watches: bool) -> int:
        """Delete the oldest jobs that are done or have failed and were queued before a time."""
        query = "delete_finished_watches" if watches else "delete_finished_jobs"
        return self._tx.run(query, before=to_micros(before), limit=limit)

    def _queue(self, query: str, draft: JobDraft, at: datetime, **lane: str | None) -> None:
        self._tx.run(
            query,
            id=draft.id.bytes,
            kind=draft.kind,
            subject=draft.subject,
            first_seq=draft.first_seq,
            last_seq=draft.last_seq,
            due_at=to_micros(draft.due_at),
            created_at=to_micros(at),
            **lane,
        )


class JobScope:
    """Transactions on one owner's jobs only. It needs no keys, so it also works where they are destroyed."""

    def __init__(self, database: Database, owner: str) -> None:
        self._database = database
        self._owner = owner

    async def read(self, work: Callable[[SqlJobView], T], *, heavy: bool = False) -> T:
        """Run `work` on one consistent snapshot. `heavy` as in `Database.read`."""
        return await self._database.read(self._owner, lambda tx: work(SqlJobView(tx)), heavy=heavy)

    async def write(self, work: Callable[[SqlJobView], T]) -> T:
        """Run `work` in one transaction, durable when this returns."""
        return await self._database.write(self._owner, lambda tx: work(SqlJobView(tx)))


class SqlJobView:
    """One owner's jobs and notices inside one transaction."""

    def __init__(self, tx: Tx) -> None:
        self.jobs = SqlJobStore(tx)
        self.notices = SqlNoticeStore(tx)


def claim_due(
    tx: SystemTx,
    now: datetime,
    lease_until: datetime,
    kinds: Sequence[JobKind],
    limit: int,
    recent: Sequence[str] = (),
) -> list[ClaimedJob]:
    """Claim jobs of these kinds, of any owner, that are due or whose lease has expired.

    Owners take turns: each gets one job before any gets a second one, and those in `recent`, who were served
    last, come after the others. So the jobs of one owner do not delay those of another.
    """
    due: dict[str, Value] = {"now": to_micros(now), "kinds": [*kinds]}
    owners = tx.all("list_owners_with_due_jobs", **due, recent=[*recent], limit=limit)
    due["lease_until"] = to_micros(lease_until)
    rows = [row for (owner,) in owners for row in tx.all("claim_first_job", **due, of_owner=owner)]
    if owners and len(rows) < limit:
        rows += tx.all("claim_due_jobs", **due, limit=limit - len(rows))
    return [ClaimedJob(row[0], _job(row[1:])) for row in rows]


def pull_back(tx: SystemTx, now: datetime) -> int:
    """Make jobs due that were queued, claimed or put off while a clock was ahead. Returns how many."""
    soon, late = now + CLOCK_TOLERANCE, now + LONGEST_RETRY
    return len(tx.all("pull_back_jobs", now=to_micros(now), soon=to_micros(soon), late=to_micros(late)))


def count_due(tx: SystemTx, now: datetime, kinds: Sequence[JobKind], limit: int = 10_000) -> int:
    """How many jobs of these kinds are due, of all owners; at most `limit`."""
    return tx.all("count_due_jobs", now=to_micros(now), kinds=[*kinds], limit=limit)[0][0]


def list_all(
    tx: SystemTx, status: JobStatus | None, after: JobPosition | None, limit: int
) -> list[ServiceJob]:
    """The next jobs of all owners, by owner and id."""
    owner, last = (after.owner, after.id.bytes) if after else ("", b"")
    statuses: list[str] = [*get_args(JobStatus)] if status is None else [status]
    rows = tx.all("list_jobs_of_all", statuses=statuses, of_owner=owner, id=last, limit=limit)
    return [
        ServiceJob(
            owner=name,
            id=UUID(bytes=identity),
            kind=kind,
            status=state,
            attempts=attempts,
            error=error,
            due_at=None if due_at is None else from_micros(due_at),
            created_at=from_micros(created_at),
        )
        for name, identity, kind, state, attempts, error, due_at, created_at in rows
    ]


def count_all(tx: SystemTx) -> list[JobCount]:
    """How many jobs of all owners there are, by kind and status."""
    return [
        JobCount(kind=kind, status=status, count=count) for kind, status, count in tx.all("count_jobs_of_all")
    ]


def _job(row: Row) -> Job:
    identity, kind, subject, first, last, lane, status, attempts, fence, due_at, error, memory, created = row
    return Job.model_validate(
        {
            "id": UUID(bytes=identity),
            "kind": kind,
            "subject": subject,
            "first_seq": first,
            "last_seq": last,
            "lane": lane,
            "status": status,
            "attempts": attempts,
            "fence": fence,
            "due_at": None if due_at is None else from_micros(due_at),
            "error": error,
            "memory_id": None if memory is None else UUID(bytes=memory),
            "created_at": from_micros(created),
        }
    )
