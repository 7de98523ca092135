"""Run a plan stage by stage. A cycle is atomic: everything is committed, or nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import Any, Protocol, TypeVar, cast
from uuid import uuid4

from pydantic import ValidationError

from gieok.engine.data import Data
from gieok.engine.plan import REQUEST, Stage, first_problem, place
from gieok.engine.record import CycleRecord, Outcome, StepRecord
from gieok.engine.registry import CheckedPlan, CheckedStep, Registry
from gieok.engine.step import (
    ActStep,
    AnyStep,
    Ask,
    NoData,
    O,
    Outputs,
    ReadStep,
    Step,
    StepContext,
    StepEvent,
    WriteStep,
    is_long,
)
from gieok.errors import InputRefused, StepFailed, StepTimedOut

T = TypeVar("T")
Listener = Callable[[StepEvent], None]
_log = logging.getLogger(__name__)


def utc_now() -> datetime:
    """The default clock; tests inject their own."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Limits:
    """Limits of a running step."""

    step_seconds: float = 120.0
    output_bytes: int = 4 * 1024 * 1024


class Scope(Protocol):
    """One owner's data, as the engine sees it: a read transaction and a write transaction.

    `work` gets a view of the stores that is valid until it returns.
    """

    async def read(self, work: Callable[[Any], T], *, heavy: bool = False) -> T:
        """Run `work` on one consistent snapshot. `heavy` work must not run on the event loop's thread."""
        ...

    async def write(self, work: Callable[[Any], T]) -> T:
        """Run `work` in one transaction and return when it is durable. If it raises, nothing is stored.

        `work` returns the CycleResult so far: its record has the time of the writes, not of their commit.
        """
        ...


@dataclass(frozen=True)
class CycleResult:
    """The result of a successful cycle: the output of every step, and the record."""

    outputs: Outputs
    record: CycleRecord

    def output_of(self, step: type[Step[Any, Any, O]]) -> O | None:
        """The output of the first step of this type, or None if the plan has none."""
        for ran in self.record.steps:
            if ran.type == step.type:
                return cast(O, self.outputs[ran.id])
        return None


class Engine:
    """Runs checked plans."""

    def __init__(
        self,
        registry: Registry,
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
        scope: Scope,
        request: Mapping[str, Any],
        listen: Listener | None = None,
    ) -> CycleResult:
        """Run every step, then commit once. On any failure nothing is stored and the error is raised:
        StepFailed with the step's id and its cause, or the store's own error if a transaction failed.
        """
        _check_request(plan, request)
        return await _Cycle(self, plan, scope, request, listen).run()


@dataclass
class _PendingRead:
    """A read that asked a question. It resumes in the next transaction, once the answer is there."""

    step: CheckedStep
    ask: Ask[Any]
    answer: Any = None

    def resume(self, view: Any, *_: Any) -> Any:
        """Finish the read with the answer. The read got its inputs and its context when it asked."""
        return self.ask.resume(view, self.answer)


class _Batch:
    """Steps that run in one transaction. Their outputs count once the transaction has succeeded."""

    outputs: dict[str, Data]
    """The outputs of the cycle so far, and of this batch."""
    pending: list[_PendingRead]
    records: list[StepRecord]
    current: str | None = None
    """The running step; None between steps, where an error is the transaction's own."""

    def begin(self, outputs: Mapping[str, Data]) -> None:
        """Reset the batch. A store may run its work again after a broken connection."""
        self.outputs = dict(outputs)
        self.pending = []
        self.records = []


