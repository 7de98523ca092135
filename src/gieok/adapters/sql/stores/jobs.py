"""Jobs in SQL: a lease that ends by itself, and a fence that only the newest claim knows."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from gieok.adapters.sql.driver.database import Row, SystemTx, Tx, from_micros, to_micros
from gieok.errors import Conflict
from gieok.memory.jobs.records import ClaimedJob, Job, JobDraft, JobOutcome
from gieok.refs import check_ref


class SqlJobStore:
    """The jobs of one owner inside one transaction. They hold no content, so nothing here is sealed."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def add(self, draft: JobDraft, at: datetime) -> None:
        self._tx.run(
            "add_job",
            id=draft.id.bytes,
            kind=draft.kind,
            session_ref=draft.session_ref,
            first_seq=draft.first_seq,
            last_seq=draft.last_seq,
            due_at=to_micros(draft.due_at),
            created_at=to_micros(at),
        )

    def get(self, job_id: UUID) -> Job | None:
        row = self._tx.one("get_job", id=job_id.bytes)
        return _job(row) if row else None

    def unfinished(self, session_ref: str) -> list[Job]:
        rows = self._tx.all("list_unfinished_jobs", session_ref=check_ref(session_ref, "sessionRef"))
        return [_job(row) for row in rows]

    def claim(self, job_id: UUID, now: datetime, lease_until: datetime) -> Job | None:
        row = self._tx.one(
            "claim_job", id=job_id.bytes, now=to_micros(now), lease_until=to_micros(lease_until)
        )
        return _job(row) if row else None

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
            raise Conflict(f"another worker has job {job.id} by now; what was made here is dropped")

    def revive(self, session_ref: str, at: datetime) -> int:
        return self._tx.run("revive_jobs", session_ref=session_ref, at=to_micros(at))


def claim_due(tx: SystemTx, now: datetime, lease_until: datetime, limit: int) -> list[ClaimedJob]:
    """Take up jobs of any owner whose time has come, or whose worker let its lease pass."""
    rows = tx.all("claim_due_jobs", now=to_micros(now), lease_until=to_micros(lease_until), limit=limit)
    return [ClaimedJob(row[0], _job(row[1:])) for row in rows]


def count_due(tx: SystemTx, now: datetime, limit: int = 10_000) -> int:
    """How many jobs of all owners wait whose time has come; `limit` where there are more."""
    return tx.all("count_due_jobs", now=to_micros(now), limit=limit)[0][0]


def _job(row: Row) -> Job:
    identity, kind, session_ref, first, last, status, attempts, fence, due_at, error, memory, created = row
    return Job.model_validate(
        {
            "id": UUID(bytes=identity),
            "kind": kind,
            "session_ref": session_ref,
            "first_seq": first,
            "last_seq": last,
            "status": status,
            "attempts": attempts,
            "fence": fence,
            "due_at": None if due_at is None else from_micros(due_at),
            "error": error,
            "memory_id": None if memory is None else UUID(bytes=memory),
            "created_at": from_micros(created),
        }
    )
