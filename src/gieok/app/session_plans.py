"""The plans that serve a session besides its chat plan: save messages, close, summarise, remember, move.

A chat plan names them in its metadata by name and hash, and the session stores the names. Only plans that
come with Gieok can be named: a name is never read as a path of a file.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from gieok.engine import CheckedPlan, Registry
from gieok.engine.plan import ExecutionPlan
from gieok.errors import Conflict, PlanInvalid
from gieok.memory.conversation.steps import LLMCall
from gieok.memory.sessions.records import Session, SessionPlans
from gieok.memory.sessions.steps import InactivityMetadata, PlanMetadata
from gieok.memory.usage import CheckBudget, CountUsage, ModelUsage
from gieok.plans import is_shipped, load_plan, plan_name, plan_names

CHAT_PLAN = "chat_turn"
WITHDRAW_PLAN = "withdraw_turn"

Role = Literal[
    "save_messages", "close", "close_inactive", "request_summary", "summarize", "remember", "move", "withdraw"
]


def check_plan(registry: Registry, plan: ExecutionPlan) -> CheckedPlan:
    """Check a plan and the plans that it names. PlanInvalid says what is wrong and where."""
    checked = registry.check(plan)
    numbers = {spec.id: number for number, spec in enumerate(plan.steps)}
    for steps in checked.stages.values():
        for step in steps:
            if isinstance(step.metadata, PlanMetadata):
                _check_names(step.metadata.plans, f"steps[{numbers[step.id]}].metadata.plans")
    return checked


def check_caller_plan(checked: CheckedPlan) -> ExecutionPlan:
    """The plan, if a caller may run it: see `User.check_caller_plan`. PlanInvalid otherwise."""
    conversation, shipped = _shipped_steps()
    steps = [step for stage in checked.stages.values() for step in stage]
    numbers = {spec.id: number for number, spec in enumerate(checked.plan.steps)}
    for step in steps:
        if step.step.type in shipped - conversation:
            raise PlanInvalid(
                f"{step.step.type} is not a step of conversations, so a caller's plan may not have it",
                at=f"steps[{numbers[step.id]}].type",
            )
    if not any(isinstance(step.step, CheckBudget) for step in steps):
        raise PlanInvalid("a caller's plan needs CheckBudget", at="steps")
    counted = {
        source for step in steps if isinstance(step.step, CountUsage) for source in step.inputs.values()
    }
    for step in steps:
        for name, field in step.step.output_model.model_fields.items():
            is_usage = field.annotation is ModelUsage and not isinstance(step.step, CountUsage)
            if is_usage and (step.id, name) not in counted:
                place = f"steps[{numbers[step.id]}]"
                raise PlanInvalid(
                    "CountUsage must count the tokens of this step in a caller's plan", at=place
                )
    return checked.plan


@cache
def _shipped_steps() -> tuple[frozenset[str], frozenset[str]]:
    """The types of steps in the shipped plans that reply, and in all shipped plans."""
    plans = [load_plan(name) for name in plan_names()]
    types = [frozenset(step.type for step in plan.steps) for plan in plans]
    replying = [each for each in types if LLMCall.type in each]
    return frozenset[str]().union(*replying), frozenset[str]().union(*types)


def named_plans(checked: CheckedPlan) -> SessionPlans | None:
    """The plans that a chat plan names. None if no step of it records the plan of a session."""
    steps = (step for stage in checked.stages.values() for step in stage)
    return next((step.metadata.plans for step in steps if isinstance(step.metadata, PlanMetadata)), None)


def inactivity_minutes(checked: CheckedPlan) -> int | None:
    """How long a session of this plan may be inactive until it counts as ended. None: without limit."""
    steps = (step for stage in checked.stages.values() for step in stage)
    limits = [
        step.metadata.inactivity_minutes for step in steps if isinstance(step.metadata, InactivityMetadata)
    ]
    return min(limits, default=None)


def plan_for(registry: Registry, session: Session, role: Role) -> str:
    """The name of the plan that serves a session in this role. Conflict if its chat plan has none.

    A session of an older version has stored no names. Then its hash tells which chat plan it is. A turn can
    be withdrawn under every plan.
    """
    plans = session.plans
    if plans is None:
        chat_plan = plan_name(session.last_execution_plan_hash) or CHAT_PLAN
        plans = named_plans(registry.check(load_plan(chat_plan)))
    ref: str | None = getattr(plans, role, None)
    name = ref.partition("@")[0] if ref is not None else WITHDRAW_PLAN if role == "withdraw" else ""
    if not is_shipped(name):
        raise Conflict(f"the plan of this session names no plan for '{role}'; move it to another plan")
    return name


def _check_names(plans: SessionPlans, at: str) -> None:
    for field, info in type(plans).model_fields.items():
        ref: str | None = getattr(plans, field)
        if ref is None:
            continue
        name, _, plan_hash = ref.partition("@")
        place = f"{at}.{info.alias or field}"
        if not is_shipped(name):
            known = ", ".join(plan_names())
            raise PlanInvalid(f"there is no shipped plan '{name}'; the plans are: {known}", at=place)
        if (actual := load_plan(name).hash) != plan_hash:
            raise PlanInvalid(f"the hash of '{name}' is {actual} in this version; name that one", at=place)
