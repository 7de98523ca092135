"""The shipped plans, loading a plan by name or from a file, and the names of plans by hash.

`former_hashes.txt` has the hashes that shipped plans had before they were changed: a session stores the hash
of its plan, and is closed by the plans that belong to it even after an upgrade.
"""

from __future__ import annotations

from collections.abc import Mapping
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


def plan_name(plan_hash: str) -> str | None:
    """The name of the shipped plan that has this hash or had it in an earlier version. None for others."""
    return _names_by_hash().get(plan_hash)


@cache
def former_hashes() -> Mapping[str, str]:
    """Former hash → the name of the shipped plan."""
    text = (files(__name__) / "former_hashes.txt").read_text(encoding="utf-8")
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return dict(rows)


@cache
def _names_by_hash() -> Mapping[str, str]:
    return {**former_hashes(), **{load_plan(name).hash: name for name in plan_names()}}


@cache
def _shipped(name: str) -> ExecutionPlan:
    return parse_plan(read_plan(name))
