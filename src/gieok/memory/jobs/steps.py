"""Steps that queue and settle jobs. A job is settled in the commit that stores its result."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from gieok.engine import AnyStep, Data, NoData, StepContext, WriteStep
from gieok.memory.fields import SessionRef
from gieok.memory.jobs.records import Job
from gieok.memory.jobs.rules import after_failure, after_result, put_off
from gieok.memory.jobs.store import JobView

RetrySeconds = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1, max_length=32)]
Code = Annotated[str, StringConstraints(pattern=r"^[A-Z_]{1,64}$")]


class FinishMetadata(Data):
    retry_minutes: Annotated[int, Field(ge=1)]


class FinishInputs(Data):
    job: Job
    memory_id: UUID | None = None
    """The memory that the job made, if any."""
    is_final: bool = True


class FinishJob(WriteStep[FinishMetadata, FinishInputs, None]):
    """Settle the job together with its result. A result that is not final is retried after `retryMinutes`."""

    type = "FinishJob"

    def apply(
        self, view: JobView, metadata: FinishMetadata, inputs: FinishInputs, context: StepContext
    ) -> None:
        outcome = after_result(
            inputs.memory_id,
            is_final=inputs.is_final,
            now=context.now,
            retry_minutes=metadata.retry_minutes,
        )
        view.jobs.settle(inputs.job, outcome)


class PutBackMetadata(Data):
    retry_seconds: RetrySeconds


class PutBackInputs(Data):
    job: Job
    code: Code
    is_final: bool
    retry_after: Annotated[float, Field(ge=0)] | None
    """Seconds to wait after a rate limit; None after any other failure."""


class PutBack(Data):
    failed: bool
    """Whether it has failed for good."""
    persona_id: str | None
    """The persona whose turns it was to remember; None for other jobs."""


class PutBackJob(WriteStep[PutBackMetadata, PutBackInputs, PutBack]):
    """Return a job to the queue after a failure. After the last of `retrySeconds` it has failed for good.

    A rate limit or a spent budget says how long to wait, and does not count as an attempt.
    """

    type = "PutBackJob"

    def apply(
        self, view: JobView, metadata: PutBackMetadata, inputs: PutBackInputs, context: StepContext
    ) -> PutBack:
        job = inputs.job
        if inputs.retry_after is not None:
            job, outcome = put_off(job, inputs.code, now=context.now, seconds=inputs.retry_after)
        else:
            outcome = after_failure(
                job,
                inputs.code,
                is_final=inputs.is_final,
                now=context.now,
                retry_seconds=metadata.retry_seconds,
            )
        view.jobs.settle(job, outcome)
        return PutBack(failed=outcome.status == "failed", persona_id=job.lane)


class RetryInputs(Data):
    session_ref: SessionRef


class RetrySummaries(WriteStep[NoData, RetryInputs, None]):
    """Make failed and waiting summaries of a session due now."""

    type = "RetrySummaries"

    def apply(self, view: JobView, metadata: NoData, inputs: RetryInputs, context: StepContext) -> None:
        view.jobs.retry_summaries(inputs.session_ref, context.now)


STEPS: tuple[type[AnyStep], ...] = (FinishJob, PutBackJob, RetrySummaries)
