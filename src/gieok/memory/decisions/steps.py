"""The steps of decision memory: propose and save decisions, analyze impact, load the context of a domain.

The steps of compaction, exchange and walks are in the files of those names. `STEPS` lists all of them.
"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID, uuid4

from pydantic import Field, StringConstraints

from gieok.engine import AnyStep, Data, NoData, ReadStep, Stage, StepContext, WriteStep
from gieok.errors import InputRefused, NotFound
from gieok.memory.chains import NEW
from gieok.memory.decisions.checks import active_version, check_decisions, check_proposal, check_targets
from gieok.memory.decisions.compaction import CompactConversation, KeepSignposts
from gieok.memory.decisions.exchange import ImportDecisions
from gieok.memory.decisions.graph.guardian import GuardianReport, guard
from gieok.memory.decisions.graph.impact import WalkMetadata, impact_of
from gieok.memory.decisions.loading.blocks import block_tokens, frame_tokens
from gieok.memory.decisions.loading.layers import LoadedContext, PolicyItem
from gieok.memory.decisions.loading.order import load
from gieok.memory.decisions.loading.sources import AnchorSearch, StoredSources, structure_around
from gieok.memory.decisions.records import (
    MAX_ANCHORS,
    Anchor,
    AnchorDraft,
    Decision,
    DecisionProposal,
    Domain,
    EvidenceCard,
    EvidenceDraft,
    Impact,
    Policy,
    Principles,
    Relation,
    RelationType,
)
from gieok.memory.decisions.rules import MAX_LIST
from gieok.memory.decisions.store import DecisionView
from gieok.memory.decisions.walks import KeepWalk, QueueWalk, WalkAnchors
from gieok.memory.fields import SessionRef

MAX_BUDGET = 50_000
MAX_FOCUS = 100

RequestedLimit = Annotated[int, Field(ge=1)]
"""A limit that a request asks for. The plan's limit is the upper bound."""


class ProposalInputs(Data):
    proposal: DecisionProposal


class Proposed(Data):
    proposal: DecisionProposal
    replaces: Decision | None
    """The active version that it would replace, if this is a change."""


class ProposeDecision(ReadStep[NoData, ProposalInputs, Proposed]):
    """Checks whether a proposal could be saved, and finds what it would replace. It stores nothing."""

    type = "ProposeDecision"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def read(
        self, view: DecisionView, metadata: NoData, inputs: ProposalInputs, context: StepContext
    ) -> Proposed:
        proposal = inputs.proposal
        check_proposal(view, proposal)
        replaces = None if proposal.root_id is None else active_version(view, proposal.root_id)
        return Proposed(proposal=proposal, replaces=replaces)


class AnalyzeImpact(ReadStep[WalkMetadata, ProposalInputs, GuardianReport]):
    """The guardian: reports what constrains a proposal and what it would break."""

    type = "AnalyzeImpact"
    stages = frozenset({Stage.CONTEXT_SELECT, Stage.POST_PROCESS})

    def read(
        self, view: DecisionView, metadata: WalkMetadata, inputs: ProposalInputs, context: StepContext
    ) -> GuardianReport:
        report = guard(view, inputs.proposal, depth=metadata.depth, limit=metadata.limit)
        context.note("affected", len(report.impact.nodes))
        return report


class BlastRadiusInputs(Data):
    root_id: UUID
    depth: RequestedLimit | None = None
    limit: RequestedLimit | None = None


class BlastRadius(ReadStep[WalkMetadata, BlastRadiusInputs, Impact]):
    """Finds what a change of a decision reaches, by declared relations only."""

    type = "BlastRadius"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def read(
        self, view: DecisionView, metadata: WalkMetadata, inputs: BlastRadiusInputs, context: StepContext
    ) -> Impact:
        check_decisions(view, (inputs.root_id,))
        impact = impact_of(
            inputs.root_id,
            view.graph.edges,
            depth=_capped(inputs.depth, metadata.depth),
            limit=_capped(inputs.limit, metadata.limit),
        )
        context.note("visited", impact.visited)
        return impact


