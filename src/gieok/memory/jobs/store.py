"""The store of jobs, as steps see it: of one owner, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from gieok.memory.jobs.records import Job, JobDraft, JobOutcome


class JobStore(Protocol):
    """A claim is a lease with a fence: whoever lost the lease cannot settle the job."""

    def add(self, draft: JobDraft, at: datetime) -> None:
        """Queue a job. One with the same id that is there already stays as it is."""
        ...

    def get(self, job_id: UUID) -> Job | None:
        """The job, or None."""
        ...

    def unfinished(self, session_ref: str) -> Sequence[Job]:
        """The summaries of a session that no memory holds yet, in the order of their messages."""
        ...

    def claim(self, job_id: UUID, now: datetime, lease_until: datetime) -> Job | None:
        """Take up this one job, if it is due. None where it is not, or another worker holds it."""
        ...

    def settle(self, job: Job, outcome: JobOutcome) -> None:
        """End a claim. Conflict where the lease was lost to another worker: then nothing may be stored.

        A job that is queued again without an error went well, so its attempts are counted anew.
        """
        ...

    def revive(self, session_ref: str, at: datetime) -> int:
        """Have the summaries of a session that failed, or wait to be tried again, due as if new. How many."""
        ...


class JobView(Protocol):
    """Whatever holds jobs among its rooms."""

    @property
    def jobs(self) -> JobStore: ...
