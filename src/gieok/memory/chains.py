"""Version chains: a change appends a version, nothing is overwritten, and at most one version is active.

Facts, personas and decisions are version chains. The content of a version belongs to its room.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol
from uuid import UUID

from pydantic import Field

from gieok.engine import Data
from gieok.errors import Conflict, NotFound
from gieok.memory.fields import Timestamp

NEW = 0
"""The version that a writer expects of a chain that does not exist yet."""

VersionNumber = Annotated[int, Field(ge=1, le=2**31 - 1)]


class VersionDraft(Data):
    """A version to append. The chain assigns its number."""

    id: UUID
    form: Annotated[int, Field(ge=0, le=32_767)]
    """The format version of `content`; an older format is upcast when it is read."""
    content: Annotated[bytes, Field(min_length=1)]
    created_at: Timestamp


class VersionRef(Data):
    """The identity of one version of a chain."""

    root_id: UUID
    version: VersionNumber


class ChainVersion(VersionRef):
    """One version of a chain, exactly as it was appended."""

    is_active: bool
    id: UUID
    form: int
    content: bytes
    created_at: Timestamp


class ChainHead(Data):
    """The newest version of a chain, and whether the chain is retired (has no active version)."""

    root_id: UUID
    latest: VersionNumber
    is_retired: bool


class ChainStore(Protocol):
    """Chains of one kind of one owner, inside one transaction. No method changes an existing version."""

    def append(self, root_id: UUID, draft: VersionDraft, expected_version: int | None) -> ChainVersion:
        """Append a version and make it the active one. `expected_version` as in `next_version`.

        Raises Conflict if the chain has a newer version, NotFound if it does not exist; then nothing has
        changed. Appending to a retired chain makes it active again.
        """
        ...

    def retire(self, root_id: UUID, expected_version: int | None) -> None:
        """Leave the chain without an active version; its history stays. Raises errors as `append` does."""
        ...

    def active(self, root_ids: Sequence[UUID]) -> Sequence[ChainVersion]:
        """The active versions of these chains, in the given order. Unknown and retired chains are omitted."""
        ...

    def history(self, root_id: UUID, after: int, limit: int) -> Sequence[ChainVersion]:
        """Versions with a number greater than `after`, oldest first."""
        ...


def next_version(root_id: UUID, head: ChainHead | None, expected: int | None) -> int:
    """The number of the version to append.

    `expected` is the newest version that the writer has read, `NEW` for a chain that does not exist yet, or
    None to append to any version. Raises Conflict with both versions if the writer has read an older one,
    and NotFound if there is no chain to append to.
    """
    if head is None:
        if expected == NEW:
            return 1
        raise NotFound(f"there is no version chain {root_id} to append to")
    check_expected(head, expected)
    return head.latest + 1


def check_expected(head: ChainHead, expected: int | None) -> None:
    """Raise Conflict if the writer has not read the newest version."""
    if expected is not None and expected != head.latest:
        raise Conflict(
            f"this is at version {head.latest}, and version {expected} was expected; read it again and retry"
        )
