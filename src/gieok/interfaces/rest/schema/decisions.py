"""Bodies and answers of the decision, evidence and anchor routes."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import Field, ValidationError, model_validator

from gieok import wire
from gieok.app.decisions import ProposalResult
from gieok.engine.plan import first_problem, place
from gieok.errors import InputRefused
from gieok.interfaces.rest.schema.common import Answer, Messages, Ref, RequestBody, Uuid, example
from gieok.memory.decisions.compaction import MAX_TOKEN_BUDGET
from gieok.memory.decisions.loading.layers import TIERS, LoadedContext
from gieok.memory.decisions.records import (
    MAX_EVIDENCE_IDS,
    MAX_PRINCIPLES,
    MAX_RELATIONS,
    MAX_TARGETS,
    Anchor,
    Content,
    Decision,
    DecisionPage,
    DecisionProposal,
    Domain,
    Evidence,
    EvidenceCard,
    Hint,
    Impact,
    Policy,
    ProposedRelation,
    Rationale,
    Relation,
    RelationType,
    Scope,
    Source,
    Statement,
    Strength,
    Title,
)
from gieok.memory.decisions.rules import MAX_VERSION

_ROOT = "3f1e5d7c-9b8a-4c6d-8e0f-1a2b3c4d5e6f"
_OTHER = "9d2c4b6a-1e3f-4a5b-8c7d-0f9e8d7c6b5a"
_DECISION: dict[str, Any] = {
    "id": "5a7c9e1b-3d5f-4b7d-9f1a-3c5e7a9b1d3f",
    "rootId": _ROOT,
    "version": 1,
    "isActive": True,
    "strength": "axis",
    "scope": "domain",
    "domain": "wms",
    "statement": "재고는 이동 기록에서만 계산한다",
    "rationale": "두 곳에 적으면 어긋난다",
    "evidenceIds": [],
    "createdAt": "2025-10-27T12:00:00Z",
}
_RELATION: dict[str, Any] = {"id": _OTHER, "source": _ROOT, "type": "DEPENDS_ON", "target": _OTHER}
_IMPACT: dict[str, Any] = {"origin": _ROOT, "nodes": [], "truncated": False, "visited": 1}


class RelationIn(RequestBody):
    """A relation from this decision to another one, which is named by its root id."""

    model_config = example(type="DEPENDS_ON", target=_ROOT)

    type: RelationType
    target: Uuid


class ProposeDecision(RequestBody):
    """A proposed decision. With `rootId` it is the next version of that decision."""

    model_config = example(
        statement="재고는 이동 기록에서만 계산한다",
        rationale="두 곳에 적으면 어긋난다",
        strength="axis",
        scope="domain",
        domain="wms",
    )

    statement: Statement
    rationale: Rationale | None = None
    strength: Strength
    scope: Scope
    domain: Domain | None = None
    evidence_ids: Annotated[list[Uuid], Field(max_length=MAX_EVIDENCE_IDS)] = Field(
        default_factory=list[UUID]
    )
    root_id: Uuid | None = None
    relations: Annotated[list[RelationIn], Field(max_length=MAX_RELATIONS)] = Field(
        default_factory=list[RelationIn]
    )


class SaveDecision(ProposeDecision):
    """`expectedVersion` is the version that the client has read; 0 starts a decision with this `rootId`."""

    expected_version: Annotated[int, Field(ge=0, le=MAX_VERSION)] | None = None


class ProposalAnswer(wire.ProposalReport, Answer):
    """The proposal, the version that it would replace, its impact, and objections. Nothing is stored."""

    model_config = example(
        success=True,
        proposal={
            "statement": "재고는 이동 기록에서만 계산한다",
            "rationale": None,
            "strength": "axis",
            "scope": "domain",
            "domain": "wms",
            "evidenceIds": [],
            "rootId": None,
            "relations": [],
        },
        replaces=None,
        impact=_IMPACT,
        guardian={"constrainedBy": [], "conflicts": [], "lapsing": [], "truncated": False},
    )


class DecisionAnswer(Answer):
    model_config = example(success=True, decision=_DECISION)

    decision: Decision


class DecisionsAnswer(DecisionPage, Answer):
    """`nextCursor` is for the next page; null on the last one."""

    model_config = example(success=True, decisions=[_DECISION], nextCursor=None)


class DecisionVersionsAnswer(Answer):
    model_config = example(success=True, versions=[_DECISION], hasMore=False)

    versions: tuple[Decision, ...]
    has_more: bool


class RelationAnswer(Answer):
    model_config = example(success=True, relation=_RELATION)

    relation: Relation


class RelationsAnswer(Answer):
    model_config = example(success=True, relations=[_RELATION])

    relations: tuple[Relation, ...]


class ImpactAnswer(Impact, Answer):
    """The decisions that a change affects, each with the path that leads to it."""

    model_config = example(success=True, **_IMPACT)


class ContextAnswer(LoadedContext, Answer):
    """The decisions that apply in a domain, in the loading order: always seven layers."""

    model_config = example(
        success=True,
        domain="wms",
        phase=None,
        layers=[
            {"tier": tier, "name": name, "items": [], "leftOut": 0}
            for tier, name in enumerate(TIERS, start=1)
        ],
        tokens=0,
        truncated=False,
    )


def to_proposal(body: ProposeDecision) -> DecisionProposal:
    """Convert the body. InputRefused if scope and domain do not fit together."""
    try:
        return DecisionProposal(
            statement=body.statement,
            rationale=body.rationale,
            strength=body.strength,
            scope=body.scope,
            domain=body.domain,
            evidence_ids=tuple(body.evidence_ids),
            root_id=body.root_id,
            relations=tuple(ProposedRelation(type=each.type, target=each.target) for each in body.relations),
        )
    except ValidationError as error:
        location, message = first_problem(error)
        raise InputRefused(message, at=place(location) if location else "domain") from None


def proposal_answer(result: ProposalResult) -> ProposalAnswer:
    return ProposalAnswer(
        proposal=result.proposal,
        replaces=result.replaces,
        impact=result.report.impact,
        guardian=result.report,
    )


_ID = "8c6e4f1a-3d5b-4c9e-8f2a-4c6e8b0d1f3a"
_EVIDENCE: dict[str, Any] = {
    "id": _ID,
    "sha256": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
    "title": "창고 회의록",
    "source": "https://example.com/minutes/12",
    "createdAt": "2025-10-27T12:00:00Z",
}
_ANCHOR: dict[str, Any] = {
    "id": _ID,
    "sessionId": "session_456",
    "hint": "재고 계산 방식을 정한 이유",
    "targets": [{"kind": "evidence", "id": _ID}],
    "createdAt": "2025-10-27T12:00:00Z",
}


class KeepEvidence(RequestBody):
    """A verbatim snapshot of a source."""

    model_config = example(title="창고 회의록", content="…", source="https://example.com/minutes/12")

    title: Title
    content: Content
    source: Source | None = None


class TargetIn(RequestBody):
    """The target of an anchor. A decision is named by its root id."""

    kind: Literal["evidence", "decision"]
    id: Uuid


class AddAnchor(RequestBody):
    model_config = example(
        sessionId="session_456", hint="재고 계산 방식을 정한 이유", targets=[{"kind": "evidence", "id": _ID}]
    )

    session_id: Ref
    hint: Hint
    targets: Annotated[list[TargetIn], Field(min_length=1, max_length=MAX_TARGETS)]


class EvidenceCardAnswer(Answer):
    model_config = example(success=True, evidence=_EVIDENCE)

    evidence: EvidenceCard


class EvidenceAnswer(Answer):
    model_config = example(success=True, evidence=_EVIDENCE | {"content": "…"})

    evidence: Evidence


class AnchorAnswer(Answer):
    model_config = example(success=True, anchor=_ANCHOR)

    anchor: Anchor


class AnchorsAnswer(Answer):
    model_config = example(success=True, anchors=[_ANCHOR])

    anchors: tuple[Anchor, ...]


class SetPolicy(RequestBody):
    """The new principles. `expectedVersion` is the version that the client has read."""

    model_config = example(principles=["모르면 모른다고 말한다"])

    principles: Annotated[list[Statement], Field(max_length=MAX_PRINCIPLES)]
    expected_version: Annotated[int, Field(ge=0, le=MAX_VERSION)] | None = None


_POLICY: dict[str, Any] = {
    "version": 1,
    "principles": ["모르면 모른다고 말한다"],
    "createdAt": "2025-10-27T12:00:00Z",
}


class PolicyAnswer(Policy, Answer):
    """The principles of the owner, and their version."""

    model_config = example(success=True, **_POLICY)


class PoliciesAnswer(Answer):
    model_config = example(success=True, versions=[_POLICY], hasMore=False)

    versions: tuple[Policy, ...]
    has_more: bool


class CompactConversation(RequestBody):
    """A whole conversation, or the id of a stored session. `budget` is in tokens."""

    model_config = example(sessionId="session_456", budget=4000)

    session_id: Ref | None = None
    messages: Messages | None = None
    budget: Annotated[int, Field(ge=1, le=MAX_TOKEN_BUDGET)] | None = None

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        if self.session_id is None and self.messages is None:
            raise ValueError("give sessionId or messages")
        return self


class CompactAnswer(wire.CompactedSession, Answer):
    """Anchors to the older messages, the evidence that they lead to, and how many newer messages stay."""

    model_config = example(
        success=True, sessionId="session_456", anchors=[_ANCHOR], evidence=[_EVIDENCE], kept=12, leftOut=0
    )


class WalkDecisions(RequestBody):
    """One of `anchorId`, `rootId` and `sessionId`. `depth` may only lower the limit of the plan."""

    model_config = example(rootId=_ROOT, depth=3)

    anchor_id: Uuid | None = None
    root_id: Uuid | None = None
    session_id: Ref | None = None
    depth: Annotated[int, Field(ge=1, le=1_000_000)] | None = None

    @model_validator(mode="after")
    def _check_origin(self) -> Self:
        if sum(one is not None for one in (self.anchor_id, self.root_id, self.session_id)) != 1:
            raise ValueError("give exactly one of anchorId, rootId and sessionId")
        return self


class WalkAnswer(Answer):
    model_config = example(success=True, jobId=_OTHER)

    job_id: UUID
