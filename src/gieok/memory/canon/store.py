"""Protocols of the persona store and the fact store: for one owner, inside one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from gieok.memory.canon.records import Fact, FactChange, FactDraft, FactVersion, PersonaCard, PersonaDraft
from gieok.memory.observations import Category


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
    """Version chains by persona, category and key. At most one version of a fact is active."""

    def save(self, persona_id: str, draft: FactDraft, *, version_id: UUID, at: datetime) -> FactChange:
        """Append a version of the fact, unless the active one has the same content."""
        ...

    def retract(self, persona_id: str, category: Category, key: str, *, at: datetime) -> FactChange:
        """Retire the fact with this key, if there is an active one. Its history stays."""
        ...

    def retire(self, persona_id: str, root_id: UUID, *, at: datetime) -> FactChange:
        """Retire this fact; its history stays. Raises NotFound if the persona has no such active fact."""
        ...

    def active(self, persona_id: str, *, only_state: bool, limit: int) -> Sequence[Fact]:
        """Active facts: most important first, then newest. `only_state` omits other categories."""
        ...

    def history(self, persona_id: str, root_id: UUID, *, after: int, limit: int) -> Sequence[FactVersion]:
        """Versions with a number greater than `after`, oldest first. Empty without such a fact."""
        ...

    def delete(self, persona_id: str, session_ref: str | None) -> int:
        """Delete facts with their history, and return how many: all of the persona, retired ones included, or
        those whose active version comes from this session."""
        ...


class CanonView(Protocol):
    """The stores of canon in one transaction."""

    @property
    def personas(self) -> PersonaStore: ...

    @property
    def facts(self) -> FactStore: ...
