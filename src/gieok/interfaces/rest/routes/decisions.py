"""Decisions, the relations between them, and the evidence and anchors behind them."""

from __future__ import annotations

from typing import Annotated
from uuid import uuid4

from fastapi import APIRouter, Query, Response

from gieok.app.decisions import PAGE
from gieok.interfaces.rest.gateway.body import JsonRoute
from gieok.interfaces.rest.gateway.caller import Reader, Writer
from gieok.interfaces.rest.schema.common import Uuid, failures, to_messages
from gieok.interfaces.rest.schema.decisions import (
    AddAnchor,
    AnchorAnswer,
    AnchorsAnswer,
    CompactAnswer,
    CompactConversation,
    ContextAnswer,
    DecisionAnswer,
    DecisionsAnswer,
    DecisionVersionsAnswer,
    EvidenceAnswer,
    EvidenceCardAnswer,
    ImpactAnswer,
    KeepEvidence,
    PoliciesAnswer,
    PolicyAnswer,
    ProposalAnswer,
    ProposeDecision,
    RelationAnswer,
    RelationIn,
    RelationsAnswer,
    SaveDecision,
    SetPolicy,
    WalkAnswer,
    WalkDecisions,
    proposal_answer,
    to_proposal,
)
from gieok.interfaces.rest.schema.params import (
    MAX_PAGE,
    MAX_Q,
    AfterVersion,
    DecisionPath,
    EvidencePath,
    IdempotencyKey,
    Limit,
    RelationPath,
    SessionFilter,
    has_more,
    request_key,
)
from gieok.memory.decisions.records import Domain, Scope, Strength, Target
from gieok.memory.decisions.steps import MAX_FOCUS

router = APIRouter(tags=["decisions"], route_class=JsonRoute)

DomainFilter = Annotated[Domain | None, Query()]
Focus = Annotated[tuple[Uuid, ...], Query(max_length=MAX_FOCUS, description="Root ids of decisions.")]
Lower = Annotated[int | None, Query(ge=1, le=1_000_000, description="May only lower the limit of the plan.")]


@router.post("/decisions/proposals", responses=failures(404), summary="Check a proposed decision")
async def propose(body: ProposeDecision, caller: Reader) -> ProposalAnswer:
    """Reports what it would replace, affect and conflict with. Stores nothing and prevents nothing."""
    return proposal_answer(await caller.user.decisions.propose(to_proposal(body)))


@router.post("/decisions", status_code=201, responses=failures(404, 409), summary="SAVE_DECISION")
async def save(body: SaveDecision, caller: Writer, idempotency_key: IdempotencyKey = None) -> DecisionAnswer:
    """Durable when this returns. With `rootId` it becomes the next version of that decision."""
    decision = await caller.user.decisions.save(
        to_proposal(body), expected_version=body.expected_version, once=request_key(idempotency_key, body)
    )
    return DecisionAnswer(decision=decision)


@router.get("/decisions", responses=failures(), summary="List active decisions, strongest first")
async def list_(
    caller: Reader,
    domain: DomainFilter = None,
    scope: Scope | None = None,
    strength: Strength | None = None,
    limit: Limit = PAGE,
    cursor: str | None = None,
) -> DecisionsAnswer:
    """With `domain`, global decisions are excluded. `cursor` is the `nextCursor` of the previous page."""
    page = await caller.user.decisions.list(
        domain=domain, scope=scope, strength=strength, limit=limit, cursor=cursor
    )
    return DecisionsAnswer(**dict(page))


@router.get("/decisions/context", responses=failures(404), summary="Load the context of a domain")
async def context(
    caller: Reader,
    domain: Annotated[Domain, Query()],
    phase: Annotated[str | None, Query(min_length=1, max_length=64)] = None,
    q: Annotated[str | None, Query(max_length=MAX_Q)] = None,
    session_id: SessionFilter = None,
    focus: Focus = (),
    budget: Lower = None,
    depth: Lower = None,
) -> ContextAnswer:
    """Always seven layers, in loading order. A layer may be empty. `phase` is echoed and filters nothing.

    `focus` are the root ids whose relations tier 2 names; without it, those of the domain's axes and locks.
    """
    loaded = await caller.user.decisions.context(
        domain, phase=phase, q=q, session_ref=session_id, roots=focus, budget=budget, depth=depth
    )
    return ContextAnswer(**dict(loaded))


