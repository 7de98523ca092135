"""Decisions: proposed, saved, listed, related, and what a change of one reaches."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from gieok.app.decisions import PAGE
from gieok.interfaces.rest.body import JsonRoute
from gieok.interfaces.rest.caller import Reader, Writer
from gieok.interfaces.rest.routes import relations
from gieok.interfaces.rest.schema.common import failures
from gieok.interfaces.rest.schema.decisions import (
    ContextAnswer,
    DecisionAnswer,
    DecisionsAnswer,
    DecisionVersionsAnswer,
    ImpactAnswer,
    ProposalAnswer,
    ProposeDecision,
    SaveDecision,
    proposal_answer,
    to_proposal,
)
from gieok.interfaces.rest.schema.params import (
    MAX_PAGE,
    MAX_Q,
    AfterVersion,
    DecisionPath,
    IdempotencyKey,
    Limit,
    SessionFilter,
    has_more,
    request_key,
)
from gieok.memory.decisions.records import Domain, Scope, Strength

router = APIRouter(prefix="/decisions", tags=["decisions"], route_class=JsonRoute)

DomainFilter = Annotated[Domain | None, Query()]
Less = Annotated[int | None, Query(ge=1, le=1_000_000, description="May ask for less than the plan gives.")]


@router.post("/proposals", responses=failures(404), summary="What a decision would meet and break")
async def propose(body: ProposeDecision, caller: Reader) -> ProposalAnswer:
    """Nothing is stored, and nothing in the answer keeps it from being saved."""
    return proposal_answer(await caller.user.decisions.propose(to_proposal(body)))


@router.post("", status_code=201, responses=failures(404, 409), summary="SAVE_DECISION")
async def save(body: SaveDecision, caller: Writer, idempotency_key: IdempotencyKey = None) -> DecisionAnswer:
    """Durable when it answers. With `rootId` a version is appended to that decision."""
    decision = await caller.user.decisions.save(
        to_proposal(body), expected_version=body.expected_version, once=request_key(idempotency_key, body)
    )
    return DecisionAnswer(decision=decision)


@router.get("", responses=failures(), summary="Active decisions, strongest first")
async def list_(
    caller: Reader,
    domain: DomainFilter = None,
    scope: Scope | None = None,
    strength: Strength | None = None,
    limit: Limit = PAGE,
    cursor: str | None = None,
) -> DecisionsAnswer:
    """`domain` leaves out global decisions. `cursor` is the `nextCursor` of the page before."""
    page = await caller.user.decisions.list(
        domain=domain, scope=scope, strength=strength, limit=limit, cursor=cursor
    )
    return DecisionsAnswer(**dict(page))


@router.get("/context", responses=failures(), summary="What applies in a domain, in the loading order")
async def context(
    caller: Reader,
    domain: Annotated[Domain, Query()],
    phase: Annotated[str | None, Query(min_length=1, max_length=64)] = None,
    q: Annotated[str | None, Query(max_length=MAX_Q)] = None,
    session_id: SessionFilter = None,
    budget: Less = None,
    depth: Less = None,
) -> ContextAnswer:
    """Always seven layers, empty where empty. `phase` is given back and filters nothing."""
    loaded = await caller.user.decisions.context(
        domain, phase=phase, q=q, session_ref=session_id, budget=budget, depth=depth
    )
    return ContextAnswer(**dict(loaded))


@router.get("/{rootId}", responses=failures(404), summary="The active version of a decision")
async def get(root_id: DecisionPath, caller: Reader) -> DecisionAnswer:
    """Earlier versions are in its history."""
    return DecisionAnswer(decision=await caller.user.decisions.get(root_id))


@router.get("/{rootId}/history", responses=failures(404), summary="Every version of a decision")
async def history(
    root_id: DecisionPath, caller: Reader, after: AfterVersion = 0, limit: Limit = MAX_PAGE
) -> DecisionVersionsAnswer:
    """Oldest first."""
    decisions = caller.user.decisions
    versions = await decisions.history(root_id, after=after, limit=limit)
    more = await has_more(
        versions, limit, lambda last: decisions.history(root_id, after=last.version, limit=1)
    )
    return DecisionVersionsAnswer(versions=tuple(versions), has_more=more)


@router.get("/{rootId}/impact", responses=failures(404), summary="What a change of a decision reaches")
async def impact(
    root_id: DecisionPath, caller: Reader, depth: Less = None, limit: Less = None
) -> ImpactAnswer:
    """By explicit relations only, each decision once, with the shortest path to it."""
    return ImpactAnswer(**dict(await caller.user.decisions.impact(root_id, depth=depth, limit=limit)))


router.include_router(relations.router)
