"""Execution plans: frozen data that lists the steps of a cycle, stage by stage. The hash is the identity."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, cast

import rfc8785
from pydantic import BeforeValidator, Field, StringConstraints, ValidationError

from gieok.engine.data import Data
from gieok.engine.strict_json import JsonRefused, is_deeper, json_path, parse_json
from gieok.errors import PlanInvalid

MAX_PLAN_BYTES = 256 * 1024
MAX_PLAN_DEPTH = 32
MAX_PLAN_STEPS = 64
REQUEST = "request"
"""The source name of the caller's values in `inputs`: `request.message`."""

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]
Source = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}\.[A-Za-z][A-Za-z0-9_]{0,63}$")
]


class Stage(StrEnum):
    """The stages of a cycle, in order. Each stage ends before the next one starts."""

    CONTEXT_SELECT = "ContextSelect"
    PROMPT_ASSEMBLE = "PromptAssemble"
    LLM_CALL = "LLMCall"
    POST_PROCESS = "PostProcess"
    PERSIST = "Persist"


ORDER: tuple[Stage, ...] = tuple(Stage)


def _stage(value: object) -> object:
    return Stage(value) if isinstance(value, str) and value in set(Stage) else value


class StepSpec(Data):
    """One step of a plan: its type, its stage, the sources of its inputs, and its policy (metadata)."""

    id: Name
    type: Name
    stage: Annotated[Stage, BeforeValidator(_stage)]
    inputs: Mapping[str, Source] = Field(default_factory=dict[str, str])
    metadata: Mapping[str, Any] = Field(default_factory=dict[str, Any])


class ExecutionPlan(Data):
    """A well-formed plan. The registry checks that its steps exist and fit together."""

    name: Name
    version: Annotated[int, Field(ge=0)] | Annotated[str, StringConstraints(pattern=r"^[\w.+-]{1,32}$")]
    request: tuple[Name, ...] = ()
    steps: Annotated[tuple[StepSpec, ...], Field(min_length=1, max_length=MAX_PLAN_STEPS)]

    @cached_property
    def document(self) -> dict[str, Any]:
        """The plan as it was written, without defaults filled in."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    @cached_property
    def hash(self) -> str:
        """The identity of the plan; see `plan_hash`."""
        return plan_hash(self.document)


def plan_hash(document: dict[str, Any]) -> str:
    """SHA-256 of the plan's canonical JSON (RFC 8785), metadata included: any change of policy changes it."""
    try:
        canonical = rfc8785.dumps(document)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise PlanInvalid(f"the plan has no canonical JSON form: {error}", at="plan") from error
    return hashlib.sha256(canonical).hexdigest()


def parse_plan(text: str | bytes) -> ExecutionPlan:
    """Parse a plan from JSON. Raises PlanInvalid with the place that is wrong."""
    content = text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
    if len(content) > MAX_PLAN_BYTES:
        raise PlanInvalid(f"a plan may have at most {MAX_PLAN_BYTES} bytes", at="plan")
    try:
        document = parse_json(content, depth=MAX_PLAN_DEPTH)
    except JsonRefused as refused:
        raise PlanInvalid(str(refused), at=refused.at or "plan") from None
    return make_plan(document)


def make_plan(document: Any) -> ExecutionPlan:
    """Make a plan from a parsed JSON document."""
    if not isinstance(document, dict):
        raise PlanInvalid("must be a JSON object with name, version and steps", at="plan")
    if is_deeper(document, MAX_PLAN_DEPTH):
        raise PlanInvalid(f"nested deeper than {MAX_PLAN_DEPTH} levels", at="plan")
    try:
        # Through JSON, so that an array may become a tuple while every other type stays strict.
        plan = ExecutionPlan.model_validate_json(json.dumps(document))
    except (ValidationError, TypeError) as error:
        raise _invalid(error, cast("dict[str, Any]", document)) from error
    except ValueError:  # Python refuses to write out an integer of thousands of digits
        raise PlanInvalid("contains a number with too many digits", at="plan") from None
    _check_ids(plan)
    plan.hash  # noqa: B018  a plan without a canonical form is refused now, not when it first runs
    return plan


def place(location: tuple[int | str, ...]) -> str:
    """`("steps", 2, "stage")` as `steps[2].stage`; the plan itself is `plan`."""
    return json_path(location) or "plan"


def first_problem(error: ValidationError) -> tuple[tuple[int | str, ...], str]:
    """The location and the message of the first problem that pydantic found."""
    problem = error.errors(include_url=False, include_input=False)[0]
    return problem["loc"], without_prefix(problem["msg"])


def without_prefix(message: str) -> str:
    """A message of pydantic without the prefix that it puts before messages of our own validators."""
    return message.removeprefix("Value error, ")


def _invalid(error: ValidationError | TypeError, document: dict[str, Any]) -> PlanInvalid:
    if isinstance(error, TypeError):
        return PlanInvalid("contains something that is not JSON", at="plan")
    location, message = first_problem(error)
    is_missing = error.errors(include_url=False, include_input=False)[0]["type"] == "missing"
    found = _in_document(location, document)
    return PlanInvalid(message, at=place(location[: len(found) + 1] if is_missing else found))


def _in_document(location: tuple[int | str, ...], document: Any) -> tuple[int | str, ...]:
    """The part of a location that is in the document: pydantic adds the type that it tried of a union."""
    for depth, part in enumerate(location):
        members = dict(enumerate(cast("list[Any]", document))) if isinstance(document, list) else document
        if not isinstance(members, dict) or part not in members:
            return location[:depth]
        document = cast("dict[int | str, Any]", members)[part]
    return location


def _check_ids(plan: ExecutionPlan) -> None:
    seen: dict[str, int] = {}
    for number, step in enumerate(plan.steps):
        at = f"steps[{number}].id"
        if step.id == REQUEST:
            raise PlanInvalid(f"'{REQUEST}' is reserved for the caller's values; choose another id", at=at)
        if step.id in seen:
            raise PlanInvalid(f"'{step.id}' is already the id of steps[{seen[step.id]}]", at=at)
        seen[step.id] = number
