"""The facades of decision memory: `user.decisions`, and `user.exchange` for import and export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from gieok.app.cycles import Cycles, output_of, run_idempotent, validated
from gieok.engine import CycleResult, ExecutionPlan
from gieok.errors import InputRefused, NotFound
from gieok.memory.conversation.records import Message
from gieok.memory.cursors import decode_cursor, encode_cursor
from gieok.memory.decisions.checks import active_version
from gieok.memory.decisions.compaction import CompactConversation, ConversationMessage, KeepSignposts
from gieok.memory.decisions.exchange import (
    MAX_ENTRIES,
    DecisionEntry,
    EntryResult,
    ImportDecisions,
    export_entries,
)
from gieok.memory.decisions.graph.guardian import GuardianReport
from gieok.memory.decisions.loading.layers import LoadedContext
from gieok.memory.decisions.records import (
    Anchor,
    AnchorDraft,
    Decision,
    DecisionPage,
    DecisionPosition,
    DecisionProposal,
    Evidence,
    EvidenceCard,
    EvidenceDraft,
    Impact,
    Policy,
    Relation,
    RelationType,
    Scope,
    Strength,
    Target,
    normal_domain,
)
from gieok.memory.decisions.rules import check_limit, check_version, position_of
from gieok.memory.decisions.steps import (
    AddAnchor,
    AnalyzeImpact,
    BlastRadius,
    KeepEvidence,
    LoadDecisions,
    ProposeDecision,
    RelateDecisions,
    SaveDecision,
    SetPolicy,
    UnrelateDecisions,
)
from gieok.memory.decisions.store import DecisionView
from gieok.memory.decisions.walks import QueueWalk, WalkResult, read_walk
from gieok.memory.jobs.records import Job
from gieok.memory.requests import RequestKey
from gieok.memory.sessions.records import ChatMessage, MessageRange
from gieok.memory.sessions.store import LogView

COMPACT_PLAN = "compact_conversation"
IMPORT_PLAN = "import_decisions"
LOAD_PLAN = "load_decisions"
SAVE_PLAN = "save_decision"
PAGE = 100
EXPORT_PAGE = 500
RELATIONS = 10_000


@dataclass(frozen=True)
class ProposalResult:
    """The result of a proposal. Nothing is stored."""

    proposal: DecisionProposal
    replaces: Decision | None
    """The active version that it would replace, if this is a change."""
    report: GuardianReport
    """What constrains it and what it would break."""


@dataclass(frozen=True)
class CompactedConversation:
    """A conversation that fits its budget: anchors to the older part, then the newer messages."""

    anchors: Sequence[Anchor]
    """Oldest first. Each leads to the original messages."""
    messages: Sequence[Message | ConversationMessage]
    """The newer part, unchanged."""
    evidence: Sequence[EvidenceCard]
    """What the anchors lead to: the older messages, word for word."""
    left_out: int
    """How many older anchors are stored and did not fit the budget."""
    session_ref: str
    """The session that the anchors belong to."""


@dataclass(frozen=True)
class _Compacted:
    """What is stored of a compaction with an idempotency key."""

    anchors: tuple[Anchor, ...]
    evidence: tuple[EvidenceCard, ...]
    kept: int
    left_out: int
    session_ref: str


class Decisions:
    """One owner's decisions, evidence and anchors."""

    def __init__(self, cycles: Cycles) -> None:
        self._cycles = cycles
        self._scope = cycles.scope

    async def propose(self, proposal: DecisionProposal) -> ProposalResult:
        """Check whether a proposal could be saved, what it would replace, and get the guardian's report.

        Nothing is stored, and the report never prevents saving.
        """
        result = await self._cycles.run("propose_decision", {"proposal": proposal})
        proposed = output_of(result, ProposeDecision)
        return ProposalResult(proposed.proposal, proposed.replaces, output_of(result, AnalyzeImpact))

    async def impact(self, root_id: UUID, *, depth: int | None = None, limit: int | None = None) -> Impact:
        """What a change of a decision reaches, by declared relations. NotFound where there is no decision.

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

        `phase` is returned as given and filters nothing. `roots` are the focus of the structural tier. Tier 7
        follows the anchors of `session_ref`, and then adds what shares words with `q`. `budget` (tokens)
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

        Conflict where the decision is no longer at `expected_version`; 0 creates a decision under a root that
        the caller chose. NotFound for a root, a relation or evidence that does not exist. `once` is an
        idempotency key: a repeated request returns the version that it created; another one is a Conflict.
        """

        async def create(key: RequestKey | None) -> Decision:
            request = {"proposal": proposal, "expectedVersion": expected_version, "once": key}
            return await self._cycles.output(SAVE_PLAN, SaveDecision, request)

        return await run_idempotent(self._cycles, once, SAVE_PLAN, create, self._replay_save)

    async def _replay_save(self, answer: str) -> Decision:
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
        return await self._scope.read(lambda view: active_version(view, root_id))

    async def active(self, root_ids: Sequence[UUID]) -> Sequence[Decision]:
        """The active versions of these decisions, in the given order. Unknown ones are omitted."""
        return await self._scope.read(lambda view: view.decisions.active(root_ids))

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
        after = decode_cursor(DecisionPosition, cursor) if cursor else None
        name = checked_domain(domain)
        found = await self._scope.read(
            lambda view: view.decisions.list(
                scope=scope, domain=name, strength=strength, after=after, limit=limit + 1
            ),
            replica=True,
        )
        page = tuple(found[:limit])
        cursor = encode_cursor(position_of(page[-1])) if len(found) > limit else None
        return DecisionPage(decisions=page, next_cursor=cursor)

    async def history(self, root_id: UUID, *, after: int = 0, limit: int = PAGE) -> Sequence[Decision]:
        """The versions of a decision after a version, oldest first; NotFound where there is no decision."""
        check_limit(limit)
        check_version(after)
        found = await self._scope.read(
            lambda view: view.decisions.history(root_id, after=after, limit=limit), replica=True
        )
        if not found and after == 0:
            raise NotFound(f"there is no decision {root_id}")
        return found

    async def relate(
        self, source: UUID, relation_type: RelationType, target: UUID, *, once: RequestKey | None = None
    ) -> Relation:
        """Declare a relation between two decisions. A relation that exists is returned unchanged.

        `once` is an idempotency key, as in all calls that take one: a repeated request returns the same
        result, and nothing is done again.
        """
        request = {"source": source, "type": relation_type, "target": target}
        return await self._cycles.output_once(once, "relate_decisions", RelateDecisions, request)

    async def unrelate(
        self, relation_id: UUID, *, root_id: UUID | None = None, once: RequestKey | None = None
    ) -> Relation:
        """Remove a relation and return it. NotFound where there is none, or not one of `root_id`."""

        def removed(result: CycleResult) -> Relation:
            relation = output_of(result, UnrelateDecisions)
            if root_id not in (None, relation.source, relation.target):
                raise NotFound(f"there is no relation {relation_id}")
            return relation

        request = {"relationId": relation_id}
        return await self._cycles.answer_once(once, "unrelate_decisions", request, removed, Relation)

    async def relations(self, root_id: UUID) -> Sequence[Relation]:
        """The relations that begin or end at a decision; InputRefused where there are too many."""
        found = await self._scope.read(lambda view: view.relations.touching((root_id,), RELATIONS + 1))
        if len(found) > RELATIONS:
            raise InputRefused(
                f"decision {root_id} has more than {RELATIONS} relations; its impact can still be read",
                at="relations",
            )
        return found

    async def keep_evidence(
        self, title: str, content: str, source: str | None = None, *, once: RequestKey | None = None
    ) -> EvidenceCard:
        """Save a snapshot of a source. The same content is saved once, under its first title."""
        draft = validated(EvidenceDraft, title=title, content=content, source=source)
        return await self._cycles.output_once(once, "keep_evidence", KeepEvidence, {"evidence": draft})

    async def find_evidence(self, content: str) -> EvidenceCard | None:
        """The evidence with exactly this content, or None."""
        digest = sha256(content.encode()).hexdigest()
        found = await self._scope.read(lambda view: view.evidence.find([digest]))
        return found[0] if found else None

    async def evidence(self, evidence_id: UUID) -> Evidence:
        """The evidence with its content; NotFound where there is none."""
        found = await self._scope.read(lambda view: view.evidence.get(evidence_id))
        if found is None:
            raise NotFound(f"there is no evidence {evidence_id}")
        return found

    async def add_anchor(
        self, session_ref: str, hint: str, targets: Sequence[Target], *, once: RequestKey | None = None
    ) -> Anchor:
        """Add an anchor. NotFound for a target that does not exist."""
        draft = validated(AnchorDraft, session_ref=session_ref, hint=hint, targets=tuple(targets))
        return await self._cycles.output_once(once, "add_anchor", AddAnchor, {"anchor": draft})

    async def anchors(self, session_ref: str | None = None, limit: int = PAGE) -> Sequence[Anchor]:
        """The newest anchors of a session, or of all."""
        check_limit(limit)
        return await self._scope.read(lambda view: view.anchors.list(session_ref, limit), replica=True)

    async def policy(self) -> Policy:
        """The owner's principles: tier 1 of every context, after those of the plan."""
        return await self._scope.read(lambda view: view.policy.get())

    async def set_policy(
        self,
        principles: Sequence[str],
        *,
        expected_version: int | None = None,
        once: RequestKey | None = None,
    ) -> Policy:
        """Replace the owner's principles by a new version. The same principles again make no version.

        Conflict where the policy is no longer at `expected_version`; 0 is a policy that was never set.
        """
        request = {"principles": tuple(principles), "expectedVersion": expected_version}
        return await self._cycles.output_once(once, "set_policy", SetPolicy, request)

    async def policy_history(self, *, after: int = 0, limit: int = PAGE) -> Sequence[Policy]:
        """The versions of the policy after a version, oldest first."""
        check_limit(limit)
        check_version(after)
        return await self._scope.read(
            lambda view: view.policy.history(after=after, limit=limit), replica=True
        )

    async def walk(
        self,
        *,
        anchor_id: UUID | None = None,
        root_id: UUID | None = None,
        session_ref: str | None = None,
        depth: int | None = None,
        once: RequestKey | None = None,
    ) -> Job:
        """Queue a deep walk from an anchor, a decision or all anchors of a session, and return its job.

        A worker runs it; `walk_result` returns the result when the job is done. `depth` may ask for less than
        the plan gives, not for more. NotFound for an anchor or a decision that does not exist.
        """
        request = {"sessionRef": session_ref, "anchorId": anchor_id, "rootId": root_id, "depth": depth}
        return await self._cycles.output_once(once, "queue_walk", QueueWalk, request)

    async def walk_result(self, job_id: UUID) -> WalkResult:
        """The result of a walk: active versions, by strength. NotFound before the job is done."""

        def read(view: DecisionView) -> WalkResult:
            walk = view.walks.get(job_id)
            if walk is None or not walk.is_done:
                raise NotFound(f"job {job_id} has no result; check whether it is done")
            return read_walk(view, walk)

        return await self._scope.read(read, heavy=True)

    async def compact(
        self,
        session_ref: str,
        messages: Sequence[Message | ConversationMessage],
        *,
        budget: int | None = None,
        plan: str | ExecutionPlan = COMPACT_PLAN,
        once: RequestKey | None = None,
    ) -> CompactedConversation:
        """Fit a long conversation into a budget of tokens. Its older part becomes evidence and anchors.

        Pass the whole conversation each time: parts that were compacted before are recognised. Without
        `budget`, that of the plan counts. InputRefused for a budget that the plan does not allow.
        """
        said = tuple(
            validated(ConversationMessage, role=message.role, content=message.content) for message in messages
        )
        request = {"sessionRef": session_ref, "messages": said, "budget": budget}

        def compacted(result: CycleResult) -> _Compacted:
            fitted, stored = output_of(result, CompactConversation), output_of(result, KeepSignposts)
            left_out = len(stored.anchors) - fitted.fitting
            anchors, evidence = stored.anchors[left_out:], stored.evidence[left_out:]
            return _Compacted(tuple(anchors), tuple(evidence), len(fitted.messages), left_out, session_ref)

        made = await self._cycles.answer_once(
            once, plan, request, compacted, _Compacted, operation=COMPACT_PLAN
        )
        kept = messages[len(messages) - made.kept :]
        return CompactedConversation(made.anchors, kept, made.evidence, made.left_out, made.session_ref)

    async def compact_session(
        self, session_ref: str, *, budget: int | None = None, once: RequestKey | None = None
    ) -> CompactedConversation:
        """`compact` with all messages of a stored session. NotFound for an unknown or empty one."""

        def read(view: LogView) -> Sequence[ChatMessage]:
            session = view.sessions.get(session_ref)
            if session is None or not session.message_count:
                raise NotFound("no such session, or it has no messages")
            return view.messages.between(session_ref, MessageRange(first=1, last=session.log_length))

        log = await self._scope.read(read, heavy=True)
        said = [
            ConversationMessage(role=each.role, content=each.content)
            for each in log
            if each.withdrawn_at is None
        ]
        return await self.compact(session_ref, said, budget=budget, once=once)


