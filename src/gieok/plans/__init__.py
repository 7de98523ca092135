"""Policy as data: the plans that come with Gieok, and how a plan is found by its name or its file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from gieok.engine import ExecutionPlan, parse_plan
from gieok.engine.limits import PLAN_BYTES
from gieok.errors import NotFound, PlanInvalid


@cache
def plan_names() -> tuple[str, ...]:
    """The plans that come with the package."""
    return tuple(sorted(file.name[:-5] for file in files(__name__).iterdir() if file.name.endswith(".json")))


@cache
def _known() -> frozenset[str]:
    return frozenset(plan_names())


def is_shipped(name: str) -> bool:
    """Whether a plan of this name comes with the package."""
    return name in _known()


def read_plan(name_or_path: str) -> str:
    """The text of a plan: one of `plan_names()`, or a file, read no further than a plan may be long."""
    if is_shipped(name_or_path):
        return (files(__name__) / f"{name_or_path}.json").read_text(encoding="utf-8")
    try:
        with Path(name_or_path).open("rb") as file:
            content = file.read(PLAN_BYTES + 1)
        if len(content) > PLAN_BYTES:  # what was read may end in the middle of a character
            raise PlanInvalid(f"a plan may have at most {PLAN_BYTES} bytes", at="plan")
        return content.decode()
    except FileNotFoundError:
        known = ", ".join(plan_names())
        raise NotFound(f"there is no plan and no file '{name_or_path}'; the plans are: {known}") from None
    except (OSError, ValueError) as error:
        raise PlanInvalid(
            f"'{name_or_path}' cannot be read as UTF-8 text: {type(error).__name__}", at="plan"
        ) from error


def load_plan(name_or_path: str) -> ExecutionPlan:
    """A plan whose form is right. The registry says whether it can run."""
    return _shipped(name_or_path) if is_shipped(name_or_path) else parse_plan(read_plan(name_or_path))


@cache
def _shipped(name: str) -> ExecutionPlan:
    return parse_plan(read_plan(name))
