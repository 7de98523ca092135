"""What becomes of a job: pure rules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from gieok.memory.jobs.records import Job, JobOutcome


def after_result(memory_id: UUID | None, *, is_final: bool, now: datetime, retry_minutes: int) -> JobOutcome:
    """Done with a final result; otherwise the job keeps what it made and tries to better it later."""
    if is_final:
        return JobOutcome(status="done", memory_id=memory_id)
    due_at = now + timedelta(minutes=retry_minutes)
    return JobOutcome(status="queued", due_at=due_at, memory_id=memory_id)


def put_off(job: Job, code: str, *, now: datetime, seconds: float) -> tuple[Job, JobOutcome]:
    """A job that was refused for now waits as long as it was told to. That was no attempt of its own."""
    untried = job.model_copy(update={"attempts": job.attempts - 1})
    return untried, JobOutcome(status="queued", due_at=now + timedelta(seconds=seconds), error=code)


def after_failure(
    job: Job, code: str, *, is_final: bool, now: datetime, retry_seconds: Sequence[int]
) -> JobOutcome:
    """Try again after the next of `retry_seconds`; after the last of them the job has failed.

    A job that has already made something never fails, nor does a watch, without which a session would never
    end: they go on at the slowest pace.
    """
    tried = job.attempts - 1
    may_fail = job.kind != "watch" and job.memory_id is None
    if may_fail and (is_final or tried >= len(retry_seconds)):
        return JobOutcome(status="failed", error=code)
    wait = retry_seconds[min(tried, len(retry_seconds) - 1)]
    return JobOutcome(status="queued", due_at=now + timedelta(seconds=wait), error=code)
