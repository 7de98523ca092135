"""What a chain is made of. What its versions say is for the room that keeps them."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field

from gieok.engine import Data
from gieok.memory.fields import Timestamp

VersionNumber = Annotated[int, Field(ge=1, le=2**31 - 1)]


class VersionDraft(Data):
    """A version that is about to be appended. The chain gives it its number."""

    id: UUID
    form: Annotated[int, Field(ge=0, le=32_767)]
    """Which form of the room's record `content` has; an older form is upcast when it is read."""
    content: Annotated[bytes, Field(min_length=1)]
    created_at: Timestamp


class VersionRef(Data):
    """Names one version of a chain."""

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
    """Where a chain stands: its newest version, and whether that one is active or the chain is retired."""

    root_id: UUID
    latest: VersionNumber
    is_retired: bool
