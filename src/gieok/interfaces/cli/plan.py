"""`gieok plan`: list, show, check and hash execution plans. Needs no database and no key."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from gieok.errors import GieokError, PlanInvalid
from gieok.interfaces.cli.options import json_option, lang_option
from gieok.interfaces.cli.output import print_json, print_table, printable
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from gieok.engine import ExecutionPlan, Registry

SHORT_HASH = 12
STDIN = "-"


@click.group()
def plan() -> None:
    """Execution plans: the steps of a cycle, as JSON.

    PLAN is the name of a built-in plan, the path of a JSON file, or - for standard input.
    """


@plan.command("list")
@json_option
@lang_option
def list_plans(as_json: bool, t: Translator) -> None:
    """List the built-in plans."""
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
        [t("plan.name"), t("plan.version"), t("plan.steps"), t("plan.hash")],
        [[each.name, str(each.version), str(len(each.steps)), each.hash[:SHORT_HASH]] for each in plans],
    )


@plan.command()
@click.argument("source", metavar="PLAN")
@json_option
@lang_option
def show(source: str, as_json: bool, t: Translator) -> None:
    """Show the stages and steps of PLAN with their inputs and metadata."""
    found = _load(source)
    if as_json:
        print_json(found.document)
        return
    print(t("plan.title", name=found.name, version=found.version, hash=found.hash))
    print(t("plan.request", names=", ".join(found.request) or "-"))
    print()
    print_table(
        [t("plan.stage"), t("plan.step"), t("plan.type"), t("plan.inputs"), t("plan.metadata")],
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
def check(context: click.Context, sources: tuple[str, ...], as_json: bool, t: Translator) -> None:
    """Check whether each PLAN can run, and show the place of an error."""
    from gieok.app import build_registry, offline_model

    registry = build_registry(offline_model())
    results = [(source, _find_error(source, registry)) for source in sources]
    if as_json:
        print_json([_result_json(source, error) for source, error in results])
    else:
        for source, error in results:
            if error is None:
                print(t("plan.ok", plan=source))
            else:
                print(f"error: {error} [{error.code}]", file=sys.stderr)
    if any(error for _, error in results):
        context.exit(1)


@plan.command("hash")
@click.argument("source", metavar="PLAN")
def print_hash(source: str) -> None:
    """Print the SHA-256 of the canonical JSON of PLAN. Sessions store it."""
    print(_load(source).hash)


def _load(source: str) -> ExecutionPlan:
    from gieok.engine import parse_plan
    from gieok.engine.plan import MAX_PLAN_BYTES
    from gieok.plans import load_plan

    with _source_in_errors(source):
        if source == STDIN:
            return parse_plan(sys.stdin.buffer.read(MAX_PLAN_BYTES + 1))
        return load_plan(source)


def _find_error(source: str, registry: Registry) -> GieokError | None:
    from gieok.app.session_plans import check_plan

    try:
        found = _load(source)
        with _source_in_errors(source):
            check_plan(registry, found)
    except GieokError as error:
        return error
    return None


@contextmanager
def _source_in_errors(source: str) -> Generator[None]:
    """Add the name of the plan to its errors, which only say the place inside the plan."""
    try:
        yield
    except PlanInvalid as error:
        raise PlanInvalid(printable(str(error)), at=source) from error


def _lines(values: Mapping[str, str]) -> str:
    return "\n".join(printable(f"{name} = {value}") for name, value in values.items())


def _as_json(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: json.dumps(value, ensure_ascii=False) for name, value in values.items()}


def _result_json(source: str, error: GieokError | None) -> dict[str, Any]:
    if error is None:
        return {"plan": source, "ok": True}
    return {"plan": source, "ok": False, "error": error.code, "message": str(error)}