class LoadMetadata(WalkMetadata):
    """`depth` and `limit` bound the structural walk, and the deep walk of tier 7."""

    policy: Principles
    """Principles of the plan. Those that the owner has set follow them in tier 1."""
    budget: Annotated[int, Field(ge=1, le=MAX_BUDGET)]
    structural_share: Annotated[float, Field(ge=0, le=1)]
    """The largest part of the budget for tier 2."""
    normals: Annotated[int, Field(ge=0, le=MAX_LIST)]
    anchors: Annotated[int, Field(ge=0, le=MAX_ANCHORS)]
    top_k: Annotated[int, Field(ge=1, le=MAX_LIST)]
    deep: bool
    """Whether tier 7 follows relations beyond the targets of anchors. It is costly."""


class LoadInputs(Data):
    domain: Domain
    phase: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    q: str | None = None
    session_ref: SessionRef | None = None
    roots: Annotated[tuple[UUID, ...], Field(max_length=MAX_FOCUS)] = ()
    """The focus of tier 2; the domain's own axes and locks where it is empty."""
    budget: RequestedLimit | None = None
    depth: RequestedLimit | None = None


class LoadDecisions(ReadStep[LoadMetadata, LoadInputs, LoadedContext]):
    """Loads the decision memory of one domain in the loading order, on one consistent snapshot."""

    type = "LoadDecisions"
    stages = frozenset({Stage.CONTEXT_SELECT})
    heavy = True  # a plan with the largest budget reads and renders hundreds of decisions

    def read(
        self, view: DecisionView, metadata: LoadMetadata, inputs: LoadInputs, context: StepContext
    ) -> LoadedContext:
        loaded = _load(view, metadata, inputs)
        context.note("tokens", loaded.tokens)
        for layer in loaded.layers:
            context.note(layer.name, len(layer.items))
        return loaded


def _load(view: DecisionView, metadata: LoadMetadata, inputs: LoadInputs) -> LoadedContext:
    depth = _capped(inputs.depth, metadata.depth)
    check_decisions(view, inputs.roots)
    structural, truncated = structure_around(
        view, inputs.roots, inputs.domain, depth=depth, limit=metadata.limit
    )
    search = AnchorSearch(
        session_ref=inputs.session_ref,
        anchors=metadata.anchors,
        depth=depth if metadata.deep else 1,
        limit=metadata.limit,
        question=inputs.q,
        top_k=metadata.top_k,
    )
    principles = (*metadata.policy, *view.policy.get().principles)
    policy = [PolicyItem(statement=statement) for statement in principles]
    sources = StoredSources(view, inputs.domain, policy, structural, search)
    budget = _capped(inputs.budget, metadata.budget) - frame_tokens(inputs.domain, inputs.phase)
    layers = load(
        sources,
        budget=budget,
        structural=int(budget * metadata.structural_share),
        normals=metadata.normals,
    )
    return LoadedContext(
        domain=inputs.domain,
        phase=inputs.phase,
        layers=layers,
        tokens=block_tokens(inputs.domain, inputs.phase, layers),
        truncated=truncated or sources.truncated,
    )


def _capped(requested: int | None, maximum: int) -> int:
    return maximum if requested is None else min(requested, maximum)


class SaveInputs(Data):
    proposal: DecisionProposal
    expected_version: Annotated[int, Field(ge=0)] | None


class SaveDecision(WriteStep[NoData, SaveInputs, Decision]):
    """SAVE_DECISION: saves a proposal as a version of a decision, with its relations.

    Without a root the decision is new. With a root, a version is appended to that decision;
    `expected_version` is then the version that the writer has seen, and 0 creates a decision under a root
    that the caller chose.
    """

    type = "SaveDecision"

    def apply(
        self, view: DecisionView, metadata: NoData, inputs: SaveInputs, context: StepContext
    ) -> Decision:
        proposal, expected = inputs.proposal, inputs.expected_version
        if proposal.root_id is None and expected:
            raise InputRefused(
                "is the version of an existing decision; give its rootId too", at="expectedVersion"
            )
        check_proposal(view, proposal)
        decision = view.decisions.append(
            proposal.root_id or uuid4(),
            proposal.content,
            version_id=uuid4(),
            created_at=context.now,
            expected_version=NEW if proposal.root_id is None else expected,
        )
        for relation in proposal.relations:
            view.relations.save(
                Relation(id=uuid4(), source=decision.root_id, type=relation.type, target=relation.target)
            )
        context.note("saved", str(decision.id))
        return decision


