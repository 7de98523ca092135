"""The store of chains of one kind, as a room's store uses it: of one owner, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from gieok.memory.chains.records import ChainVersion, VersionDraft


class ChainStore(Protocol):
    """Append-only. No method changes a version that exists."""

    def append(self, root_id: UUID, draft: VersionDraft, expected_version: int | None) -> ChainVersion:
        """Append a version and make it the active one. `expected_version` as in `rules.next_version`.

        Conflict where the chain has moved on, NotFound where it does not exist; then nothing has changed.
        Appending to a retired chain makes it live again.
        """
        ...

    def retire(self, root_id: UUID, expected_version: int | None) -> None:
        """Leave the chain without an active version. Its history stays. NotFound, Conflict as in `append`."""
        ...

    def active(self, root_ids: Sequence[UUID]) -> Sequence[ChainVersion]:
        """The active versions of these chains, in the order asked. Unknown and retired ones are left out."""
        ...

    def history(self, root_id: UUID, after: int, limit: int) -> Sequence[ChainVersion]:
        """Versions with a number greater than `after`, oldest first: the audit call."""
        ...
