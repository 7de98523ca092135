"""The registry of steps, and the check of plans against it. It needs no store and no model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from gieok.engine.data import Data
from gieok.engine.plan import ORDER, REQUEST, ExecutionPlan, Stage, StepSpec, first_problem, place
from gieok.engine.step import AnyStep, check_step
from gieok.errors import PlanInvalid


@dataclass(frozen=True)
class CheckedStep:
    """A step of a plan with its metadata read and its inputs resolved."""

    id: str
    step: AnyStep
    stage: Stage
    metadata: Data
    inputs: Mapping[str, tuple[str, str]]
    """Input field → (step id or `request`, field)."""


@dataclass(frozen=True)
class CheckedPlan:
    """A plan that can run: every step exists, is in an allowed stage, and has its inputs."""

    plan: ExecutionPlan
    stages: Mapping[Stage, tuple[CheckedStep, ...]]
    """The stages in use, in order, each with its steps in plan order."""


class Registry:
    """The steps that plans may use, by type."""

    def __init__(self, steps: Iterable[AnyStep] = ()) -> None:
        self._steps: dict[str, AnyStep] = {}
        for step in steps:
            self.add(step)

    def add(self, step: AnyStep) -> None:
        """Register a step. Raises ValueError if its type is taken or its stages do not fit its kind."""
        check_step(step)
        if step.type in self._steps:
            raise ValueError(f"a step of type '{step.type}' is registered already")
        self._steps[step.type] = step

    def steps(self) -> tuple[AnyStep, ...]:
        """Every registered step, by type."""
        return tuple(self._steps[name] for name in sorted(self._steps))

    def check(self, plan: ExecutionPlan) -> CheckedPlan:
        """Check a plan. Raises PlanInvalid with the place that is wrong."""
        checked: dict[str, CheckedStep] = {}
        for number, spec in enumerate(plan.steps):
            step = self._find(spec, number)
            _check_stage(plan, spec, step, number)
            inputs = _resolve_inputs(plan, spec, step, number, checked)
            checked[spec.id] = CheckedStep(spec.id, step, spec.stage, _metadata(spec, step, number), inputs)
        by_stage = {stage: tuple(step for step in checked.values() if step.stage is stage) for stage in ORDER}
        return CheckedPlan(plan, {stage: steps for stage, steps in by_stage.items() if steps})

    def _find(self, spec: StepSpec, number: int) -> AnyStep:
        try:
            return self._steps[spec.type]
        except KeyError:
            names = ", ".join(sorted(self._steps))
            raise PlanInvalid(
                f"no step of type '{spec.type}'; the types are: {names}", at=f"steps[{number}].type"
            ) from None


def _check_stage(plan: ExecutionPlan, spec: StepSpec, step: AnyStep, number: int) -> None:
    at = f"steps[{number}].stage"
    if spec.stage not in step.stages:
        allowed = ", ".join(stage for stage in ORDER if stage in step.stages)
        raise PlanInvalid(f"{spec.type} may stand in {allowed}, not in {spec.stage}", at=at)
    before = plan.steps[number - 1].stage if number else spec.stage
    if ORDER.index(spec.stage) < ORDER.index(before):
        raise PlanInvalid(f"{spec.stage} comes before {before}; list the steps in stage order", at=at)


def _metadata(spec: StepSpec, step: AnyStep, number: int) -> Data:
    try:
        return step.metadata_model.model_validate_json(json.dumps(dict(spec.metadata)))
    except ValidationError as error:
        location, message = first_problem(error)
        at = place(("steps", number, "metadata", *location))
        raise PlanInvalid(f"{message} (step '{spec.id}' of type {spec.type})", at=at) from error


def _resolve_inputs(
    plan: ExecutionPlan,
    spec: StepSpec,
    step: AnyStep,
    number: int,
    before: Mapping[str, CheckedStep],
) -> dict[str, tuple[str, str]]:
    wanted = {
        info.alias or name: (name, info.is_required())
        for name, info in step.inputs_model.model_fields.items()
    }
    for name in spec.inputs:
        if name not in wanted:
            names = ", ".join(sorted(wanted)) or "none"
            raise PlanInvalid(
                f"{spec.type} has no input '{name}'; it has: {names}", at=f"steps[{number}].inputs.{name}"
            )
    resolved: dict[str, tuple[str, str]] = {}
    for name, (field, required) in wanted.items():
        at = f"steps[{number}].inputs.{name}"
        if name in spec.inputs:
            resolved[field] = _source(plan, spec.inputs[name], at, before)
            _check_source(step, field, resolved[field][0], at, before)
        elif required:
            raise PlanInvalid(f"{spec.type} needs the input '{name}'; name the output it comes from", at=at)
    return resolved


def _source(plan: ExecutionPlan, source: str, at: str, before: Mapping[str, CheckedStep]) -> tuple[str, str]:
    origin, _, name = source.partition(".")
    if origin == REQUEST:
        if name not in plan.request:
            given = ", ".join(plan.request) or "nothing"
            raise PlanInvalid(f"the plan's request does not list '{name}'; it lists: {given}", at=at)
        return origin, name
    if origin not in before:
        later = any(step.id == origin for step in plan.steps)
        why = (
            f"step '{origin}' runs later or is this step itself" if later else f"there is no step '{origin}'"
        )
        raise PlanInvalid(f"{why}; an input comes from an earlier step or from '{REQUEST}'", at=at)
    return origin, _output_field(before[origin], name, at)


def _check_source(step: AnyStep, field: str, origin: str, at: str, before: Mapping[str, CheckedStep]) -> None:
    """Refuse a source that the step does not allow for this input."""
    allowed = step.input_sources.get(field)
    source = REQUEST if origin == REQUEST else before[origin].step.type
    if allowed is not None and source not in allowed:
        names = " or ".join(sorted(allowed))
        raise PlanInvalid(f"must come from {names}, not from {source}", at=at)


def _output_field(source: CheckedStep, name: str, at: str) -> str:
    fields: dict[str, Any] = source.step.output_model.model_fields
    for field, info in fields.items():
        if name == (info.alias or field):
            return field
    names = ", ".join(sorted(info.alias or field for field, info in fields.items())) or "nothing"
    raise PlanInvalid(f"step '{source.id}' has no output '{name}'; it returns: {names}", at=at)
