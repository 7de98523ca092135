"""Companion memory: what stays of conversations between one user and one persona."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainSerializer,
    SerializationInfo,
    StringConstraints,
    WithJsonSchema,
)

from gieok.engine import Data
from gieok.memory.fields import AS_SESSION_ID, Importance, PersonaId, SessionRef, Timestamp, storable

MAX_SUMMARY_CHARS = 4_000
MAX_LABELS = 32
MAX_LABEL_CHARS = 128
LARGEST_MEMORY = 6 * (MAX_SUMMARY_CHARS + (2 * MAX_LABELS + 1) * MAX_LABEL_CHARS) + 2_048
"""No memory has more bytes as JSON, where a character takes six at the most; the rest is what is no text."""


class Emotion(StrEnum):
    """What a person feels. The value is the English word; `korean` is the other name of the same thing."""

    JOY = "joy"
    SADNESS = "sadness"
    STRESS = "stress"
    CALM = "calm"
    EXCITEMENT = "excitement"

    @property
    def korean(self) -> str:
        return _KOREAN_NAMES[self]

    @classmethod
    def parse(cls, name: str) -> Emotion:
        """`기쁨` or `joy`. ValueError for anything else."""
        for emotion in cls:
            if name in (emotion.value, emotion.korean):
                return emotion
        raise ValueError("must be one of " + ", ".join(f"{each.korean}/{each.value}" for each in cls))


_KOREAN_NAMES = {
    Emotion.JOY: "기쁨",
    Emotion.SADNESS: "슬픔",
    Emotion.STRESS: "스트레스",
    Emotion.CALM: "평온",
    Emotion.EXCITEMENT: "흥분",
}


def _parse_emotion(value: object) -> Emotion:
    return Emotion.parse(value if isinstance(value, str) else "")


def _emotion_in_json(emotion: Emotion, info: SerializationInfo) -> str:
    is_korean = info.context is not None and info.context["language"] == "ko"
    return emotion.korean if is_korean else emotion.value


EmotionName = Annotated[
    Emotion,
    BeforeValidator(_parse_emotion),
    PlainSerializer(_emotion_in_json, return_type=str, when_used="json"),
    WithJsonSchema(
        {"type": "string", "enum": [name for each in Emotion for name in (each.korean, each.value)]}
    ),
]
"""An emotion that is read by either of its names.

In JSON it has the English one; with the serialisation context `{"language": "ko"}` it has the Korean one.
"""

SummaryText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SUMMARY_CHARS),
    AfterValidator(storable),
]
Label = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_LABEL_CHARS),
    AfterValidator(storable),
]
Labels = Annotated[tuple[Label, ...], Field(max_length=MAX_LABELS)]
Origin = Literal["summary", "manual", "excerpt"]


class Spoken(Data, from_attributes=True):
    """One message, as a summariser reads it."""

    role: Literal["user", "assistant"]
    content: str


class SessionSummary(Data):
    """What a summariser makes of a conversation."""

    summary: SummaryText
    topics: Labels
    emotion: Emotion
    importance: Importance


class Memory(Data):
    """One episode between a user and a persona. `archived_at` is None while it is active.

    The HTTP API and its client use this record too: see `EmotionName` and `AS_SESSION_ID` for its JSON.
    """

    id: UUID
    persona_id: PersonaId
    session_ref: Annotated[SessionRef | None, AS_SESSION_ID]
    summary: SummaryText
    topics: Labels
    emotion: EmotionName
    importance: Importance
    tags: Labels
    speaker: Label | None
    origin: Origin
    created_at: Timestamp
    occurred_at: Timestamp
    archived_at: Timestamp | None
    version: Annotated[int, Field(ge=1)]

    @property
    def timestamp(self) -> datetime:
        """When it happened: the date that a prompt shows."""
        return self.occurred_at


class MemoryDraft(Data):
    """What becomes a memory. The plan says what holds for an emotion or an importance that is not given.

    `occurred_at` is for history that is brought along; None is now.
    """

    persona_id: PersonaId
    summary: SummaryText
    session_ref: SessionRef | None = None
    topics: Labels = ()
    emotion: Emotion | None = None
    importance: Importance | None = None
    tags: Labels = ()
    speaker: Label | None = None
    origin: Origin = "manual"
    occurred_at: Timestamp | None = None


class MemoryChanges(Data):
    """What a user may change of a memory. None leaves it as it is."""

    summary: SummaryText | None = None
    importance: Importance | None = None
    tags: Labels | None = None


class Signal(Data):
    """One reason why a memory was recalled: its value, its weight, and its rank by this signal alone."""

    value: float
    weight: float
    rank: int


class Why(Data):
    """Why a memory was recalled. `signals` are those that speak for it: their values times their weights add
    up to its score. `filled` says that nothing in it matched: it is recent or important."""

    matched_words: tuple[str, ...]
    signals: Mapping[str, Signal]
    age_days: float
    filled: bool


class MemoryHit(Data):
    """A memory that was recalled, with its score and its reasons."""

    memory: Memory
    score: float
    why: Why


class EmotionalMoment(Data):
    """A moment that mattered, linked to the episode that it belongs to."""

    id: UUID
    persona_id: PersonaId
    memory_id: UUID
    emotion: Emotion
    intensity: Importance
    moment: SummaryText
    at: Timestamp


class MemoryConfig(Data):
    """What a user sets for one persona. `active_limit` can only lower the limit of the account."""

    recall: bool
    active_limit: Annotated[int, Field(ge=1, le=1_000_000)] | None


DEFAULT_CONFIG = MemoryConfig(recall=True, active_limit=None)


class MemoryCounts(Data):
    """How many memories of one persona are active, and how many are archived."""

    active: int
    archived: int


class MemoryPage(Data):
    """Part of a list. `total` counts all that the filter lets through."""

    memories: tuple[Memory, ...]
    total: int
    has_more: bool


NoticeKind = Literal["full", "more", "excerpt"]


class Notice(Data):
    """Something to tell the user, in both languages."""

    kind: NoticeKind
    korean: str
    english: str


class Kept(Data):
    """What came of keeping a memory: itself, what lost its place to it, and what the user is to be told.

    The memory may have been archived at once, where everything that has a place is more important.
    """

    memory: Memory
    moment: EmotionalMoment | None
    archived: tuple[UUID, ...]
    notices: tuple[Notice, ...]
