"""Decisions: the list, the seven layers of a domain, and one decision with its relations and blast radius.

A domain, a question and a statement are content, so they are sent in the body of a form and never in a URL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gieok.app.decisions import PAGE, checked_domain
from gieok.errors import InputRefused, NotFound
from gieok.interfaces.console.filters import short, visible
from gieok.interfaces.console.page import Page, ReadPage, WritePage
from gieok.interfaces.rest.schema.common import parse_uuid
from gieok.interfaces.rest.schema.params import DecisionPath, EvidencePath, RelationPath
from gieok.memory.decisions.loading.layers import LoadedContext
from gieok.memory.decisions.records import (
    RELATION_TYPES,
    STRENGTHS,
    Decision,
    EvidenceCard,
    Impact,
    PathEdge,
    RelationType,
    Scope,
)
from gieok.memory.decisions.rules import MAX_LIST, check_query

router = APIRouter(prefix="/decisions")

PAGE_SIZE = 50
SHOWN = 200
"""Affected decisions and relations that a page shows at first; `?all=1` shows all of them."""
_SCOPES: tuple[Scope, ...] = get_args(Scope)


@router.get("")
async def show(page: ReadPage) -> Response:
    """Active decisions, strongest first."""
    strength, scope = page.query.get("strength", ""), page.query.get("scope", "")
    listed = await page.user.decisions.list(
        strength=strength if strength in STRENGTHS else None,
        scope=scope if scope in _SCOPES else None,
        limit=PAGE_SIZE,
        cursor=page.query.get("cursor") or None,
    )
    values = {"domain": "", "q": "", "strength": strength, "scope": scope}
    return await _render(page, values, listed=listed)


@router.post("")
async def layers(page: ReadPage) -> Response:
    """The seven layers of a domain, in loading order. With a question, what shares words with it as well."""
    values = {"domain": page.form.get("domain"), "q": page.form.get("q"), "strength": "", "scope": ""}
    if not values["domain"]:
        return await _render(page, values, {"domain": page.t("field.required")})
    loaded, errors = await page.attempt(_load(page, values["domain"], values["q"]))
    if loaded is None:
        return await _render(page, values, errors)
    return await _render(page, values, loaded=loaded, names=await names_of(page, _roots_of(loaded)))


@router.get("/evidence/{id}")
async def evidence(evidence_id: EvidencePath, page: ReadPage) -> Response:
    return page.render("evidence.html", evidence=await page.user.decisions.evidence(evidence_id))


@router.get("/{rootId}")
async def one(root_id: DecisionPath, page: ReadPage) -> Response:
    return await _show_one(page, root_id)


@router.post("/{rootId}/relations")
async def relate(root_id: DecisionPath, page: WritePage) -> Response:
    kind, target = page.form.get("type"), page.form.get("target")
    if kind not in RELATION_TYPES:
        return await _show_one(page, root_id, {"type": page.t("field.required")}, target)
    try:
        await page.user.decisions.relate(root_id, kind, parse_uuid(target))
    except (InputRefused, NotFound, ValueError):
        return await _show_one(page, root_id, {"target": page.t("decision.target.unknown")}, target)
    return page.redirect("decisions", str(root_id), done="saved")


@router.post("/{rootId}/relations/{id}/delete")
async def unrelate(root_id: DecisionPath, relation_id: RelationPath, page: WritePage) -> Response:
    await page.user.decisions.unrelate(relation_id, root_id=root_id)
    return page.redirect("decisions", str(root_id), done="deleted", count="1")


async def _load(page: Page, domain: str, query: str) -> LoadedContext:
    """The layers. InputRefused names the field that is wrong."""
    check_query(query)
    return await page.user.decisions.context(checked_domain(domain) or "", q=query or None)


async def _render(
    page: Page, values: Mapping[str, str], errors: Mapping[str, str] | None = None, **found: Any
) -> Response:
    shown: dict[str, Any] = {"listed": None, "loaded": None, "names": {}, **found}
    return page.render(
        "decisions.html",
        422 if errors else 200,
        values=values,
        errors=errors or {},
        domains=await _domains(page),
        strengths=STRENGTHS,
        scopes_of_decisions=_SCOPES,
        **shown,
    )


async def _show_one(
    page: Page, root_id: UUID, errors: Mapping[str, str] | None = None, target: str = ""
) -> Response:
    decisions = page.user.decisions
    decision = await decisions.get(root_id)
    limit = None if page.query.get("all") else SHOWN
    impact = await decisions.impact(root_id, limit=limit)
    relations = await decisions.relations(root_id)
    shown = relations[:limit]
    ends = {end for each in shown for end in (each.source, each.target)}
    names = await names_of(page, [root_id, *(node.root_id for node in impact.nodes), *ends])
    return page.render(
        "decision.html",
        422 if errors else 200,
        decision=decision,
        impact=impact,
        graph=impact_graph(impact, names),
        relations=shown,
        is_cut=limit is not None and (impact.truncated or len(shown) < len(relations)),
        shown_at_most=SHOWN,
        names=names,
        versions=list(reversed(await decisions.history(root_id, limit=MAX_LIST))),
        evidence=await _cards(page, decision.evidence_ids),
        relation_types=RELATION_TYPES,
        choices=await choices(page),
        errors=errors or {},
        target=target,
    )


async def choices(page: Page) -> Sequence[Decision]:
    """Decisions that a form offers as the target of a relation."""
    return (await page.user.decisions.list(limit=PAGE)).decisions


async def _domains(page: Page) -> list[str]:
    """Domains that the form offers: those of the strongest decisions."""
    return sorted({each.domain for each in await choices(page) if each.domain})


async def names_of(page: Page, root_ids: Iterable[UUID]) -> Mapping[UUID, Decision]:
    """The decisions with these roots, to name them where the API returns ids only."""
    found = await page.user.decisions.active(list(dict.fromkeys(root_ids)))
    return {each.root_id: each for each in found}


async def _cards(page: Page, ids: Sequence[UUID]) -> Sequence[EvidenceCard]:
    return [await page.user.decisions.evidence(each) for each in ids]


def _roots_of(loaded: LoadedContext) -> list[UUID]:
    """The roots on the paths of the items, whose statements the page shows."""
    paths: Iterable[PathEdge] = (
        edge for layer in loaded.layers for item in layer.items for edge in getattr(item, "path", ())
    )
    structural = [item.root_id for item in loaded.layers[1].items if item.kind == "structural"]
    return [*structural, *(end for edge in paths for end in (edge.source, edge.target))]


def impact_graph(impact: Impact, names: Mapping[UUID, Decision]) -> Mapping[str, Any]:
    """The blast radius as nodes in columns by distance, and the edges of all paths."""
    rows: dict[int, int] = {}
    nodes = [_node(impact.origin, 0, rows, names)]
    nodes += [_node(node.root_id, node.distance, rows, names) for node in impact.nodes]
    edges: dict[tuple[UUID, RelationType, UUID], None] = {}
    for node in impact.nodes:
        edges.update(dict.fromkeys((edge.source, edge.type, edge.target) for edge in node.path))
    return {
        "nodes": nodes,
        "edges": [
            {"source": str(source), "label": type_, "target": str(target)} for source, type_, target in edges
        ],
    }


def _node(root_id: UUID, column: int, rows: dict[int, int], names: Mapping[UUID, Decision]) -> dict[str, Any]:
    """A node in the next free row of its column."""
    row = rows[column] = rows.get(column, -1) + 1
    decision = names.get(root_id)
    return {
        "id": str(root_id),
        "label": visible(decision.statement) if decision else short(root_id),
        "kind": decision.strength if decision else "normal",
        "column": column,
        "row": row,
    }