class _Cycle:
    """One run of a plan, with its outputs."""

    def __init__(
        self,
        engine: Engine,
        plan: CheckedPlan,
        scope: Scope,
        request: Mapping[str, Any],
        listen: Listener | None,
    ) -> None:
        self._engine = engine
        self._limits = engine.limits
        self._plan = plan
        self._scope = scope
        self._request = request
        self._is_long = any(isinstance(each, str) and is_long(each) for each in request.values())
        self._listen = listen
        self._id = uuid4()
        self._now = engine.clock()
        self._started = perf_counter()
        self._outputs: dict[str, Data] = {}
        self._contexts: dict[str, tuple[StepContext, float]] = {}
        self._steps: list[StepRecord] = []
        self._commit_ms = 0.0

    async def run(self) -> CycleResult:
        try:
            for stage, steps in self._plan.stages.items():
                if stage is Stage.PERSIST:
                    await self._commit(steps)
                else:
                    await self._run_stage(steps)
        except asyncio.CancelledError:
            self._observe(self._record("cancelled", self._steps))
            raise
        except BaseException as error:
            failed_step = error.step if isinstance(error, StepFailed) else None
            self._observe(self._record("failed", self._steps, failed_step))
            raise
        return CycleResult(self._outputs, self._observe(self._record("succeeded", self._steps)))

    async def _run_stage(self, steps: Sequence[CheckedStep]) -> None:
        """Alternate between one transaction for every read that is ready, and the acts that are ready.

        Each round makes progress, because the input of a step comes from an earlier one.
        """
        pending: list[_PendingRead] = []
        while waiting := [step for step in steps if step.id not in self._outputs]:
            pending = await self._read(waiting, pending)
            await self._act([step for step in waiting if isinstance(step.step, ActStep)], pending)

    async def _read(
        self, waiting: Sequence[CheckedStep], answered: Sequence[_PendingRead]
    ) -> list[_PendingRead]:
        """Run the reads that are ready in one transaction; finish those whose questions were answered.

        Returns the reads that ask a question now.
        """
        reads = [step for step in waiting if isinstance(step.step, ReadStep)]
        if not any(_is_ready(step, self._outputs) for step in reads):
            return []
        resuming = {read.step.id: read for read in answered}
        batch = _Batch()

        def read_all(view: Any) -> None:
            batch.begin(self._outputs)
            for step in reads:
                if step.id in resuming:
                    self._run_in_transaction(batch, step, partial(resuming[step.id].resume, view))
                elif _is_ready(step, batch.outputs):
                    self._run_in_transaction(batch, step, partial(_reader(step).read, view, step.metadata))

        heavy = self._is_long or any(_reader(step).heavy for step in reads)
        try:
            await self._with_timeout(reads[0].id, self._scope.read(read_all, heavy=heavy))
        except Exception as error:
            raise _with_step_id(batch.current, error) from error
        self._accept(batch)
        return batch.pending

    async def _act(self, acts: Sequence[CheckedStep], pending: Sequence[_PendingRead]) -> None:
        """Run the acts that are ready together, each as soon as its inputs exist, and ask the questions."""
        ready: dict[str, CheckedStep] = {}
        for step in acts:
            if _is_ready(step, {**self._outputs, **ready}):
                ready[step.id] = step
        tasks: dict[str, asyncio.Task[None]] = {}

        async def act(step: CheckedStep) -> None:
            for origin, _ in step.inputs.values():
                if origin in tasks:
                    await tasks[origin]
            await self._run_act(step)

        async def ask(read: _PendingRead) -> None:
            read.answer = await self._await_for_step(read.step.id, read.ask.question())

        work: dict[str, Coroutine[Any, Any, None]] = {step.id: act(step) for step in ready.values()}
        work |= {read.step.id: ask(read) for read in pending}
        if len(work) <= 1:
            for coroutine in work.values():
                await coroutine
            return
        # No TaskGroup: before Python 3.13 it leaves the caller's task marked as cancelled after a failure.
        tasks |= {step_id: asyncio.create_task(coroutine) for step_id, coroutine in work.items()}
        try:
            await asyncio.wait(tasks.values(), return_when=asyncio.FIRST_EXCEPTION)
            failed = [task for task in tasks.values() if task.done() and not task.cancelled()]
            errors = [error for task in failed if (error := task.exception()) is not None]
        finally:
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)
        if errors:
            raise errors[0]

    async def _run_act(self, step: CheckedStep) -> None:
        actor, context = cast("ActStep[Any, Any, Any]", step.step), self._context(step)

        async def run() -> Data:
            inputs = self._inputs(step, self._outputs)
            return _checked(actor, await actor.run(step.metadata, inputs, context), self._limits)

        self._outputs[step.id] = await self._await_for_step(step.id, run())
        self._steps.append(self._step_record(step))

    async def _await_for_step(self, step_id: str, work: Awaitable[T]) -> T:
        """Await the work of a step within its time limit. Any failure becomes a StepFailed."""
        try:
            return await self._with_timeout(step_id, work)
        except StepFailed:
            raise
        except asyncio.CancelledError as error:
            if _is_cancelled():
                raise
            # Not this cycle was cancelled but something that the step awaited: the step has failed.
            raise StepFailed(step_id, error) from error
        except Exception as error:
            raise StepFailed(step_id, error) from error

    async def _with_timeout(self, step_id: str, work: Awaitable[T]) -> T:
        timer = asyncio.timeout(self._limits.step_seconds)
        try:
            async with timer:
                return await work
        except TimeoutError as error:
            if timer.expired():
                raise StepTimedOut(step_id, self._limits.step_seconds) from error
            raise

    async def _commit(self, steps: Sequence[CheckedStep]) -> None:
        """Apply every write in plan order in one transaction."""
        started = perf_counter()
        batch = _Batch()

        def apply_all(view: Any) -> CycleResult:
            batch.begin(self._outputs)
            for step in steps:
                writer = cast("WriteStep[Any, Any, Any]", step.step)
                self._run_in_transaction(batch, step, partial(writer.apply, view, step.metadata))
            self._commit_ms = _ms_since(started)
            return CycleResult(batch.outputs, self._record("succeeded", [*self._steps, *batch.records]))

        try:
            await self._scope.write(apply_all)
        except Exception as error:
            raise _with_step_id(batch.current, error) from error
        self._accept(batch)
        self._commit_ms = _ms_since(started)

    def _run_in_transaction(
        self, batch: _Batch, step: CheckedStep, call: Callable[[Data, StepContext], Any]
    ) -> None:
        """Run a step inside the transaction of a batch."""
        batch.current = step.id
        context = self._context(step)
        output = call(self._inputs(step, batch.outputs), context)
        if isinstance(output, Ask):
            batch.pending.append(_PendingRead(step, cast("Ask[Any]", output)))
        else:
            batch.outputs[step.id] = _checked(step.step, output, self._limits)
            batch.records.append(self._step_record(step))
        batch.current = None

    def _accept(self, batch: _Batch) -> None:
        self._outputs = batch.outputs
        self._steps.extend(batch.records)

    def _context(self, step: CheckedStep) -> StepContext:
        """The context of a step, which a read that asked a question keeps until it is finished."""
        if step.id not in self._contexts:
            context = StepContext(step.id, self._plan.plan.hash, self._now, self._listen)
            self._contexts[step.id] = context, perf_counter()
        return self._contexts[step.id][0]

    def _inputs(self, step: CheckedStep, outputs: Mapping[str, Data]) -> Data:
        values = {
            name: self._request[source] if origin == REQUEST else getattr(outputs[origin], source)
            for name, (origin, source) in step.inputs.items()
        }
        try:
            return step.step.inputs_model.model_validate(values)
        except ValidationError as error:
            location, message = first_problem(error)
            raise InputRefused(message, at=place(("inputs", *location))) from None

    def _step_record(self, step: CheckedStep) -> StepRecord:
        context, started = self._contexts[step.id]
        started_ms = (started - self._started) * 1000
        return StepRecord(step.id, step.step.type, step.stage, started_ms, _ms_since(started), context.notes)

    def _record(
        self, outcome: Outcome, steps: Sequence[StepRecord], failed_step: str | None = None
    ) -> CycleRecord:
        plan = self._plan.plan
        return CycleRecord(
            cycle_id=self._id,
            plan_name=plan.name,
            plan_hash=plan.hash,
            started_at=self._now,
            duration_ms=_ms_since(self._started),
            commit_ms=self._commit_ms,
            outcome=outcome,
            failed_step=failed_step,
            steps=tuple(steps),
        )

    def _observe(self, record: CycleRecord) -> CycleRecord:
        if self._engine.observe is not None:
            try:
                self._engine.observe(record)
            except Exception:  # noqa: BLE001  logged: a failing observer must not fail a committed cycle
                _log.exception("an observer of cycle %s raised", record.cycle_id)
        return record