class DecisionExchange:
    """Import and export of one owner's decisions as decision records (Markdown files)."""

    def __init__(self, cycles: Cycles) -> None:
        self._cycles = cycles
        self._scope = cycles.scope

    async def import_entries(self, entries: Sequence[DecisionEntry]) -> Sequence[EntryResult]:
        """Save what differs from the stored decisions: all of it or nothing. Idempotent.

        Durable when it returns. NotFound for a relation or evidence that does not exist, Conflict where
        someone else changed one of the decisions at the same time.
        """
        if not entries:
            return ()
        if len(entries) > MAX_ENTRIES:
            raise InputRefused(f"one import may have at most {MAX_ENTRIES} decisions", at="entries")
        imported = await self._cycles.output(IMPORT_PLAN, ImportDecisions, {"entries": tuple(entries)})
        return imported.results

    async def export_entries(
        self, write: Callable[[Sequence[DecisionEntry]], None], *, domain: str | None = None
    ) -> None:
        """Pass every active decision to `write`, page by page, from one consistent snapshot.

        `write` runs on a database thread. `domain` leaves out global decisions and those of other domains.
        """
        name = checked_domain(domain)

        def export(view: DecisionView) -> None:
            after: DecisionPosition | None = None
            while page := view.decisions.list(
                scope=None, domain=name, strength=None, after=after, limit=EXPORT_PAGE
            ):
                write(export_entries(view, page))
                after = position_of(page[-1])

        await self._scope.read(export, heavy=True, replica=True)


def checked_domain(name: str | None) -> str | None:
    """The normalized domain; InputRefused for an invalid one."""
    try:
        return None if name is None else normal_domain(name)
    except ValueError as error:
        raise InputRefused(str(error), at="domain") from None
