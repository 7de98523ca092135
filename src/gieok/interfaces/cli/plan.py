"""`gieok plan`: what the plans are, and whether a plan can run. No database and no key is needed."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from gieok.errors import GieokError, PlanInvalid
from gieok.interfaces.cli.harmless import printable
from gieok.interfaces.cli.output import json_option, lang_option, print_json, print_table
from gieok.interfaces.cli.wording import Say

if TYPE_CHECKING:
    from gieok.adapters.sql.scope import OwnerScope
    from gieok.engine import ExecutionPlan, Registry

SHORT_HASH = 12
STDIN = "-"


@click.group()
def plan() -> None:
    """Execution plans: what happens in a cycle, as data.

    A plan is named by its name, by the path of a JSON file, or by - for standard input.
    """


@plan.command("list")
@json_option
@lang_option
def list_plans(as_json: bool, say: Say) -> None:
    """The plans that come with Gieok."""
    from gieok.plans import load_plan, plan_names

    plans = [load_plan(name) for name in plan_names()]
    if as_json:
        print_json(
            [
                {"name": each.name, "version": each.version, "steps": len(each.steps), "hash": each.hash}
                for each in plans
            ]
        )
        return
    print_table(
        [say("plan.name"), say("plan.version"), say("plan.steps"), say("plan.hash")],
        [[each.name, str(each.version), str(len(each.steps)), each.hash[:SHORT_HASH]] for each in plans],
    )


@plan.command()
@click.argument("source", metavar="PLAN")
@json_option
@lang_option
def show(source: str, as_json: bool, say: Say) -> None:
    """The stages and steps of PLAN with their inputs and their policy."""
    found = _load(source)
    if as_json:
        print_json(found.document)
        return
    print(say("plan.title", name=found.name, version=found.version, hash=found.hash))
    print(say("plan.request", names=", ".join(found.request) or "-"))
    print()
    print_table(
        [say("plan.stage"), say("plan.step"), say("plan.type"), say("plan.inputs"), say("plan.policy")],
        [
            [step.stage.value, step.id, step.type, _lines(step.inputs), _lines(_as_json(step.metadata))]
            for step in found.steps
        ],
    )


@plan.command()
@click.argument("sources", metavar="PLAN...", nargs=-1, required=True)
@json_option
@lang_option
@click.pass_context
def check(context: click.Context, sources: tuple[str, ...], as_json: bool, say: Say) -> None:
    """Say whether each PLAN can run, or which place in it is wrong."""
    from gieok.app import build_registry, offline_model

    registry = build_registry(offline_model())
    verdicts = [(source, _problem(source, registry)) for source in sources]
    if as_json:
        print_json([_verdict(source, problem) for source, problem in verdicts])
    else:
        for source, problem in verdicts:
            _tell(say, source, problem)
    if any(problem for _, problem in verdicts):
        context.exit(1)


@plan.command("hash")
@click.argument("source", metavar="PLAN")
def print_hash(source: str) -> None:
    """The SHA-256 of PLAN over its canonical JSON. A session remembers it."""
    print(_load(source).hash)


def _load(source: str) -> ExecutionPlan:
    from gieok.engine import parse_plan
    from gieok.engine.limits import PLAN_BYTES
    from gieok.plans import load_plan

    with _named(source):
        if source == STDIN:
            return parse_plan(sys.stdin.buffer.read(PLAN_BYTES + 1))
        return load_plan(source)


def _problem(source: str, registry: Registry[OwnerScope]) -> GieokError | None:
    try:
        found = _load(source)
        with _named(source):
            registry.check(found)
    except GieokError as error:
        return error
    return None


@contextmanager
def _named(source: str) -> Generator[None]:
    """A plan's error says the place in the plan; here it also says which plan."""
    try:
        yield
    except PlanInvalid as error:
        raise PlanInvalid(printable(str(error)), at=source) from error


def _lines(values: Mapping[str, str]) -> str:
    return "\n".join(printable(f"{name} = {value}") for name, value in values.items())


def _as_json(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: json.dumps(value, ensure_ascii=False) for name, value in values.items()}


def _verdict(source: str, problem: GieokError | None) -> dict[str, Any]:
    if problem is None:
        return {"plan": source, "ok": True}
    return {"plan": source, "ok": False, "error": problem.code, "message": str(problem)}


def _tell(say: Say, source: str, problem: GieokError | None) -> None:
    if problem is None:
        print(say("plan.ok", plan=source))
    else:
        print(f"error: {problem} [{problem.code}]", file=sys.stderr)
