"""Records of companion memory: what is remembered of conversations between one user and one persona."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, get_args
from uuid import UUID

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BeforeValidator,
    Field,
    PlainSerializer,
    SerializationInfo,
    StringConstraints,
    WithJsonSchema,
)

from gieok.engine import Data
from gieok.memory.fields import (
    AS_SESSION_ID,
    AccountPlan,
    Importance,
    PersonaId,
    SessionRef,
    Timestamp,
    storable,
)

MAX_BATCH = 1_000
"""Most memories that are created at once."""
MAX_SUMMARY_CHARS = 4_000
MAX_LABELS = 32
MAX_LABEL_CHARS = 128
LARGEST_MEMORY = 6 * (MAX_SUMMARY_CHARS + (2 * MAX_LABELS + 1) * MAX_LABEL_CHARS) + 2_048
"""Upper bound of a memory's JSON in bytes: six per character of text, and the other fields."""


class Emotion(StrEnum):
    """An emotion. The value is its English name; `korean` is its Korean name."""

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
"""An emotion, parsed from its English or Korean name.

In JSON it is the English name, or with the serialisation context `{"language": "ko"}` the Korean one.
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
    """One message of a conversation that is summarised."""

    role: Literal["user", "assistant"]
    content: str
    timestamp: AwareDatetime | None = None
    """When it was said, on the user's clock."""


class SessionSummary(Data):
    """Summary of a conversation, as the model returns it."""

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
    def text(self) -> str:
        """The text that a prompt shows."""
        return self.summary

    @property
    def timestamp(self) -> datetime:
        """When it happened: the date that a prompt shows."""
        return self.occurred_at


class MemoryVersion(Memory):
    """One version of a memory. `replaced_at` is None for the current one."""

    replaced_at: Timestamp | None


class MemoryDraft(Data):
    """A memory to create. The plan has defaults for the emotion and the importance.

    `occurred_at` is for imported history; None is now.
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
    """Changes to a memory. None leaves a field unchanged."""

    summary: SummaryText | None = None
    importance: Importance | None = None
    topics: Labels | None = None
    emotion: EmotionName | None = None
    tags: Labels | None = None


class EmotionalMoment(Data):
    """An important emotional moment, linked to the memory that it belongs to."""

    id: UUID
    persona_id: PersonaId
    memory_id: UUID
    emotion: EmotionName
    intensity: Importance
    moment: SummaryText
    at: Timestamp


class MomentPosition(Data):
    """A position in a list of moments, which is ordered by time, newest first, then by id."""

    at: Timestamp
    id: UUID


class MomentPage(Data):
    """One page of a list of moments. `next_cursor` is None on the last page."""

    moments: tuple[EmotionalMoment, ...]
    next_cursor: str | None


class MemoryConfig(Data):
    """A user's memory settings for one persona. `active_limit` can only lower the limit of the account."""

    recall: bool
    active_limit: Annotated[int, Field(ge=1, le=1_000_000)] | None


DEFAULT_CONFIG = MemoryConfig(recall=True, active_limit=None)


class MemoryCounts(Data):
    """How many memories of one persona are active, and how many are archived."""

    active: int
    archived: int


class MemoryPage(Data):
    """One page of a list. `total` counts all memories that match the filter."""

    memories: tuple[Memory, ...]
    total: int
    has_more: bool


NoticeKind = Literal["full", "more", "topics", "excerpt", "unremembered"]


class Notice(Data):
    """A message for the user, in both languages."""

    kind: NoticeKind
    korean: str
    english: str


NOTICE_KINDS: tuple[NoticeKind, ...] = get_args(NoticeKind)
"""In the order in which notices are delivered."""

_Text = Annotated[str, StringConstraints(min_length=1, max_length=1_000), AfterValidator(storable)]


class NoticeText(Data):
    """The text of a notice in both languages."""

    korean: _Text
    english: _Text


class NoticeTexts(Data):
    """The texts of notices, which a plan gives. A notice without text is not shown."""

    full: NoticeText | None
    """Memories were archived, because the active limit is reached."""
    more: NoticeText | None
    """How to get more memory. For the account plan `free`, after `full`."""
    topics: NoticeText | None
    """Older memories with the same topics were archived."""
    excerpt: NoticeText | None
    """An excerpt of the conversation was stored, because the model could not summarise it."""
    unremembered: NoticeText | None
    """A job that remembers a conversation has failed for good."""

    def of(self, kinds: Collection[NoticeKind]) -> tuple[Notice, ...]:
        """The notices of these kinds that have a text, in their order."""
        texts: list[tuple[NoticeKind, NoticeText | None]] = [
            (kind, getattr(self, kind)) for kind in NOTICE_KINDS if kind in kinds
        ]
        return tuple(
            Notice(kind=kind, korean=text.korean, english=text.english)
            for kind, text in texts
            if text is not None
        )


class MemoryOutline(Data):
    """Fields of a memory whose text will be summarised. They take precedence over the model's answer."""

    persona_id: PersonaId
    session_ref: SessionRef | None = None
    topics: Labels | None = None
    emotion: Emotion | None = None
    importance: Importance | None = None
    tags: Labels = ()
    speaker: Label | None = None
    occurred_at: Timestamp | None = None


class ExcerptSource(Data):
    """What a later attempt needs to replace an excerpt by a summary. It is stored with the excerpt."""

    outline: MemoryOutline
    messages: tuple[Spoken, ...]
    account_plan: AccountPlan


class SavedMemory(Data):
    """Result of saving a memory: the memory, its moment, the memories archived for it, and notices.

    The memory itself is archived at once if all active memories are more important.
    """

    memory: Memory
    moment: EmotionalMoment | None
    archived: tuple[UUID, ...]
    notices: tuple[Notice, ...]
