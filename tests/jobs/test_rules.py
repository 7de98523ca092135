"""What becomes of a job, without a store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from gieok.memory.jobs.records import Job, JobKind
from gieok.memory.jobs.rules import after_batch, after_failure, after_result

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def job(*, attempts: int, memory_id: UUID | None = None, kind: JobKind = "summary") -> Job:
    return Job(
        id=uuid4(),
        kind=kind,
        subject="s",
        first_seq=1,
        last_seq=20,
        status="running",
        attempts=attempts,
        fence=attempts,
        due_at=NOW,
        error=None,
        memory_id=memory_id,
        created_at=NOW,
    )


@pytest.mark.parametrize(("attempts", "seconds"), [(1, 5), (2, 60)])
def test_a_failure_waits_longer_each_time(attempts: int, seconds: int) -> None:
    outcome = after_failure(
        job(attempts=attempts), "STORE_UNAVAILABLE", is_final=False, now=NOW, retry_seconds=(5, 60)
    )
    assert (outcome.status, outcome.due_at) == ("queued", NOW + timedelta(seconds=seconds))
    assert outcome.error == "STORE_UNAVAILABLE"


@pytest.mark.parametrize(("attempts", "is_final"), [(3, False), (1, True)])
def test_after_the_last_try_or_a_final_failure_it_has_failed(attempts: int, *, is_final: bool) -> None:
    outcome = after_failure(
        job(attempts=attempts), "STEP_FAILED", is_final=is_final, now=NOW, retry_seconds=(5, 60)
    )
    assert (outcome.status, outcome.due_at, outcome.error) == ("failed", None, "STEP_FAILED")


def test_a_job_that_holds_an_excerpt_never_fails() -> None:
    outcome = after_failure(
        job(attempts=50, memory_id=uuid4()), "STEP_FAILED", is_final=True, now=NOW, retry_seconds=(5, 60)
    )
    assert (outcome.status, outcome.due_at) == ("queued", NOW + timedelta(seconds=60))


@pytest.mark.req("SESS-5")
@pytest.mark.parametrize("kind", ["watch", "embed", "reindex", "erase"])
def test_upkeep_never_fails(kind: JobKind) -> None:
    """Without a watch, for example, a session would never end."""
    outcome = after_failure(
        job(attempts=50, kind=kind), "STEP_FAILED", is_final=True, now=NOW, retry_seconds=(5, 60)
    )
    assert (outcome.status, outcome.due_at) == ("queued", NOW + timedelta(seconds=60))


@pytest.mark.req("COMP-3")
def test_an_excerpt_is_bettered_later_and_a_summary_is_final() -> None:
    memory_id = uuid4()
    excerpt = after_result(memory_id, is_final=False, now=NOW, retry_minutes=15)
    assert (excerpt.status, excerpt.due_at) == ("queued", NOW + timedelta(minutes=15))
    summary = after_result(memory_id, is_final=True, now=NOW, retry_minutes=15)
    assert (summary.status, summary.memory_id) == ("done", memory_id)


def test_a_job_with_more_batches_is_due_at_once() -> None:
    more = after_batch(has_more=True, now=NOW)
    assert (more.status, more.due_at, more.error) == ("queued", NOW, None)
    assert after_batch(has_more=False, now=NOW).status == "done"
