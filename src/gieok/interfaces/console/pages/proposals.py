"""Propose a decision: a form, the guardian's report on it, and saving exactly what was checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from gieok.app.decisions import ProposalResult
from gieok.errors import Conflict, InputRefused, NotFound
from gieok.interfaces.console.page import Page, ReadPage, WritePage
from gieok.interfaces.console.pages.decisions import choices, impact_graph
from gieok.interfaces.rest.schema.common import parse_uuid
from gieok.interfaces.rest.schema.params import DecisionPath
from gieok.memory.decisions.records import RELATION_TYPES, STRENGTHS, Decision, DecisionProposal
from gieok.memory.decisions.rules import MAX_VERSION, read_proposal

router = APIRouter(prefix="/decisions")

EMPTY_ROWS = 2
"""Rows for new relations below those that are filled in."""
_FIELDS = ("statement", "rationale", "strength", "domain", "evidence", "root", "version")

_NAMES = {"evidenceIds": "evidence", "rootId": "root"}
"""Fields of the form that have another name than those of the API."""


@router.get("/new")
async def new(page: WritePage) -> Response:
    values = dict.fromkeys(_FIELDS, "") | {"strength": "normal"}
    return await _form(page, values, [])


@router.get("/{rootId}/edit")
async def edit(root_id: DecisionPath, page: WritePage) -> Response:
    """The form with the active version. What is saved becomes the next one."""
    decision = await page.user.decisions.get(root_id)
    return await _form(page, _values(decision), [])


@router.post("/proposals")
async def propose(page: ReadPage) -> Response:
    """Check the form: what it would replace, affect and conflict with. Nothing is stored."""
    values, relations = _given(page)
    await _check_root(page, values)
    try:
        report = await page.user.decisions.propose(_proposal(values, relations))
    except (InputRefused, NotFound) as error:
        return await _form(page, values, relations, errors=_errors(error))
    return await _form(page, values, relations, report=report)


@router.post("/save")
async def save(page: WritePage) -> Response:
    """Save what was checked. If someone else has changed the decision meanwhile, nothing is saved."""
    values, relations = _given(page)
    await _check_root(page, values)
    version = values["version"]
    expected = int(version) if version.isdigit() and int(version[:11]) <= MAX_VERSION else None
    try:
        saved = await page.user.decisions.save(_proposal(values, relations), expected_version=expected)
    except (InputRefused, NotFound) as error:
        return await _form(page, values, relations, errors=_errors(error))
    except Conflict:
        theirs = await page.user.decisions.get(parse_uuid(values["root"]))
        newer = {**values, "version": str(theirs.version)}
        return await _form(page, newer, relations, theirs=theirs)
    return page.redirect("decisions", str(saved.root_id), done="saved")


def _values(decision: Decision) -> dict[str, str]:
    return {
        "statement": decision.statement,
        "rationale": decision.rationale or "",
        "strength": decision.strength,
        "domain": decision.domain or "",
        "evidence": "\n".join(map(str, decision.evidence_ids)),
        "root": str(decision.root_id),
        "version": str(decision.version),
    }


def _given(page: Page) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The form as it was filled in: its fields, and its relations as type and target."""
    values = {name: page.form.get(name) for name in _FIELDS}
    pairs = zip(page.form.all("type"), page.form.all("target"), strict=False)
    return values, [(type_, target.strip()) for type_, target in pairs if target.strip()]


async def _check_root(page: Page, values: Mapping[str, str]) -> None:
    """NotFound for a change of a decision that does not exist."""
    if values["root"]:
        try:
            await page.user.decisions.get(parse_uuid(values["root"]))
        except ValueError:
            raise NotFound("there is no such decision") from None


def _proposal(values: Mapping[str, str], relations: list[tuple[str, str]]) -> DecisionProposal:
    """InputRefused names the field that is wrong."""
    return read_proposal(
        {
            "statement": values["statement"],
            "rationale": values["rationale"] or None,
            "strength": values["strength"],
            "scope": "domain" if values["domain"] else "global",
            "domain": values["domain"] or None,
            "evidenceIds": values["evidence"].split(),
            "rootId": values["root"] or None,
            "relations": [{"type": type_, "target": target} for type_, target in relations],
        }
    )


def _errors(error: InputRefused | NotFound) -> dict[str, str]:
    """The error beside its field. A decision or evidence that does not exist is named beside its list."""
    if isinstance(error, InputRefused):
        at = error.at or ""
        field = re.split(r"[.\[]", at)[0]
        return {_NAMES.get(field, field): str(error).removeprefix(f"{at}: ")}
    return {"evidence" if "evidence" in str(error) else "relations": str(error)}


async def _form(
    page: Page,
    values: Mapping[str, str],
    relations: list[tuple[str, str]],
    *,
    errors: Mapping[str, str] | None = None,
    report: ProposalResult | None = None,
    theirs: Decision | None = None,
) -> Response:
    return page.render(
        "proposal.html",
        409 if theirs else 422 if errors else 200,
        values=values,
        relations=relations,
        rows=[*relations, *[("", "")] * EMPTY_ROWS],
        errors=errors or {},
        report=report,
        theirs=theirs,
        strengths=STRENGTHS,
        relation_types=RELATION_TYPES,
        choices=await choices(page),
        **(await _reported(page, report)),
    )


async def _reported(page: Page, result: ProposalResult | None) -> dict[str, Any]:
    """The decisions that the report names, and its blast radius as a graph."""
    if result is None:
        return {"names": {}, "graph": None}
    report = result.report
    concerns = (*report.constrained_by, *report.conflicts, *report.lapsing)
    paths = [path for each in concerns for path in each.path]
    roots = [
        *(node.root_id for node in report.impact.nodes),
        *(end for e in paths for end in (e.source, e.target)),
    ]
    names = {each.root_id: each for each in await page.user.decisions.active(list(dict.fromkeys(roots)))}
    return {"names": names, "graph": impact_graph(report.impact, names)}