@router.get("/decisions/policy", responses=failures(), summary="Get the policy")
async def get_policy(caller: Reader) -> PolicyAnswer:
    """The owner's principles, tier 1 of every context. `version` is 0 if they were never set."""
    return PolicyAnswer(**dict(await caller.user.decisions.policy()))


@router.put("/decisions/policy", responses=failures(409), summary="Set the policy")
async def set_policy(body: SetPolicy, caller: Writer, idempotency_key: IdempotencyKey = None) -> PolicyAnswer:
    """Replaces the principles by a new version. The same principles again make no version."""
    policy = await caller.user.decisions.set_policy(
        body.principles,
        expected_version=body.expected_version,
        once=request_key(idempotency_key, body),
    )
    return PolicyAnswer(**dict(policy))


@router.get("/decisions/policy/history", responses=failures(), summary="List all versions of the policy")
async def policy_history(caller: Reader, after: AfterVersion = 0, limit: Limit = MAX_PAGE) -> PoliciesAnswer:
    """Oldest first."""
    decisions = caller.user.decisions
    versions = await decisions.policy_history(after=after, limit=limit)
    more = await has_more(versions, limit, lambda last: decisions.policy_history(after=last.version, limit=1))
    return PoliciesAnswer(versions=tuple(versions), has_more=more)


@router.post("/decisions/compact", responses=failures(404, 409, 502), summary="Compact a conversation")
async def compact(
    body: CompactConversation, caller: Writer, idempotency_key: IdempotencyKey = None
) -> CompactAnswer:
    """The oldest messages become evidence with anchors, so that anchors and newer messages fit the budget.

    Give the whole conversation each time, or the id of a stored session. `kept` is how many of the newest
    messages stay. Without `sessionId` the answer has a new one, for the anchors: send it with the next call.
    """
    decisions = caller.user.decisions
    session, once = body.session_id or str(uuid4()), request_key(idempotency_key, body)
    compacted = (
        await decisions.compact_session(session, budget=body.budget, once=once)
        if body.messages is None
        else await decisions.compact(session, to_messages(body.messages), budget=body.budget, once=once)
    )
    return CompactAnswer(
        session_ref=compacted.session_ref,
        anchors=tuple(compacted.anchors),
        evidence=tuple(compacted.evidence),
        kept=len(compacted.messages),
        left_out=compacted.left_out,
    )


@router.post("/decisions/walks", status_code=202, responses=failures(404, 409), summary="Start a deep walk")
async def walk(body: WalkDecisions, caller: Writer, idempotency_key: IdempotencyKey = None) -> WalkAnswer:
    """A worker follows anchors and relations. `GET /jobs/{id}` has the result when the job is done."""
    job = await caller.user.decisions.walk(
        anchor_id=body.anchor_id,
        root_id=body.root_id,
        session_ref=body.session_id,
        depth=body.depth,
        once=request_key(idempotency_key, body),
    )
    return WalkAnswer(job_id=job.id)


@router.get("/decisions/{rootId}", responses=failures(404), summary="Get the active version of a decision")
async def get(root_id: DecisionPath, caller: Reader) -> DecisionAnswer:
    """Earlier versions are in the history."""
    return DecisionAnswer(decision=await caller.user.decisions.get(root_id))


@router.get("/decisions/{rootId}/history", responses=failures(404), summary="List all versions of a decision")
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