def apply_writes(plan: CheckedPlan, view: Any, request: Mapping[str, Any], now: datetime) -> Outputs:
    """Apply a plan that has only writes inside a transaction that is open already, and return its outputs."""
    _check_request(plan, request)
    outputs: Outputs = {}
    for step in (each for steps in plan.stages.values() for each in steps):
        if not isinstance(step.step, WriteStep):
            raise InputRefused(f"step '{step.id}' is no write, so it cannot run in this commit", at="plan")
        writer = step.step
        values = {
            name: request[source] if origin == REQUEST else getattr(outputs[origin], source)
            for name, (origin, source) in step.inputs.items()
        }
        inputs = writer.inputs_model.model_validate(values)
        context = StepContext(step.id, plan.plan.hash, now, None)
        outputs[step.id] = writer.apply(view, step.metadata, inputs, context)
    return outputs


def _check_request(plan: CheckedPlan, request: Mapping[str, Any]) -> None:
    for name in plan.plan.request:
        if name not in request:
            raise InputRefused(
                f"plan '{plan.plan.name}' needs '{name}', which is missing", at=f"request.{name}"
            )
    for name in request:
        if name not in plan.plan.request:
            raise InputRefused(
                f"plan '{plan.plan.name}' does not list this in `request`", at=f"request.{name}"
            )


def _reader(step: CheckedStep) -> ReadStep[Any, Any, Any]:
    return cast("ReadStep[Any, Any, Any]", step.step)


def _is_ready(step: CheckedStep, outputs: Mapping[str, Any]) -> bool:
    return all(origin == REQUEST or origin in outputs for origin, _ in step.inputs.values())


def _checked(step: AnyStep, output: object, limits: Limits) -> Data:
    """The output of a step. Raises an error if it has the wrong type or is too large."""
    result = NoData() if output is None else output
    if not isinstance(result, step.output_model):
        raise TypeError(f"{step.type} must return {step.output_model.__name__}")
    size = len(result.__pydantic_serializer__.to_json(result))
    if size > limits.output_bytes:
        raise ValueError(f"an output may have at most {limits.output_bytes} bytes, and this one has {size}")
    return result


def _with_step_id(step_id: str | None, error: Exception) -> Exception:
    """Wrap the error of a step in StepFailed. Without a step it is the transaction's own error."""
    return error if step_id is None or isinstance(error, StepFailed) else StepFailed(step_id, error)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _ms_since(start: float) -> float:
    return (perf_counter() - start) * 1000
