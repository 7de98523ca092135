"""The facade of decision memory: what interfaces call as `user.decisions`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from gieok.adapters.sql.scope import OwnerScope
from gieok.app.cycles import Cycles, committed_by, made, output_of
from gieok.app.requests import ask_once
from gieok.engine import ExecutionPlan, Registry
from gieok.errors import InputRefused, NotFound
from gieok.memory.conversation.records import Message
from gieok.memory.decisions.compaction import Said
from gieok.memory.decisions.domain import normal_domain
from gieok.memory.decisions.evidence import (
    Anchor,
    AnchorDraft,
    Evidence,
    EvidenceCard,
    EvidenceDraft,
    Target,
)
from gieok.memory.decisions.guardian import GuardianReport
from gieok.memory.decisions.known import active_version
from gieok.memory.decisions.layers import LoadedContext
from gieok.memory.decisions.records import (
    Decision,
    DecisionPage,
    DecisionProposal,
    Impact,
    Relation,
    RelationType,
    Scope,
    Strength,
)
from gieok.memory.decisions.rules import check_limit, check_version, from_cursor, position_of, to_cursor
from gieok.memory.decisions.steps_compaction import CompactConversation, KeepSignposts
from gieok.memory.decisions.steps_exchange import ImportDecisions
from gieok.memory.decisions.steps_reading import AnalyzeImpact, BlastRadius, LoadDecisions
from gieok.memory.decisions.steps_saving import (
    AddAnchor,
    KeepEvidence,
    ProposeDecision,
    RelateDecisions,
    SaveDecision,
    UnrelateDecisions,
)
from gieok.memory.decisions.steps_walks import KeepWalk, QueueWalk, WalkAnchors
from gieok.memory.decisions.summarizer import ConversationSummarizer
from gieok.memory.decisions.walks import Exploration, WalkRooms, read_walk
from gieok.memory.jobs.records import Job
from gieok.memory.requests.records import RequestKey

COMPACT_PLAN = "compact_conversation"
LOAD_PLAN = "load_decisions"
SAVE_PLAN = "save_decision"
PAGE = 100
RELATIONS = 10_000


def register_decision_steps(registry: Registry[OwnerScope], model: ConversationSummarizer) -> None:
    """Offer the steps of decision memory to plans."""
    registry.register(ProposeDecision, ProposeDecision)
    registry.register(AnalyzeImpact, AnalyzeImpact)
    registry.register(BlastRadius, BlastRadius)
    registry.register(LoadDecisions, LoadDecisions)
    registry.register(SaveDecision, lambda _: SaveDecision())
    registry.register(ImportDecisions, lambda _: ImportDecisions())
    registry.register(RelateDecisions, lambda _: RelateDecisions())
    registry.register(UnrelateDecisions, lambda _: UnrelateDecisions())
    registry.register(KeepEvidence, lambda _: KeepEvidence())
    registry.register(AddAnchor, lambda _: AddAnchor())
    registry.register(CompactConversation, lambda scope: CompactConversation(scope, model))
    registry.register(KeepSignposts, lambda _: KeepSignposts())
    registry.register(QueueWalk, lambda _: QueueWalk())
    registry.register(WalkAnchors, WalkAnchors)
    registry.register(KeepWalk, lambda _: KeepWalk())


@dataclass(frozen=True)
class ProposalResult:
    """What a proposal came to. None of it is stored."""

    proposal: DecisionProposal
    replaces: Decision | None
    """The active version that would be followed, if this is a change."""
    report: GuardianReport
    """What it would meet and break."""


@dataclass(frozen=True)
class CompactedConversation:
    """A conversation that fits its budget: signposts to what was said, then what is said now."""

    anchors: Sequence[Anchor]
    """Oldest first. Each leads to the original words."""
    messages: Sequence[Message | Said]
    """The newer part, as it was said."""
    left_out: int
    """Older anchors that are kept and did not fit the budget."""


class Decisions:
    """One owner's decisions, evidence and anchors."""

    def __init__(self, cycles: Cycles) -> None:
        self._cycles = cycles
        self._scope = cycles.scope

    async def propose(self, proposal: DecisionProposal) -> ProposalResult:
        """Whether a proposal could be saved, what it would follow, and the guardian's report on it.

        Nothing is stored, and nothing in the report keeps it from being saved.
        """
        result = await self._cycles.run("propose_decision", {"proposal": proposal})
        proposed = output_of(result, ProposeDecision)
        return ProposalResult(proposed.proposal, proposed.replaces, output_of(result, AnalyzeImpact))

    async def impact(self, root_id: UUID, *, depth: int | None = None, limit: int | None = None) -> Impact:
        """What a change of a decision reaches, by explicit relations. NotFound where there is no decision.

        `depth` and `limit` may ask for less than the plan gives, not for more.
        """
        request = {"rootId": root_id, "depth": depth, "limit": limit}
        return await self._cycles.output("decision_impact", BlastRadius, request)

    async def context(
        self,
        domain: str,
        *,
        phase: str | None = None,
        q: str | None = None,
        session_ref: str | None = None,
        roots: Sequence[UUID] = (),
        budget: int | None = None,
        depth: int | None = None,
        plan: str | ExecutionPlan = LOAD_PLAN,
    ) -> LoadedContext:
        """What applies in a domain, in the loading order: always seven layers.

        `phase` is given back and filters nothing. `roots` are the focus of the structural tier; `session_ref`
        names whose anchors tier 7 follows, and `q` adds what shares its words, last of all. `budget` (tokens)
        and `depth` may ask for less than the plan gives, not for more.
        """
        request = {
            "domain": domain,
            "phase": phase,
            "q": q,
            "sessionRef": session_ref,
            "roots": tuple(roots),
            "budget": budget,
            "depth": depth,
        }
        return await self._cycles.output(plan, LoadDecisions, request)

    async def save(
        self,
        proposal: DecisionProposal,
        *,
        expected_version: int | None = None,
        once: RequestKey | None = None,
    ) -> Decision:
        """SAVE_DECISION: durable when it returns. With a root it appends a version to that decision.

        Conflict where the decision is not at `expected_version` any more; 0 begins one under a root that was
        chosen elsewhere. NotFound for a root, a relation or evidence that does not exist. The same request
        under the same `once` gives back the version that it made; another request is a Conflict.
        """

        async def ask(request: RequestKey | None) -> Decision:
            given = {"proposal": proposal, "expectedVersion": expected_version, "once": request}
            return await self._cycles.commit(SAVE_PLAN, SaveDecision, given)

        return await ask_once(self._cycles, once, SAVE_PLAN, ask, self._saved_before)

    async def _saved_before(self, answer: str) -> Decision:
        root_id, version_id = (UUID(part) for part in answer.split(":"))
        after = 0
        while page := await self.history(root_id, after=after):
            for decision in page:
                if decision.id == version_id:
                    return decision
            after = page[-1].version
        raise NotFound(f"decision {root_id} has no version {version_id}")

    async def get(self, root_id: UUID) -> Decision:
        """The active version; NotFound where there is none."""
        return await self._scope.read(lambda rooms: active_version(rooms, root_id), brief=True)

    async def active(self, root_ids: Sequence[UUID]) -> Sequence[Decision]:
        """The active versions of these decisions, in the order asked; unknown ones are left out."""
        return await self._scope.read(lambda rooms: rooms.decisions.active(root_ids))

    async def list(
        self,
        *,
        scope: Scope | None = None,
        domain: str | None = None,
        strength: Strength | None = None,
        limit: int = PAGE,
        cursor: str | None = None,
    ) -> DecisionPage:
        """Active versions by strength, then last changed first. `domain` leaves out global decisions."""
        check_limit(limit)
        after = from_cursor(cursor) if cursor else None
        name = known_domain(domain)
        found = await self._scope.read(
            lambda rooms: rooms.decisions.list(
                scope=scope, domain=name, strength=strength, after=after, limit=limit + 1
            )
        )
        page = tuple(found[:limit])
        cursor = to_cursor(position_of(page[-1])) if len(found) > limit else None
        return DecisionPage(decisions=page, next_cursor=cursor)

    async def history(self, root_id: UUID, *, after: int = 0, limit: int = PAGE) -> Sequence[Decision]:
        """The versions of a decision after a version, oldest first; NotFound where there is no decision."""
        check_limit(limit)
        check_version(after)
        found = await self._scope.read(
            lambda rooms: rooms.decisions.history(root_id, after=after, limit=limit)
        )
        if not found and after == 0:
            raise NotFound(f"there is no decision {root_id}")
        return found

    async def relate(self, source: UUID, relation_type: RelationType, target: UUID) -> Relation:
        """Declare a relation between two decisions. Declaring it again gives back the first."""
        request = {"source": source, "type": relation_type, "target": target}
        return await self._cycles.commit("relate_decisions", RelateDecisions, request)

    async def unrelate(self, relation_id: UUID) -> Relation:
        """Take a relation back; returns what it was. NotFound where there is none."""
        return await self._cycles.commit("unrelate_decisions", UnrelateDecisions, {"relationId": relation_id})

    async def relations(self, root_id: UUID) -> Sequence[Relation]:
        """The relations that begin or end at a decision; InputRefused where there are too many."""
        found = await self._scope.read(lambda rooms: rooms.relations.touching((root_id,), RELATIONS + 1))
        if len(found) > RELATIONS:
            raise InputRefused(
                f"decision {root_id} has more than {RELATIONS} relations; its impact can still be read",
                at="relations",
            )
        return found

    async def keep_evidence(self, title: str, content: str, source: str | None = None) -> EvidenceCard:
        """Keep a snapshot of a source. The same content is kept once, under the title that it had first."""
        draft = made(EvidenceDraft, title=title, content=content, source=source)
        return await self._cycles.commit("keep_evidence", KeepEvidence, {"evidence": draft})

    async def find_evidence(self, content: str) -> EvidenceCard | None:
        """The snapshot of exactly this content, if it is kept."""
        digest = sha256(content.encode()).hexdigest()
        found = await self._scope.read(lambda rooms: rooms.evidence.find([digest]))
        return found[0] if found else None

    async def evidence(self, evidence_id: UUID) -> Evidence:
        """The snapshot with its content; NotFound where there is none."""
        found = await self._scope.read(lambda rooms: rooms.evidence.get(evidence_id))
        if found is None:
            raise NotFound(f"there is no evidence {evidence_id}")
        return found

    async def add_anchor(self, session_ref: str, hint: str, targets: Sequence[Target]) -> Anchor:
        """Set up a signpost. NotFound for a target that does not exist."""
        draft = made(AnchorDraft, session_ref=session_ref, hint=hint, targets=tuple(targets))
        return await self._cycles.commit("add_anchor", AddAnchor, {"anchor": draft})

    async def anchors(self, session_ref: str | None = None, limit: int = PAGE) -> Sequence[Anchor]:
        """The newest anchors of a session, or of all."""
        check_limit(limit)
        return await self._scope.read(lambda rooms: rooms.anchors.list(session_ref, limit))

    async def explore(self, session_ref: str) -> Job:
        """Have a worker follow the session's anchors, deep, and find all that they lead to. Returns its job.

        `explored` reads what was found, once the job is done.
        """
        return await self._cycles.commit("explore_anchors", QueueWalk, {"sessionRef": session_ref})

    async def explored(self, job_id: UUID) -> Exploration:
        """What a walk found, as it is now: active versions, by strength. NotFound before it is done."""

        def read(rooms: WalkRooms) -> Exploration:
            walk = rooms.walks.get(job_id)
            if walk is None:
                raise NotFound(f"there is no result of job {job_id}; see whether the job is done")
            return read_walk(rooms, walk)

        return await self._scope.read(read)

    async def compact(
        self,
        session_ref: str,
        messages: Sequence[Message | Said],
        *,
        plan: str | ExecutionPlan = COMPACT_PLAN,
    ) -> CompactedConversation:
        """Bring a long conversation into the plan's budget. Its older part becomes evidence and anchors.

        Give the whole conversation each time: what was compacted before is recognised.
        """
        said = tuple(made(Said, role=message.role, content=message.content) for message in messages)
        result = await self._cycles.run(plan, {"sessionRef": session_ref, "messages": said})
        compacted = output_of(result, CompactConversation)
        anchors: tuple[Anchor, ...] = committed_by(result, KeepSignposts)
        left_out = len(anchors) - compacted.fitting
        kept = messages[len(messages) - len(compacted.messages) :]
        return CompactedConversation(anchors[left_out:], kept, left_out)


def known_domain(name: str | None) -> str | None:
    """A domain's one spelling; InputRefused for what cannot be one."""
    try:
        return None if name is None else normal_domain(name)
    except ValueError as error:
        raise InputRefused(str(error), at="domain") from None
