"""Running a plan: stage by stage, whole or not at all."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, Generic, TypeVar, cast
from uuid import uuid4

from pydantic import ValidationError

from gieok.engine.data import Data
from gieok.engine.limits import Limits
from gieok.engine.plan import REQUEST, first_problem, place
from gieok.engine.record import CycleRecord, Outcome, StepRecord
from gieok.engine.registry import CheckedPlan, CheckedStage, CheckedStep, Registry
from gieok.engine.step import AnyStep, O, Outputs, Step, StepContext, StepEvent
from gieok.engine.unit_of_work import Scope, UnitOfWork
from gieok.engine.waiting import TimeIsUpError, within
from gieok.errors import InputRefused, StepFailed, StepTimedOut

S = TypeVar("S", bound=Scope)
Listener = Callable[[StepEvent], None]
_log = logging.getLogger(__name__)


def utc_now() -> datetime:
    """The clock that a service uses; a test injects its own."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class CycleResult:
    """What a cycle that succeeded leaves: every output, what the commit returned, and the record."""

    outputs: Outputs
    committed: Mapping[str, list[Any]]
    record: CycleRecord

    def output_of(self, step: type[Step[Any, Any, O]]) -> O | None:
        """The output of the first step of this type, or None where the plan has none."""
        for ran in self.record.steps:
            if ran.type == step.type:
                return cast(O, self.outputs[ran.id])
        return None

    def committed_by(self, step: type[Step[Any, Any, Any]]) -> Any:
        """What the first write of the first step of this type returned, or None where there was none."""
        for ran in self.record.steps:
            if ran.type == step.type and ran.id in self.committed:
                return self.committed[ran.id][0]
        return None


class Engine(Generic[S]):
    """Runs checked plans. It knows nothing of what the steps do."""

    def __init__(
        self,
        registry: Registry[S],
        *,
        limits: Limits | None = None,
        clock: Callable[[], datetime] = utc_now,
        observe: Callable[[CycleRecord], None] | None = None,
    ) -> None:
        self.registry = registry
        self.limits = limits or Limits()
        self.clock = clock
        self.observe = observe

    async def run(
        self,
        plan: CheckedPlan,
        scope: S,
        request: Mapping[str, Any],
        listen: Listener | None = None,
    ) -> CycleResult:
        """Run every step, then commit once. On any failure nothing is stored and the error is raised:
        StepFailed with the step's id and its cause, or the store's own error where the commit failed.
        """
        _check_request(plan, request)
        return await _Cycle(self, plan, scope, request, listen).run()


class _Cycle(Generic[S]):
    """One run. Outputs live here and are gone with it; there is no other place between steps."""

    def __init__(
        self,
        engine: Engine[S],
        plan: CheckedPlan,
        scope: S,
        request: Mapping[str, Any],
        listen: Listener | None,
    ) -> None:
        self._engine = engine
        self._plan = plan
        self._scope = scope
        self._request = request
        self._listen = listen
        self._now = engine.clock()
        self._started = perf_counter()
        self._unit_of_work = UnitOfWork(engine.limits.staged_writes)
        self._outputs: dict[str, Data] = {}
        self._steps: list[StepRecord] = []

    async def run(self) -> CycleResult:
        try:
            for stage in self._plan.stages:
                await self._run_stage(stage)
            committing = perf_counter()
            committed = await self._unit_of_work.commit(self._scope)
            commit_ms = _ms_since(committing)
        except asyncio.CancelledError:
            self._record("cancelled")
            raise
        except BaseException as error:
            self._record("failed", failed_step=error.step if isinstance(error, StepFailed) else None)
            raise
        return CycleResult(self._outputs, committed, self._record("succeeded", commit_ms=commit_ms))

    async def _run_stage(self, stage: CheckedStage) -> None:
        if stage.is_chain:
            for step in stage.steps:
                await self._run_step(step)
            return
        tasks: dict[str, asyncio.Task[None]] = {}

        async def after_its_inputs(step: CheckedStep) -> None:
            for origin, _ in step.inputs.values():
                if origin in tasks:
                    await tasks[origin]
            await self._run_step(step)

        try:
            async with asyncio.TaskGroup() as group:
                for step in stage.steps:
                    tasks[step.id] = group.create_task(after_its_inputs(step))
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None

    async def _run_step(self, step: CheckedStep) -> None:
        limits = self._engine.limits
        context = StepContext(
            step.id, step.stage, self._plan.plan.hash, self._now, self._unit_of_work, self._listen
        )
        started = perf_counter()
        try:
            runner = self._engine.registry.make(step.type, self._scope)
            inputs = self._inputs(step)
            output = await within(limits.step_seconds, runner.run(step.metadata, inputs, context))
            _check_output(step.type, output, runner.largest_output(step.metadata, inputs), limits)
        except TimeIsUpError as error:
            raise StepTimedOut(step.id, limits.step_seconds) from error
        except asyncio.CancelledError as error:
            if _is_cancelled():
                raise
            # Something that the step waited for was cancelled, not this cycle: the step has failed.
            raise StepFailed(step.id, error) from error
        except Exception as error:
            raise StepFailed(step.id, error) from error
        self._outputs[step.id] = output
        started_ms = (started - self._started) * 1000
        self._steps.append(
            StepRecord(step.id, step.type.type, step.stage, started_ms, _ms_since(started), context.notes)
        )

    def _inputs(self, step: CheckedStep) -> Data:
        values = {
            field: self._request[name] if origin == REQUEST else getattr(self._outputs[origin], name)
            for field, (origin, name) in step.inputs.items()
        }
        try:
            return step.type.inputs_model.model_validate(values)
        except ValidationError as error:
            location, message = first_problem(error)
            raise InputRefused(message, at=place(("inputs", *location))) from None

    def _record(
        self, outcome: Outcome, *, commit_ms: float = 0.0, failed_step: str | None = None
    ) -> CycleRecord:
        plan = self._plan.plan
        record = CycleRecord(
            cycle_id=uuid4(),
            plan_name=plan.name,
            plan_hash=plan.hash,
            started_at=self._now,
            duration_ms=_ms_since(self._started),
            commit_ms=commit_ms,
            outcome=outcome,
            failed_step=failed_step,
            steps=tuple(self._steps),
        )
        if self._engine.observe is not None:
            try:
                self._engine.observe(record)
            except Exception:  # noqa: BLE001  told in the log: what was stored stays stored, whoever listens
                _log.exception("an observer of cycle %s raised", record.cycle_id)
        return record


def _check_request(plan: CheckedPlan, request: Mapping[str, Any]) -> None:
    for name in plan.plan.request:
        if name not in request:
            raise InputRefused(
                f"plan '{plan.plan.name}' wants '{name}', which was not given", at=f"request.{name}"
            )
    for name in request:
        if name not in plan.plan.request:
            raise InputRefused(f"plan '{plan.plan.name}' does not read this", at=f"request.{name}")


def _check_output(step: type[AnyStep], output: object, largest: int | None, limits: Limits) -> None:
    model = step.output_model
    if not isinstance(output, model):
        raise TypeError(f"{step.type} must return {model.__name__}")
    if largest is not None and largest <= limits.output_bytes:
        return
    size = len(output.__pydantic_serializer__.to_json(output))
    if size > limits.output_bytes:
        raise ValueError(f"an output may have at most {limits.output_bytes} bytes, and this one has {size}")


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _ms_since(start: float) -> float:
    return (perf_counter() - start) * 1000
