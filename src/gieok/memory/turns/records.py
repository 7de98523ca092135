"""Records of turn memory: the summary and the keywords of one turn."""

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
    """A message and its reply. A summariser reads it; turn memory never stores it."""

    user: str
    assistant: str


class TurnSummary(Data):
    """The summary and the keywords of a turn."""

    summary: Summary
    keywords: Keywords


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
