"""How a job ends: its completion is one more write of the cycle that made its result."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.memory.fields import SessionRef
from gieok.memory.jobs.records import Job, JobOutcome
from gieok.memory.jobs.rules import after_failure, after_result, put_off
from gieok.memory.jobs.store import JobRooms

RetrySeconds = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1, max_length=32)]
Code = Annotated[str, StringConstraints(pattern=r"^[A-Z_]{1,64}$")]


def _settle(context: StepContext, job: Job, outcome: JobOutcome) -> None:
    def settle(rooms: JobRooms) -> JobOutcome:
        rooms.jobs.settle(job, outcome)
        return outcome

    context.stage_write(settle)


class FinishMetadata(Data):
    retry_minutes: Annotated[int, Field(ge=1)]


class FinishInputs(Data):
    job: Job
    memory_id: UUID | None = None
    """The memory that the job made, if that is what it makes."""
    is_final: bool = True


class FinishJob(Step[FinishMetadata, FinishInputs, NoData]):
    """Settles the job together with its result. What is not final is tried again after `retryMinutes`."""

    type = "FinishJob"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: FinishMetadata, inputs: FinishInputs, context: StepContext) -> NoData:
        outcome = after_result(
            inputs.memory_id,
            is_final=inputs.is_final,
            now=context.now,
            retry_minutes=metadata.retry_minutes,
        )
        _settle(context, inputs.job, outcome)
        return NoData()


class PutBackMetadata(Data):
    retry_seconds: RetrySeconds


class PutBackInputs(Data):
    job: Job
    code: Code
    is_final: bool
    retry_after: Annotated[float, Field(ge=0)] | None
    """For how many seconds it was refused; None where it was tried and failed."""


class PutBackJob(Step[PutBackMetadata, PutBackInputs, NoData]):
    """Gives a job back that could not be done. After the last of `retrySeconds` it has failed, unless it was
    refused for a time: that counts as no attempt.
    """

    type = "PutBackJob"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: PutBackMetadata, inputs: PutBackInputs, context: StepContext) -> NoData:
        if inputs.retry_after is not None:
            _settle(context, *put_off(inputs.job, inputs.code, now=context.now, seconds=inputs.retry_after))
            return NoData()
        outcome = after_failure(
            inputs.job,
            inputs.code,
            is_final=inputs.is_final,
            now=context.now,
            retry_seconds=metadata.retry_seconds,
        )
        _settle(context, inputs.job, outcome)
        return NoData()


class ReviveInputs(Data):
    session_ref: SessionRef


class RetrySummaries(Step[NoData, ReviveInputs, NoData]):
    """Has failed and waiting summaries of a session tried now: whoever asks for one means these too."""

    type = "RetrySummaries"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: ReviveInputs, context: StepContext) -> NoData:
        def revive(rooms: JobRooms) -> int:
            return rooms.jobs.revive(inputs.session_ref, context.now)

        context.stage_write(revive)
        return NoData()
