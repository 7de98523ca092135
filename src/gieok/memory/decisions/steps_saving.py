"""The steps that write decision memory, and the one that only proposes. What they stage is checked where it
is stored: inside the one transaction of the cycle."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID, uuid4

from pydantic import Field

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.errors import InputRefused, NotFound
from gieok.memory.chains.rules import NEW
from gieok.memory.decisions.evidence import Anchor, AnchorDraft, EvidenceCard, EvidenceDraft
from gieok.memory.decisions.known import active_version, check_decisions, check_proposal, check_targets
from gieok.memory.decisions.records import Decision, DecisionProposal, Relation, RelationType
from gieok.memory.decisions.store import DecisionRooms
from gieok.memory.reader import Reader


class ProposeInputs(Data):
    proposal: DecisionProposal


class Proposed(Data):
    proposal: DecisionProposal
    replaces: Decision | None
    """The active version that would be followed, if this is a change."""


class ProposeDecision(Step[NoData, ProposeInputs, Proposed]):
    """Says whether a proposal could be saved, and what it would replace. It stores nothing."""

    type = "ProposeDecision"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, rooms: Reader[DecisionRooms]) -> None:
        self._rooms = rooms

    async def run(self, metadata: NoData, inputs: ProposeInputs, context: StepContext) -> Proposed:
        proposal = inputs.proposal

        def look(rooms: DecisionRooms) -> Decision | None:
            check_proposal(rooms, proposal)
            return None if proposal.root_id is None else active_version(rooms, proposal.root_id)

        return Proposed(proposal=proposal, replaces=await self._rooms.read(look, brief=True))


class SaveInputs(Data):
    proposal: DecisionProposal
    expected_version: Annotated[int, Field(ge=0)] | None


class Saved(Data):
    id: UUID
    root_id: UUID


class SaveDecision(Step[NoData, SaveInputs, Saved]):
    """SAVE_DECISION: a proposal becomes a version, with its relations. The commit returns the decision.

    Without a root the decision is new. With one, a version is appended to it; `expected_version` is then the
    version that the writer has seen, and 0 begins a decision under a root that was chosen elsewhere.
    """

    type = "SaveDecision"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: SaveInputs, context: StepContext) -> Saved:
        proposal, expected = inputs.proposal, inputs.expected_version
        if proposal.root_id is None and expected:
            raise InputRefused("is of a decision that exists; give its rootId too", at="expectedVersion")
        root_id = proposal.root_id or uuid4()
        saved = Saved(id=uuid4(), root_id=root_id)

        def save(rooms: DecisionRooms) -> Decision:
            check_proposal(rooms, proposal)
            decision = rooms.decisions.append(
                root_id,
                proposal.content,
                version_id=saved.id,
                created_at=context.now,
                expected_version=NEW if proposal.root_id is None else expected,
            )
            for proposed in proposal.relations:
                rooms.relations.save(
                    Relation(id=uuid4(), source=root_id, type=proposed.type, target=proposed.target)
                )
            return decision

        context.stage_write(save)
        context.note("saved", str(saved.id))
        return saved


class RelateInputs(Data):
    source: UUID
    type: RelationType
    target: UUID


class RelateDecisions(Step[NoData, RelateInputs, NoData]):
    """Declares a relation between two decisions. The commit returns it, also where it was declared before."""

    type = "RelateDecisions"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: RelateInputs, context: StepContext) -> NoData:
        if inputs.source == inputs.target:
            raise InputRefused("a decision has no relation to itself", at="target")
        relation = Relation(id=uuid4(), source=inputs.source, type=inputs.type, target=inputs.target)

        def relate(rooms: DecisionRooms) -> Relation:
            check_decisions(rooms, (relation.source, relation.target))
            return rooms.relations.save(relation)

        context.stage_write(relate)
        return NoData()


class UnrelateInputs(Data):
    relation_id: UUID


class UnrelateDecisions(Step[NoData, UnrelateInputs, NoData]):
    """Takes a relation back. The commit returns what it was."""

    type = "UnrelateDecisions"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: UnrelateInputs, context: StepContext) -> NoData:
        def unrelate(rooms: DecisionRooms) -> Relation:
            relation = rooms.relations.get(inputs.relation_id)
            if relation is None:
                raise NotFound(f"there is no relation {inputs.relation_id}")
            rooms.relations.remove(relation)
            return relation

        context.stage_write(unrelate)
        return NoData()


class KeepInputs(Data):
    evidence: EvidenceDraft


class KeepEvidence(Step[NoData, KeepInputs, NoData]):
    """Keeps a snapshot of a source, word for word and once. The commit returns its card."""

    type = "KeepEvidence"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: KeepInputs, context: StepContext) -> NoData:
        def keep(rooms: DecisionRooms) -> EvidenceCard:
            return rooms.evidence.save(inputs.evidence, evidence_id=uuid4(), created_at=context.now)

        context.stage_write(keep)
        return NoData()


class AnchorInputs(Data):
    anchor: AnchorDraft


class AddAnchor(Step[NoData, AnchorInputs, NoData]):
    """Sets up a signpost to evidence and decisions that exist. The commit returns it."""

    type = "AddAnchor"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: AnchorInputs, context: StepContext) -> NoData:
        draft = inputs.anchor
        anchor = Anchor(
            session_ref=draft.session_ref,
            hint=draft.hint,
            targets=draft.targets,
            id=uuid4(),
            created_at=context.now,
        )

        def add(rooms: DecisionRooms) -> Anchor:
            check_targets(rooms, anchor.targets)
            rooms.anchors.save(anchor)
            return anchor

        context.stage_write(add)
        return NoData()
