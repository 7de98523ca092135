"""How every facade runs plans, and what a caller is told when a step refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from pydantic import ValidationError

from gieok.adapters.sql.scope import OwnerScope
from gieok.engine import CheckedPlan, CycleResult, Data, Engine, ExecutionPlan, Step, StepEvent
from gieok.engine.plan import first_problem, place
from gieok.errors import Conflict, InputRefused, NotFound, RateLimited, StepFailed, cause_of

D = TypeVar("D", bound=Data)
O = TypeVar("O", bound=Data | None)  # noqa: E741  as in the engine
Listener = Callable[[StepEvent], None]
CHECKED_PLANS = 256


class Plans:
    """Plans that can run, each checked once."""

    def __init__(self, engine: Engine, load: Callable[[str], ExecutionPlan]) -> None:
        self._engine = engine
        self._load = load
        self._checked: dict[str, CheckedPlan] = {}

    def check(self, plan: str | ExecutionPlan) -> CheckedPlan:
        """A plan by name, by file or as it is. PlanInvalid says what is wrong with it."""
        made = self._load(plan) if isinstance(plan, str) else plan
        if made.hash not in self._checked:
            if len(self._checked) >= CHECKED_PLANS:
                self._checked.clear()
            self._checked[made.hash] = self._engine.registry.check(made)
        return self._checked[made.hash]


class Cycles:
    """Runs plans for one owner."""

    def __init__(self, engine: Engine, plans: Plans, scope: OwnerScope) -> None:
        self._engine = engine
        self._plans = plans
        self.scope = scope

    @property
    def now(self) -> datetime:
        """The time by the clock that cycles run by."""
        return self._engine.clock()

    async def run(
        self, plan: str | ExecutionPlan, request: Mapping[str, Any], listen: Listener | None = None
    ) -> CycleResult:
        """Run a plan. What a step refused (InputRefused, NotFound, Conflict, RateLimited) is raised as it is,
        because the caller can act on it; any other failure is a StepFailed with the step and the cause.
        """
        try:
            return await self._engine.run(self._plans.check(plan), self.scope, request, listen)
        except StepFailed as failed:
            cause = cause_of(failed)
            if isinstance(cause, InputRefused | NotFound | Conflict | RateLimited):
                raise cause from failed
            raise

    async def output(
        self, plan: str | ExecutionPlan, step: type[Step[Any, Any, O]], request: Mapping[str, Any]
    ) -> O:
        """Run a plan for the output of its step of this type."""
        return output_of(await self.run(plan, request), step)


def output_of(result: CycleResult, step: type[Step[Any, Any, O]]) -> O:
    """The output of a step that this call needs. InputRefused where the plan has no such step."""
    output = result.output_of(step)
    if output is None:
        raise InputRefused(f"the plan has no step {step.type}, which this call needs", at="plan")
    return output


def made(record: type[D], **values: Any) -> D:
    """A record of what the caller gave. InputRefused names the place that is wrong."""
    try:
        return record(**values)
    except ValidationError as error:
        location, message = first_problem(error)
        raise InputRefused(message, at=place(location)) from None
