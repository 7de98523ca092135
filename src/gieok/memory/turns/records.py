"""Records of turn memory: the summary and the keywords of one turn."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator

from gieok.engine import Data
from gieok.memory.fields import SessionRef, Timestamp
from gieok.memory.observations import Keywords, Summary


def _v4(value: UUID) -> UUID:
    if value.version != 4:
        raise ValueError("must be a UUIDv4")
    return value


class MemoryItem(Data):
    """The five fields that turn memory stores. Any other field is refused."""

    id: Annotated[UUID, AfterValidator(_v4)]
    session_ref: SessionRef
    timestamp: Timestamp
    summary: Summary
    keywords: Keywords


class RecalledMemory(Data):
    """A search result. It has no keywords: they never leave the store."""

    id: UUID
    summary: str
    timestamp: Timestamp
