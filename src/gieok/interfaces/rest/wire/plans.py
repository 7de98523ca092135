"""A plan in a body: the name of one that comes with Gieok, or a whole one."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import BeforeValidator, Field

from gieok.engine import ExecutionPlan, make_plan
from gieok.errors import PlanInvalid
from gieok.plans import is_shipped, plan_names


def _name_or_plan(value: object) -> object:
    if not isinstance(value, str | dict):
        raise ValueError("must be the name of a plan, or a whole plan")  # noqa: TRY004  for pydantic to tell
    return cast(object, value)


PlanIn = Annotated[
    str | dict[str, Any],
    BeforeValidator(_name_or_plan),
    Field(description="The name of a plan that comes with Gieok, or a whole plan."),
]


def to_plan(plan: str | dict[str, Any]) -> str | ExecutionPlan:
    """PlanInvalid for what is neither. A file's path is no name here: it would read the server's disk."""
    if isinstance(plan, dict):
        return make_plan(plan)
    if not is_shipped(plan):
        known = ", ".join(plan_names())
        raise PlanInvalid(f"there is no plan of this name; send a whole plan, or one of: {known}", at="plan")
    return plan
