"""Plans: each as a graph of stages and steps with its hash, and the difference of two."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from fastapi import APIRouter
from starlette.responses import Response

from gieok.engine import ExecutionPlan, parse_plan
from gieok.engine.plan import ORDER, REQUEST, StepSpec
from gieok.errors import NotFound, PlanInvalid
from gieok.interfaces.console.page import Page, ReadPage
from gieok.plans import is_shipped, load_plan, plan_names

router = APIRouter(prefix="/plans")

_ABSENT = ""
"""Shown for a value that one of two plans does not have."""


class Change(NamedTuple):
    """A value that differs: its place in the step or the plan, and what it was and is, as JSON."""

    at: str
    old: str
    new: str


class StepDifference(NamedTuple):
    """A step in two plans. `kind` is added, removed, changed or same."""

    step: StepSpec
    kind: str
    changes: Sequence[Change]


@router.get("")
async def show(page: ReadPage) -> Response:
    return page.render("plans.html", plans=[load_plan(name) for name in plan_names()])


@router.get("/diff")
async def difference(page: ReadPage) -> Response:
    """Two shipped plans, by name."""
    old, new = _shipped(page.query.get("old", "")), _shipped(page.query.get("new", ""))
    return _compare(page, old, new)


@router.post("/diff")
async def difference_of_text(page: ReadPage) -> Response:
    """A shipped plan and one that was pasted. It is compared and not stored."""
    old, text = _shipped(page.form.get("old")), page.form.get("text")
    try:
        new = parse_plan(text)
    except PlanInvalid as invalid:
        return _compare(page, old, None, text, {"text": str(invalid)})
    return _compare(page, old, new, text)


@router.get("/{name}")
async def one(name: str, page: ReadPage) -> Response:
    plan = _shipped(name)
    return page.render(
        "plan.html",
        plan=plan,
        graph=plan_graph(plan.steps, {}),
        metadata={step.id: dict(_flat(step.metadata)) for step in plan.steps},
        names=plan_names(),
    )


def _shipped(name: str) -> ExecutionPlan:
    """The shipped plan of this name. A path is not a name: nobody reads files of the server here."""
    if not is_shipped(name):
        raise NotFound("there is no such plan")
    return load_plan(name)


def _compare(
    page: Page,
    old: ExecutionPlan,
    new: ExecutionPlan | None,
    text: str = "",
    errors: Mapping[str, str] | None = None,
) -> Response:
    steps = differences(old, new) if new else []
    return page.render(
        "plan_diff.html",
        422 if errors else 200,
        old=old,
        new=new,
        changes=_changes(_head(old), _head(new)) if new else [],
        steps=steps,
        graph=plan_graph([each.step for each in steps], {each.step.id: each.kind for each in steps}),
        names=plan_names(),
        text=text,
        errors=errors or {},
    )


def differences(old: ExecutionPlan, new: ExecutionPlan) -> list[StepDifference]:
    """Every step of both plans in the order of the new one, removed steps after those of their stage."""
    before = {step.id: step for step in old.steps}
    after = {step.id: step for step in new.steps}
    found: list[StepDifference] = []
    for step in new.steps:
        changes = _changes(_values(before[step.id]), _values(step)) if step.id in before else []
        kind = "added" if step.id not in before else "changed" if changes else "same"
        found.append(StepDifference(step, kind, changes))
    found += [StepDifference(step, "removed", []) for step in old.steps if step.id not in after]
    return sorted(found, key=lambda each: ORDER.index(each.step.stage))


def _head(plan: ExecutionPlan) -> Mapping[str, Any]:
    return {"name": plan.name, "version": plan.version, "request": list(plan.request)}


def _values(step: StepSpec) -> Mapping[str, Any]:
    return {
        "type": step.type,
        "stage": step.stage.value,
        "inputs": dict(step.inputs),
        "metadata": dict(step.metadata),
    }


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    before, after = dict(_flat(old)), dict(_flat(new))
    places = [*before, *(place for place in after if place not in before)]
    return [
        Change(place, before.get(place, _ABSENT), after.get(place, _ABSENT))
        for place in places
        if before.get(place) != after.get(place)
    ]


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Each value with its place, such as `weights.bm25`, as JSON."""
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(cast("Mapping[str, Any]", value), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", json.dumps(value, ensure_ascii=False)


def plan_graph(steps: Sequence[StepSpec], kinds: Mapping[str, str]) -> Mapping[str, Any]:
    """Steps in columns, so that every input comes from the left, and one group for each stage."""
    columns: dict[str, int] = {}
    nodes: list[dict[str, Any]] = []
    edges: dict[tuple[str, str], None] = {}
    first = 0
    for stage in ORDER:
        rows: dict[int, int] = {}
        for step in (each for each in steps if each.stage == stage):
            sources = [source for source in sources_of(step) if source in columns]
            column = max([first, *(columns[source] + 1 for source in sources)])
            columns[step.id] = column
            row = rows[column] = rows.get(column, -1) + 1
            kind = kinds.get(step.id, "normal")
            label = step.id if step.id == step.type else f"{step.id}\n{step.type}"
            place = {"column": column, "row": row}
            nodes.append({"id": step.id, "label": label, "kind": kind, "parent": f"stage {stage}", **place})
            edges.update(dict.fromkeys((source, step.id) for source in sources))
        first = max([first, *(column + 1 for column in columns.values())])
    return {
        "groups": [
            {"id": f"stage {stage}", "label": stage.value}
            for stage in ORDER
            if any(step.stage == stage for step in steps)
        ],
        "nodes": nodes,
        "edges": [{"source": source, "label": "", "target": target} for source, target in edges],
    }


def sources_of(step: StepSpec) -> list[str]:
    """The steps whose outputs a step reads."""
    found = dict.fromkeys(source.partition(".")[0] for source in step.inputs.values())
    return [source for source in found if source != REQUEST]