class PolicyInputs(Data):
    principles: Principles
    expected_version: Annotated[int, Field(ge=0)] | None


class SetPolicy(WriteStep[NoData, PolicyInputs, Policy]):
    """Replaces the owner's principles by a new version. The same principles again make no version."""

    type = "SetPolicy"

    def apply(
        self, view: DecisionView, metadata: NoData, inputs: PolicyInputs, context: StepContext
    ) -> Policy:
        expected = inputs.expected_version
        active = view.policy.get()
        if active.principles == inputs.principles and expected in (None, active.version):
            return active
        return view.policy.append(
            inputs.principles, version_id=uuid4(), created_at=context.now, expected_version=expected
        )


class RelateInputs(Data):
    source: UUID
    type: RelationType
    target: UUID


class RelateDecisions(WriteStep[NoData, RelateInputs, Relation]):
    """Declares a relation between two decisions. A relation that exists is returned unchanged."""

    type = "RelateDecisions"

    def apply(
        self, view: DecisionView, metadata: NoData, inputs: RelateInputs, context: StepContext
    ) -> Relation:
        if inputs.source == inputs.target:
            raise InputRefused("a decision cannot have a relation to itself", at="target")
        check_decisions(view, (inputs.source, inputs.target))
        return view.relations.save(
            Relation(id=uuid4(), source=inputs.source, type=inputs.type, target=inputs.target)
        )


class UnrelateInputs(Data):
    relation_id: UUID


class UnrelateDecisions(WriteStep[NoData, UnrelateInputs, Relation]):
    """Removes a relation and returns it. NotFound where there is none."""

    type = "UnrelateDecisions"

    def apply(
        self, view: DecisionView, metadata: NoData, inputs: UnrelateInputs, context: StepContext
    ) -> Relation:
        relation = view.relations.get(inputs.relation_id)
        if relation is None:
            raise NotFound(f"there is no relation {inputs.relation_id}")
        view.relations.remove(relation)
        return relation


class KeepInputs(Data):
    evidence: EvidenceDraft


class KeepEvidence(WriteStep[NoData, KeepInputs, EvidenceCard]):
    """Stores a snapshot of a source, word for word. The same content is stored once."""

    type = "KeepEvidence"

    def apply(
        self, view: DecisionView, metadata: NoData, inputs: KeepInputs, context: StepContext
    ) -> EvidenceCard:
        return view.evidence.save(inputs.evidence, evidence_id=uuid4(), created_at=context.now)


class AnchorInputs(Data):
    anchor: AnchorDraft


class AddAnchor(WriteStep[NoData, AnchorInputs, Anchor]):
    """Adds an anchor to evidence and decisions. NotFound for a target that does not exist."""

    type = "AddAnchor"

    def apply(
        self, view: DecisionView, metadata: NoData, inputs: AnchorInputs, context: StepContext
    ) -> Anchor:
        draft = inputs.anchor
        anchor = Anchor(
            session_ref=draft.session_ref,
            hint=draft.hint,
            targets=draft.targets,
            id=uuid4(),
            created_at=context.now,
        )
        check_targets(view, anchor.targets)
        view.anchors.save(anchor)
        return anchor


STEPS: tuple[type[AnyStep], ...] = (
    ProposeDecision,
    AnalyzeImpact,
    BlastRadius,
    LoadDecisions,
    SaveDecision,
    SetPolicy,
    RelateDecisions,
    UnrelateDecisions,
    KeepEvidence,
    AddAnchor,
    ImportDecisions,
    CompactConversation,
    KeepSignposts,
    QueueWalk,
    WalkAnchors,
    KeepWalk,
)
