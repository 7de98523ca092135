"""The shipped plans, and loading a plan by name or from a file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from gieok.engine import ExecutionPlan, parse_plan
from gieok.engine.plan import MAX_PLAN_BYTES
from gieok.errors import NotFound, PlanInvalid


@cache
def plan_names() -> tuple[str, ...]:
    """The names of the shipped plans."""
    return tuple(sorted(file.name[:-5] for file in files(__name__).iterdir() if file.name.endswith(".json")))


@cache
def _name_set() -> frozenset[str]:
    return frozenset(plan_names())


def is_shipped(name: str) -> bool:
    """Whether a shipped plan has this name."""
    return name in _name_set()


def read_plan(name_or_path: str) -> str:
    """The text of a shipped plan or of a plan file. Raises NotFound, PlanInvalid."""
    if is_shipped(name_or_path):
        return (files(__name__) / f"{name_or_path}.json").read_text(encoding="utf-8")
    try:
        with Path(name_or_path).open("rb") as file:
            content = file.read(MAX_PLAN_BYTES + 1)
        if len(content) > MAX_PLAN_BYTES:  # the last character may be cut, so do not decode
            raise PlanInvalid(f"a plan may have at most {MAX_PLAN_BYTES} bytes", at="plan")
        return content.decode()
    except FileNotFoundError:
        names = ", ".join(plan_names())
        raise NotFound(f"there is no plan and no file '{name_or_path}'; the plans are: {names}") from None
    except (OSError, ValueError) as error:
        raise PlanInvalid(
            f"'{name_or_path}' cannot be read as UTF-8 text: {type(error).__name__}", at="plan"
        ) from error


def load_plan(name_or_path: str) -> ExecutionPlan:
    """Load and parse a plan. The registry checks whether it can run."""
    return _shipped(name_or_path) if is_shipped(name_or_path) else parse_plan(read_plan(name_or_path))


@cache
def _shipped(name: str) -> ExecutionPlan:
    return parse_plan(read_plan(name))
