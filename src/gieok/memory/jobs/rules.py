"""What happens to a job after a run: pure rules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from gieok.memory.jobs.records import Job, JobOutcome

MAY_FAIL = frozenset({"remember", "summary", "excerpt", "walk"})
"""Kinds that end as `failed` after the last retry: a user asked for the result and sees the failure.

The other kinds are upkeep that must succeed some day, so they are retried at the slowest pace."""


def after_result(memory_id: UUID | None, *, is_final: bool, now: datetime, retry_minutes: int) -> JobOutcome:
    """Done if the result is final; otherwise keep the result and try to improve it later."""
    if is_final:
        return JobOutcome(status="done", memory_id=memory_id)
    due_at = now + timedelta(minutes=retry_minutes)
    return JobOutcome(status="queued", due_at=due_at, memory_id=memory_id)


def after_batch(*, has_more: bool, now: datetime) -> JobOutcome:
    """Done after the last batch; otherwise due again at once, behind the jobs that are due already."""
    return JobOutcome(status="queued", due_at=now) if has_more else JobOutcome(status="done")


def put_off(job: Job, code: str, *, now: datetime, seconds: float) -> tuple[Job, JobOutcome]:
    """Wait for `seconds` after a rate limit. This does not count as an attempt."""
    untried = job.model_copy(update={"attempts": job.attempts - 1})
    return untried, JobOutcome(status="queued", due_at=now + timedelta(seconds=seconds), error=code)


def after_failure(
    job: Job, code: str, *, is_final: bool, now: datetime, retry_seconds: Sequence[int]
) -> JobOutcome:
    """Retry after the next of `retry_seconds`; after the last of them the job has failed.

    A job that has already made a memory, or whose kind is not in `MAY_FAIL`, never fails: it is retried at
    the slowest pace.
    """
    tried = job.attempts - 1
    may_fail = job.kind in MAY_FAIL and job.memory_id is None
    if may_fail and (is_final or tried >= len(retry_seconds)):
        return JobOutcome(status="failed", error=code)
    wait = retry_seconds[min(tried, len(retry_seconds) - 1)]
    return JobOutcome(status="queued", due_at=now + timedelta(seconds=wait), error=code)
