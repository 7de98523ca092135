"""Turn memory: what one turn of a conversation leaves behind, and nothing more."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints

from gieok.engine import Data
from gieok.memory.fields import SessionRef, Timestamp, storable

MAX_SUMMARY_CHARS = 4_000
MAX_KEYWORDS = 64
MAX_KEYWORD_CHARS = 128


def _v4(value: UUID) -> UUID:
    if value.version != 4:
        raise ValueError("must be a UUIDv4")
    return value


Summary = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SUMMARY_CHARS),
    AfterValidator(storable),
]
Keyword = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_KEYWORD_CHARS),
    AfterValidator(storable),
]
Keywords = Annotated[tuple[Keyword, ...], Field(max_length=MAX_KEYWORDS)]


class Turn(Data):
    """One exchange, as it was said. It is read by a summariser and never stored in turn memory."""

    user: str
    assistant: str


class TurnSummary(Data):
    """What `SummarizeMemory` makes of a turn."""

    summary: Summary
    keywords: Keywords


class MemoryItem(Data):
    """Exactly the five fields that turn memory may hold; anything else is refused."""

    id: Annotated[UUID, AfterValidator(_v4)]
    session_ref: SessionRef
    timestamp: Timestamp
    summary: Summary
    keywords: Keywords


class RecalledMemory(Data):
    """What a search returns. Keywords are internal and never leave the store."""

    id: UUID
    summary: str
    timestamp: Timestamp
