"""The stores of decision memory, as its steps see them. Synchronous, for one owner, in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from gieok.memory.decisions.graph.impact import Edge
from gieok.memory.decisions.records import (
    Anchor,
    Decision,
    DecisionContent,
    DecisionPosition,
    Evidence,
    EvidenceCard,
    EvidenceDraft,
    Policy,
    Relation,
    RelationType,
    Scope,
    Strength,
    Walk,
)


class DecisionStore(Protocol):
    """Version chains of decisions. Every read except `history` returns active versions only."""

    def append(
        self,
        root_id: UUID,
        content: DecisionContent,
        *,
        version_id: UUID,
        created_at: datetime,
        expected_version: int | None,
    ) -> Decision:
        """Append a version and make it the active one. Conflict, NotFound as in `ChainStore.append`.

        InputRefused for anything but a DecisionContent: a proposal is never stored.
        """
        ...

    def active(self, root_ids: Sequence[UUID]) -> Sequence[Decision]:
        """The active versions of these decisions, in the order given; unknown ones are left out."""
        ...

    def existing(self, root_ids: Sequence[UUID]) -> Collection[UUID]:
        """Which of these decisions exist. Nothing is decrypted."""
        ...

    def list(
        self,
        *,
        scope: Scope | None,
        domain: str | None,
        strength: Strength | None,
        after: DecisionPosition | None,
        limit: int,
    ) -> Sequence[Decision]:
        """Active versions by strength, then last changed first, then root; None for no filter.

        `domain` is normalized (`normal_domain`) and leaves out global decisions.
        """
        ...

    def search(self, query: str, *, domain: str | None, limit: int) -> Sequence[Decision]:
        """Active global decisions, and those of the domain, whose statement shares words with the query.

        Most shared words first, then last changed, then root.
        """
        ...

    def history(self, root_id: UUID, *, after: int, limit: int) -> Sequence[Decision]:
        """Versions with a number greater than `after`, oldest first. For audits."""
        ...


class PolicyStore(Protocol):
    """The owner's principles, as one version chain."""

    def get(self) -> Policy:
        """The active version; version 0 without principles where none were ever set."""
        ...

    def append(
        self,
        principles: Sequence[str],
        *,
        version_id: UUID,
        created_at: datetime,
        expected_version: int | None,
    ) -> Policy:
        """Append a version. Conflict where the policy is no longer at `expected_version`; None for any."""
        ...

    def history(self, *, after: int, limit: int) -> Sequence[Policy]:
        """Versions with a number greater than `after`, oldest first."""
        ...


class RelationStore(Protocol):
    """The declared relations."""

    def save(self, relation: Relation) -> Relation:
        """Save a relation between two existing decisions. One that exists is returned unchanged."""
        ...

    def get(self, relation_id: UUID) -> Relation | None:
        """The relation, or None."""
        ...

    def remove(self, relation: Relation) -> None:
        """Delete a relation."""
        ...

    def touching(self, root_ids: Sequence[UUID], limit: int) -> Sequence[Relation]:
        """Relations that begin or end at one of these decisions, by id."""
        ...


class EvidenceStore(Protocol):
    """Evidence, stored once per content."""

    def save(self, draft: EvidenceDraft, *, evidence_id: UUID, created_at: datetime) -> EvidenceCard:
        """Save the evidence. Existing evidence with the same content is returned unchanged."""
        ...

    def get(self, evidence_id: UUID) -> Evidence | None:
        """The evidence with its content, or None."""
        ...

    def cards(self, evidence_ids: Sequence[UUID]) -> Sequence[EvidenceCard]:
        """These without their contents, in the order given; unknown ones are left out."""
        ...

    def find(self, digests: Sequence[str]) -> Sequence[EvidenceCard]:
        """Evidence with one of these SHA-256 digests, unordered."""
        ...


class AnchorStore(Protocol):
    """Anchors, newest first."""

    def save(self, anchor: Anchor) -> None:
        """Save an anchor. Conflict where its id exists."""
        ...

    def get(self, anchor_id: UUID) -> Anchor | None:
        """The anchor, or None."""
        ...

    def list(self, session_ref: str | None, limit: int) -> Sequence[Anchor]:
        """The newest anchors of one session, or of all."""
        ...

    def leading_to(self, session_ref: str, target_ids: Sequence[UUID]) -> Sequence[Anchor]:
        """The anchors of a session with one of these targets, newest first."""
        ...


class DecisionGraph(Protocol):
    """The relation graph, for walks and the guardian. It decrypts no content and searches no text."""

    def edges(self, origins: Sequence[bytes], visited: Collection[bytes]) -> Iterator[Edge]:
        """The edges from these sorted origins to decisions that are not `visited`, in order.

        Lazy: edges are read as they are consumed. If `visited` grows meanwhile, edges to new members may be
        left out.
        """
        ...

    def declared_from(
        self, sources: Sequence[UUID], types: Sequence[RelationType], limit: int
    ) -> Sequence[Relation]:
        """Relations of these types from one of these decisions, by source, type and target."""
        ...

    def declared_to(
        self, targets: Sequence[UUID], types: Sequence[RelationType], limit: int
    ) -> Sequence[Relation]:
        """Relations of these types to one of these decisions, by target, type and source."""
        ...

    def roots(self, scope: Scope, domain: str, strength: Strength, limit: int) -> Sequence[UUID]:
        """The decisions of this strength that apply globally or in the domain, last changed first."""
        ...

    def count(self, scope: Scope, domain: str, strength: Strength) -> int:
        """How many decisions of this strength apply globally, or in the domain."""
        ...


class WalkStore(Protocol):
    """The walks of one owner."""

    def save(self, walk: Walk) -> None:
        """Save a walk. It replaces an earlier one of the same job."""
        ...

    def get(self, walk_id: UUID) -> Walk | None:
        """The walk, or None."""
        ...

    def delete_before(self, before: datetime) -> int:
        """Delete walks older than `before`; returns how many."""
        ...


class DecisionView(Protocol):
    """The stores of decision memory in one transaction."""

    @property
    def decisions(self) -> DecisionStore: ...

    @property
    def policy(self) -> PolicyStore: ...

    @property
    def relations(self) -> RelationStore: ...

    @property
    def graph(self) -> DecisionGraph: ...

    @property
    def evidence(self) -> EvidenceStore: ...

    @property
    def anchors(self) -> AnchorStore: ...

    @property
    def walks(self) -> WalkStore: ...
