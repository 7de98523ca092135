"""The store of jobs that steps use: one owner, one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from gieok.memory.jobs.records import Job, JobDraft, JobKind, JobOutcome, JobStatus


class JobStore(Protocol):
    """A claim is a lease with a fencing token: a worker that lost its lease cannot settle the job."""

    def add(self, draft: JobDraft, at: datetime) -> None:
        """Queue a job at the end of its lane. A job with the same id stays as it is, even if it has ended."""
        ...

    def requeue(self, draft: JobDraft, at: datetime) -> None:
        """Queue a job, or queue it again if it has ended or had another subject."""
        ...

    def get(self, job_id: UUID) -> Job | None:
        """The job, or None."""
        ...

    def list(self, *, status: JobStatus | None, after: UUID | None, limit: int) -> Sequence[Job]:
        """Jobs, newest first, after the job with this id. Raises NotFound if there is no such job."""
        ...

    def unfinished_summaries(self, session_ref: str) -> Sequence[Job]:
        """The summary jobs of a session that have made no memory yet, in the order of their messages."""
        ...

    def summaries(self, session_ref: str) -> Sequence[Job]:
        """The summary jobs of a session that have made a memory, in the order of their messages."""
        ...

    def claim(self, job_id: UUID, now: datetime, lease_until: datetime) -> Job | None:
        """Claim this job. None if it is not due, not first in its lane, or claimed by another worker."""
        ...

    def first(self, lane: str) -> Job | None:
        """The first unfinished job of a lane, or None."""
        ...

    def claim_first(self, lane: str, now: datetime, lease_until: datetime) -> Job | None:
        """Claim the first unfinished job of a lane. None if there is none, or it is not due."""
        ...

    def retry(self, job_id: UUID, at: datetime) -> Job:
        """Make a failed job due now. Raises NotFound without such a job, Conflict if it has not failed."""
        ...

    def settle(self, job: Job, outcome: JobOutcome) -> None:
        """End a claim. Conflict if another worker has claimed the job since: then store nothing.

        A job that is queued again without an error has succeeded, so its attempts start at 0 again.
        """
        ...

    def of_messages(self, kind: JobKind, session_ref: str, first: int) -> Sequence[Job]:
        """The jobs of a session with messages from number `first` on, whatever their state, oldest first."""
        ...

    def override(self, job: Job, outcome: JobOutcome, *, last_seq: int | None = None) -> None:
        """Set the state of a job, whatever it was, with its memory, and optionally fewer messages.

        A worker that runs it loses its claim, and cannot settle it any more.
        """
        ...

    def retry_summaries(self, session_ref: str, at: datetime) -> int:
        """Make the failed and the waiting summary jobs of a session due now. Returns how many."""
        ...


class JobView(Protocol):
    """A view with jobs."""

    @property
    def jobs(self) -> JobStore: ...
