"""`client.decisions`: decisions, evidence and anchors."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

from gieok.client.transport import Call, Transport, path
from gieok.memory.conversation.records import Message
from gieok.memory.decisions.loading.layers import LoadedContext
from gieok.memory.decisions.records import (
    Anchor,
    Decision,
    DecisionPage,
    DecisionProposal,
    Evidence,
    EvidenceCard,
    Impact,
    Policy,
    Relation,
    RelationType,
    Scope,
    Strength,
    Target,
)
from gieok.wire import CompactedSession, ProposalReport


class Decisions:
    """The decisions, evidence and anchors of one owner."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def propose(self, proposal: DecisionProposal) -> ProposalReport:
        """Report what a decision would replace, affect and conflict with. Nothing is stored."""
        body = proposal.model_dump(by_alias=True)
        return await self._transport.request(Call("POST", "/decisions/proposals", body=body), ProposalReport)

    async def save(
        self,
        proposal: DecisionProposal,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Decision:
        """SAVE_DECISION: durable when it returns. With a root id it appends a version to that decision.

        Conflict if the decision is no longer at `expected_version`. Each call has an Idempotency-Key, the
        given one or a new one, so a retry is safe.
        """
        body = {**proposal.model_dump(by_alias=True), "expectedVersion": expected_version}
        call = Call("POST", "/decisions", body=body, idempotency_key=idempotency_key or str(uuid4()))
        return await self._transport.request(call, Decision, field="decision")

    async def get(self, root_id: UUID) -> Decision:
        """The active version; NotFound if there is none."""
        return await self._transport.request(
            Call("GET", path("decisions", root_id)), Decision, field="decision"
        )

    async def list(
        self,
        *,
        domain: str | None = None,
        scope: Scope | None = None,
        strength: Strength | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> DecisionPage:
        """Active versions, strongest first. `cursor` is the `next_cursor` of the previous page."""
        query = {"domain": domain, "scope": scope, "strength": strength, "limit": limit, "cursor": cursor}
        return await self._transport.request(Call("GET", "/decisions", query), DecisionPage)

    async def history(
        self, root_id: UUID, *, after: int = 0, limit: int | None = None
    ) -> tuple[Decision, ...]:
        """The versions of a decision after a version, oldest first."""
        call = Call("GET", path("decisions", root_id, "history"), {"after": after, "limit": limit})
        return await self._transport.request(call, tuple[Decision, ...], field="versions")

    async def impact(self, root_id: UUID, *, depth: int | None = None, limit: int | None = None) -> Impact:
        """The decisions that a change of this one affects, by explicit relations."""
        call = Call("GET", path("decisions", root_id, "impact"), {"depth": depth, "limit": limit})
        return await self._transport.request(call, Impact)

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
    ) -> LoadedContext:
        """The decisions that apply in a domain, in the loading order: always seven layers.

        `roots` are the focus of the structural tier.
        """
        query = {
            "domain": domain,
            "phase": phase,
            "q": q,
            "sessionId": session_ref,
            "focus": [str(root) for root in roots] or None,
            "budget": budget,
            "depth": depth,
        }
        return await self._transport.request(Call("GET", "/decisions/context", query), LoadedContext)

    async def policy(self) -> Policy:
        """The owner's principles, tier 1 of every context. Version 0 if they were never set."""
        return await self._transport.request(Call("GET", "/decisions/policy"), Policy)

    async def set_policy(
        self,
        principles: Sequence[str],
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Policy:
        """Replace the owner's principles by a new version. The same principles again make no version."""
        body = {"principles": list(principles), "expectedVersion": expected_version}
        return await self._transport.request(
            Call("PUT", "/decisions/policy", body=body, idempotency_key=idempotency_key or str(uuid4())),
            Policy,
        )

    async def policy_history(self, *, after: int = 0, limit: int | None = None) -> tuple[Policy, ...]:
        """The versions of the policy after a version, oldest first."""
        call = Call("GET", "/decisions/policy/history", {"after": after, "limit": limit})
        return await self._transport.request(call, tuple[Policy, ...], field="versions")

    async def compact(
        self,
        *,
        session_ref: str | None = None,
        messages: Sequence[Message] | None = None,
        budget: int | None = None,
        idempotency_key: str | None = None,
    ) -> CompactedSession:
        """Fit a conversation into a budget of tokens: its older part becomes evidence with anchors.

        Give the whole conversation, or the session that the service has stored.
        """
        body = {
            "sessionId": session_ref,
            "messages": None if messages is None else list(messages),
            "budget": budget,
        }
        return await self._transport.request(
            Call("POST", "/decisions/compact", body=body, idempotency_key=idempotency_key or str(uuid4())),
            CompactedSession,
        )

    async def walk(
        self,
        *,
        anchor_id: UUID | None = None,
        root_id: UUID | None = None,
        session_ref: str | None = None,
        depth: int | None = None,
        idempotency_key: str | None = None,
    ) -> UUID:
        """Start a deep walk and return the id of its job. `jobs.get` has the result when it is done."""
        body = {"anchorId": anchor_id, "rootId": root_id, "sessionId": session_ref, "depth": depth}
        return await self._transport.request(
            Call("POST", "/decisions/walks", body=body, idempotency_key=idempotency_key or str(uuid4())),
            UUID,
            field="jobId",
        )

    async def relate(
        self, source: UUID, relation_type: RelationType, target: UUID, *, idempotency_key: str | None = None
    ) -> Relation:
        """Declare a relation between two decisions. Declaring it again returns the existing one."""
        call = Call(
            "POST",
            path("decisions", source, "relations"),
            body={"type": relation_type, "target": target},
            idempotency_key=idempotency_key or str(uuid4()),
        )
        return await self._transport.request(call, Relation, field="relation")

    async def relations(self, root_id: UUID) -> tuple[Relation, ...]:
        """The relations from and to a decision."""
        call = Call("GET", path("decisions", root_id, "relations"))
        return await self._transport.request(call, tuple[Relation, ...], field="relations")

    async def unrelate(
        self, root_id: UUID, relation_id: UUID, *, idempotency_key: str | None = None
    ) -> Relation:
        """Delete a relation of this decision; returns the deleted relation."""
        call = Call(
            "DELETE",
            path("decisions", root_id, "relations", relation_id),
            idempotency_key=idempotency_key or str(uuid4()),
        )
        return await self._transport.request(call, Relation, field="relation")

    async def keep_evidence(
        self, title: str, content: str, source: str | None = None, *, idempotency_key: str | None = None
    ) -> EvidenceCard:
        """Store a snapshot of a source. The same content is stored once, with its first title."""
        body = {"title": title, "content": content, "source": source}
        return await self._transport.request(
            Call("POST", "/evidence", body=body, idempotency_key=idempotency_key or str(uuid4())),
            EvidenceCard,
            field="evidence",
        )

    async def evidence(self, evidence_id: UUID) -> Evidence:
        """The snapshot with its content; NotFound if there is none."""
        return await self._transport.request(
            Call("GET", path("evidence", evidence_id)), Evidence, field="evidence"
        )

    async def add_anchor(
        self, session_ref: str, hint: str, targets: Sequence[Target], *, idempotency_key: str | None = None
    ) -> Anchor:
        """Add an anchor from a session to evidence and decisions. NotFound for an unknown target."""
        body = {"sessionId": session_ref, "hint": hint, "targets": list(targets)}
        return await self._transport.request(
            Call("POST", "/anchors", body=body, idempotency_key=idempotency_key or str(uuid4())),
            Anchor,
            field="anchor",
        )

    async def anchors(
        self, session_ref: str | None = None, *, limit: int | None = None
    ) -> tuple[Anchor, ...]:
        """The newest anchors of one session, or of all sessions."""
        query = {"sessionId": session_ref, "limit": limit}
        return await self._transport.request(
            Call("GET", "/anchors", query), tuple[Anchor, ...], field="anchors"
        )
