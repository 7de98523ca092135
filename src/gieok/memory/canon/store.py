"""Protocols of the persona store and the fact store: for one owner, inside one transaction."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from gieok.memory.canon.records import (
    Fact,
    FactChange,
    FactDraft,
    FactReason,
    FactVersion,
    PersonaCard,
    PersonaDraft,
    PlannedChange,
)

MAX_ACTIVE = 10_000
"""How many active facts of a persona are compared when one changes; the most important ones."""


class PersonaStore(Protocol):
    """Version chains of personas."""

    def create(self, persona_id: str, draft: PersonaDraft, *, version_id: UUID, at: datetime) -> PersonaCard:
        """Create a persona. Raises Conflict if the id is taken."""
        ...

    def edit(
        self,
        persona_id: str,
        draft: PersonaDraft,
        *,
        version_id: UUID,
        at: datetime,
        expected_version: int | None,
    ) -> PersonaCard:
        """Append a version, or return the active one if the draft has the same content.

        Raises NotFound without such a persona, Conflict if it is not at `expected_version` (None: any).
        """
        ...

    def get(self, persona_id: str) -> PersonaCard | None:
        """The active version, or None."""
        ...

    def list(self, *, after: str | None, limit: int) -> Sequence[PersonaCard]:
        """Active versions in the order in which the personas were created, after this persona."""
        ...

    def versions(self, persona_id: str, *, after: int, limit: int) -> Sequence[PersonaCard]:
        """Versions with a number greater than `after`, oldest first. Empty without such a persona."""
        ...

    def delete(self, persona_id: str) -> bool:
        """Delete all versions of a persona. False without such a persona."""
        ...


class FactStore(Protocol):
    """Version chains by persona. At most one version of a fact is active."""

    def apply(
        self, persona_id: str, changes: Sequence[PlannedChange], *, at: datetime
    ) -> Sequence[FactChange]:
        """Store the changes that `merging.merge` planned, in order. Returns what each of them did.

        A new fact whose slot has a fact by now supersedes it, and one whose slot had a fact that was retired
        continues its chain. Raises Conflict if another writer has changed one of these facts since they were
        read; then merge again.
        """
        ...

    def save(self, persona_id: str, draft: FactDraft, *, at: datetime) -> FactChange:
        """Save one fact. It supersedes the active one with its key, or else the one in its slot."""
        ...

    def retire(self, persona_id: str, root_id: UUID, *, at: datetime) -> FactChange:
        """Retire this fact by a new version. Raises NotFound if the persona has no such active fact."""
        ...

    def active(self, persona_id: str, *, only_state: bool, limit: int) -> Sequence[Fact]:
        """Active facts: most important first, then newest. `only_state` omits other categories."""
        ...

    def as_of(self, persona_id: str, at: datetime, *, limit: int) -> Sequence[Fact]:
        """The facts that were active at this moment, in no particular order."""
        ...

    def roots(self, persona_id: str, *, limit: int) -> Sequence[UUID]:
        """The root ids of facts, retired ones too, those that changed last first."""
        ...

    def history(self, persona_id: str, root_id: UUID, *, after: int, limit: int) -> Sequence[FactVersion]:
        """Versions with a number greater than `after`, oldest first. Empty without such a fact."""
        ...

    def delete(self, persona_id: str, session_ref: str | None) -> int:
        """Delete facts with their history, and return how many: all of the persona, retired ones included, or
        those whose active version comes from this session."""
        ...

    def withdraw(
        self,
        persona_id: str,
        session_ref: str,
        message_ids: Collection[str],
        *,
        at: datetime,
        reason: FactReason = "withdrawn",
        spared: Collection[UUID] = (),
    ) -> Sequence[FactChange]:
        """Change back what these messages have changed, except for `spared`, by new versions with the reason.

        A fact gets back its newest version that comes from no withdrawn message, unless its slot has another
        fact by now; without such a version it is retired. What was stated later stays. Returns the changes.
        """
        ...

    def consolidate(self, *, at: datetime) -> int:
        """Retire the older ones of active facts that share a slot. Returns how many."""
        ...


class CanonView(Protocol):
    """The stores of canon in one transaction."""

    @property
    def personas(self) -> PersonaStore: ...

    @property
    def facts(self) -> FactStore: ...
