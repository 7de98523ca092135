"""Decisions, their evidence and their anchors, as `client.decisions`."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

from gieok.client.line import Call, Line, path
from gieok.memory.decisions.evidence import Evidence, EvidenceCard, Target
from gieok.memory.decisions.records import (
    Decision,
    DecisionProposal,
    Impact,
    Relation,
    RelationType,
    Scope,
    Strength,
)
from gieok.wire import Anchor, DecisionPage, LoadedContext, Proposed


class Decisions:
    """One owner's decisions, evidence and anchors."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def propose(self, proposal: DecisionProposal) -> Proposed:
        """What a decision would follow, meet and break. Nothing is stored."""
        body = proposal.model_dump(by_alias=True)
        return await self._line.ask(Call("POST", "/decisions/proposals", body=body), Proposed)

    async def save(
        self,
        proposal: DecisionProposal,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Decision:
        """SAVE_DECISION: durable when it returns. With a root it appends a version to that decision.

        Conflict where the decision is not at `expected_version` any more. Each call has an Idempotency-Key,
        the given one or a new one, so that trying again is safe.
        """
        body = {**proposal.model_dump(by_alias=True), "expectedVersion": expected_version}
        call = Call("POST", "/decisions", body=body, key=idempotency_key or str(uuid4()))
        return await self._line.ask(call, Decision, "decision")

    async def get(self, root_id: UUID) -> Decision:
        """The active version; NotFound where there is none."""
        return await self._line.ask(Call("GET", path("decisions", root_id)), Decision, "decision")

    async def list(
        self,
        *,
        domain: str | None = None,
        scope: Scope | None = None,
        strength: Strength | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> DecisionPage:
        """Active versions, strongest first. `cursor` is the `next_cursor` of the page before."""
        query = {"domain": domain, "scope": scope, "strength": strength, "limit": limit, "cursor": cursor}
        return await self._line.ask(Call("GET", "/decisions", query), DecisionPage)

    async def history(
        self, root_id: UUID, *, after: int = 0, limit: int | None = None
    ) -> tuple[Decision, ...]:
        """The versions of a decision after a version, oldest first."""
        call = Call("GET", path("decisions", root_id, "history"), {"after": after, "limit": limit})
        return await self._line.ask(call, tuple[Decision, ...], "versions")

    async def impact(self, root_id: UUID, *, depth: int | None = None, limit: int | None = None) -> Impact:
        """What a change of a decision reaches, by explicit relations."""
        call = Call("GET", path("decisions", root_id, "impact"), {"depth": depth, "limit": limit})
        return await self._line.ask(call, Impact)

    async def context(
        self,
        domain: str,
        *,
        phase: str | None = None,
        q: str | None = None,
        session_id: str | None = None,
        budget: int | None = None,
        depth: int | None = None,
    ) -> LoadedContext:
        """What applies in a domain, in the loading order: always seven layers."""
        query = {
            "domain": domain,
            "phase": phase,
            "q": q,
            "sessionId": session_id,
            "budget": budget,
            "depth": depth,
        }
        return await self._line.ask(Call("GET", "/decisions/context", query), LoadedContext)

    async def relate(self, source: UUID, relation_type: RelationType, target: UUID) -> Relation:
        """Declare a relation between two decisions. Declaring it again gives back the first."""
        call = Call(
            "POST", path("decisions", source, "relations"), body={"type": relation_type, "target": target}
        )
        return await self._line.ask(call, Relation, "relation")

    async def relations(self, root_id: UUID) -> tuple[Relation, ...]:
        """The relations that begin or end at a decision."""
        call = Call("GET", path("decisions", root_id, "relations"))
        return await self._line.ask(call, tuple[Relation, ...], "relations")

    async def unrelate(self, root_id: UUID, relation_id: UUID) -> Relation:
        """Take a relation of this decision back; returns what it was."""
        call = Call("DELETE", path("decisions", root_id, "relations", relation_id))
        return await self._line.ask(call, Relation, "relation")

    async def keep_evidence(self, title: str, content: str, source: str | None = None) -> EvidenceCard:
        """Keep a snapshot of a source. The same content is kept once, under the title that it had first."""
        body = {"title": title, "content": content, "source": source}
        return await self._line.ask(Call("POST", "/evidence", body=body), EvidenceCard, "evidence")

    async def evidence(self, evidence_id: UUID) -> Evidence:
        """The snapshot with its content; NotFound where there is none."""
        return await self._line.ask(Call("GET", path("evidence", evidence_id)), Evidence, "evidence")

    async def add_anchor(self, session_id: str, hint: str, targets: Sequence[Target]) -> Anchor:
        """Set up a signpost from a session to evidence and decisions. NotFound for an unknown target."""
        body = {"sessionId": session_id, "hint": hint, "targets": list(targets)}
        return await self._line.ask(Call("POST", "/anchors", body=body), Anchor, "anchor")

    async def anchors(self, session_id: str | None = None, *, limit: int | None = None) -> tuple[Anchor, ...]:
        """The newest anchors of a session, or of all."""
        query = {"sessionId": session_id, "limit": limit}
        return await self._line.ask(Call("GET", "/anchors", query), tuple[Anchor, ...], "anchors")
