"""The stores of decision memory, as its steps see them. Synchronous; of one owner, in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from gieok.memory.decisions.evidence import Anchor, Evidence, EvidenceCard, EvidenceDraft
from gieok.memory.decisions.records import (
    Decision,
    DecisionContent,
    DecisionPosition,
    Relation,
    Scope,
    Strength,
)


class DecisionStore(Protocol):
    """Reads active versions only, but for `history`."""

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
        """The active versions of these decisions, in the order asked; unknown ones are left out."""
        ...

    def existing(self, root_ids: Sequence[UUID]) -> Collection[UUID]:
        """Those of these decisions that there are. Nothing is opened."""
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
        """Active versions by strength, then last changed first, then root; None of a filter is all.

        `domain` is in its one spelling (`normal_domain`) and leaves out global decisions.
        """
        ...

    def search(self, query: str, *, domain: str | None, limit: int) -> Sequence[Decision]:
        """Active global decisions, and those of the domain, whose statement shares words with the query.

        Most shared words first, then last changed, then root.
        """
        ...

    def history(self, root_id: UUID, *, after: int, limit: int) -> Sequence[Decision]:
        """Versions with a number greater than `after`, oldest first: the audit call."""
        ...


class RelationStore(Protocol):
    """The explicit graph. What follows from it is computed elsewhere."""

    def save(self, relation: Relation) -> Relation:
        """Keep a relation between two decisions that exist. One that was declared before is given back."""
        ...

    def get(self, relation_id: UUID) -> Relation | None:
        """The relation, or None."""
        ...

    def remove(self, relation: Relation) -> None:
        """Take a relation out of the graph."""
        ...

    def touching(self, root_ids: Sequence[UUID], limit: int) -> Sequence[Relation]:
        """Relations that begin or end at one of these decisions, by id."""
        ...


class EvidenceStore(Protocol):
    """Keeps each content once."""

    def save(self, draft: EvidenceDraft, *, evidence_id: UUID, created_at: datetime) -> EvidenceCard:
        """Keep the evidence. Where the owner has the same content already, that is given back unchanged."""
        ...

    def get(self, evidence_id: UUID) -> Evidence | None:
        """The evidence with its content, or None."""
        ...

    def cards(self, evidence_ids: Sequence[UUID]) -> Sequence[EvidenceCard]:
        """What is known of these without their contents, in the order asked; unknown ones are left out."""
        ...

    def find(self, digests: Sequence[str]) -> Sequence[EvidenceCard]:
        """Those with one of these SHA-256 digests, in no order."""
        ...


class AnchorStore(Protocol):
    """Signposts, newest first."""

    def save(self, anchor: Anchor) -> None:
        """Keep an anchor. Conflict where its id exists."""
        ...

    def list(self, session_ref: str | None, limit: int) -> Sequence[Anchor]:
        """The newest anchors of one session, or of all."""
        ...

    def leading_to(self, session_ref: str, target_ids: Sequence[UUID]) -> Sequence[Anchor]:
        """The anchors of a session that lead to one of these, newest first."""
        ...


class DecisionRooms(Protocol):
    """Whatever holds decision memory among its rooms."""

    @property
    def decisions(self) -> DecisionStore: ...

    @property
    def relations(self) -> RelationStore: ...

    @property
    def evidence(self) -> EvidenceStore: ...

    @property
    def anchors(self) -> AnchorStore: ...