@router.get(
    "/decisions/{rootId}/impact", responses=failures(404), summary="Find the decisions that a change affects"
)
async def impact(
    root_id: DecisionPath, caller: Reader, depth: Lower = None, limit: Lower = None
) -> ImpactAnswer:
    """Follows explicit relations only. Each decision appears once, with the shortest path to it."""
    return ImpactAnswer(**dict(await caller.user.decisions.impact(root_id, depth=depth, limit=limit)))


@router.post(
    "/decisions/{rootId}/relations",
    status_code=201,
    responses=failures(404, 409),
    summary="Relate a decision to another",
)
async def relate(
    root_id: DecisionPath, body: RelationIn, caller: Writer, idempotency_key: IdempotencyKey = None
) -> RelationAnswer:
    """`target` is the root of the other decision. If the relation exists already, it is returned."""
    once = request_key(idempotency_key, body, str(root_id))
    relation = await caller.user.decisions.relate(root_id, body.type, body.target, once=once)
    return RelationAnswer(relation=relation)


@router.get(
    "/decisions/{rootId}/relations", responses=failures(404), summary="List the relations of a decision"
)
async def list_relations(root_id: DecisionPath, caller: Reader) -> RelationsAnswer:
    """In both directions."""
    await caller.user.decisions.get(root_id)
    return RelationsAnswer(relations=tuple(await caller.user.decisions.relations(root_id)))


@router.delete(
    "/decisions/{rootId}/relations/{id}", responses=failures(404, 409), summary="Delete a relation"
)
async def unrelate(
    root_id: DecisionPath,
    relation_id: RelationPath,
    caller: Writer,
    idempotency_key: IdempotencyKey = None,
) -> RelationAnswer:
    """Returns the deleted relation."""
    once = request_key(idempotency_key, None, str(root_id), str(relation_id))
    relation = await caller.user.decisions.unrelate(relation_id, root_id=root_id, once=once)
    return RelationAnswer(relation=relation)


@router.post(
    "/evidence",
    status_code=201,
    responses={
        **failures(409),
        200: {"model": EvidenceCardAnswer, "description": "The content exists."},
    },
    summary="Save evidence",
)
async def save_evidence(
    body: KeepEvidence, caller: Writer, response: Response, idempotency_key: IdempotencyKey = None
) -> EvidenceCardAnswer:
    """A snapshot of a source. The same content is stored once: 200 with the existing evidence.

    With an Idempotency-Key the status is 201 in any case, so that a repeated request gets the same answer.
    """
    once = request_key(idempotency_key, body)
    existing = None if once else await caller.user.decisions.find_evidence(body.content)
    if existing is not None:
        response.status_code = 200
        return EvidenceCardAnswer(evidence=existing)
    card = await caller.user.decisions.keep_evidence(body.title, body.content, body.source, once=once)
    return EvidenceCardAnswer(evidence=card)


@router.get("/evidence/{id}", responses=failures(404), summary="Get evidence")
async def get_evidence(evidence_id: EvidencePath, caller: Reader) -> EvidenceAnswer:
    """With its full content."""
    return EvidenceAnswer(evidence=await caller.user.decisions.evidence(evidence_id))


@router.post("/anchors", status_code=201, responses=failures(404, 409), summary="Add an anchor")
async def add_anchor(body: AddAnchor, caller: Writer, idempotency_key: IdempotencyKey = None) -> AnchorAnswer:
    """A pointer from a session to the evidence and the decisions that were discussed in it."""
    targets = [Target(kind=each.kind, id=each.id) for each in body.targets]
    once = request_key(idempotency_key, body)
    anchor = await caller.user.decisions.add_anchor(body.session_id, body.hint, targets, once=once)
    return AnchorAnswer(anchor=anchor)


@router.get("/anchors", responses=failures(), summary="List anchors, newest first")
async def list_anchors(
    caller: Reader, session_id: SessionFilter = None, limit: Limit = MAX_PAGE
) -> AnchorsAnswer:
    """Of one session, or of all sessions without `sessionId`."""
    return AnchorsAnswer(anchors=tuple(await caller.user.decisions.anchors(session_id, limit)))
