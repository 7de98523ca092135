"""Bodies and answers of the memory routes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from gieok import wire
from gieok.errors import InputRefused
from gieok.interfaces.rest.schema.common import (
    Answer,
    MessageIn,
    MessageTime,
    Ref,
    RequestBody,
    Window,
    example,
)
from gieok.memory.chains import VersionNumber
from gieok.memory.companion.hits import Hit
from gieok.memory.companion.records import (
    MAX_BATCH,
    MAX_LABELS,
    EmotionName,
    Label,
    Memory,
    MemoryDraft,
    MemoryOutline,
    MemoryPage,
    MemoryVersion,
    Notice,
    SummaryText,
)
from gieok.memory.fields import Importance, Language

_MEMORY: dict[str, Any] = {
    "id": "7f9c2ba4-e88f-4278-9f59-1d3a2b1c0d4e",
    "personaId": "persona_123",
    "sessionId": "session_456",
    "summary": "사용자가 새로운 영화를 봤고 매우 재미있었다고 함. 다음주에 또 영화관에 갈 예정.",
    "topics": ["영화", "여가활동"],
    "emotion": "기쁨",
    "importance": 7,
    "tags": [],
    "speaker": None,
    "origin": "summary",
    "createdAt": "2025-10-27T12:00:00Z",
    "occurredAt": "2025-10-27T11:58:00Z",
    "archivedAt": None,
    "version": 1,
}
_WHY: dict[str, Any] = {
    "matchedWords": ["영화"],
    "missingWords": ["제목"],
    "matchedFields": ["text"],
    "known": [],
    "signals": {"bm25": {"value": 0.82, "weight": 1.0, "rank": 1}},
    "confidence": {"words": 0.72, "meaning": 0.0},
    "ageDays": 1.5,
    "filled": False,
}


class MemoryAnswer(Answer):
    model_config = example(success=True, memory=_MEMORY)

    memory: Memory


class CreatedMemoryAnswer(wire.CreatedMemory, Answer):
    """A new memory, the memories that were archived for it, and notices for the user."""

    model_config = example(success=True, memory=_MEMORY, archived=[], notices=[])


class CreatedMemoriesAnswer(wire.CreatedMemories, Answer):
    """The new memories in the order of the request, the memories that were archived for them, and notices."""

    model_config = example(success=True, created=[{"id": _MEMORY["id"]}], archived=[], notices=[])


class SummaryAnswer(wire.Summary, Answer):
    """The memory of a summarised session. Null if every message was summarised before."""

    model_config = example(success=True, memory=_MEMORY, notices=[])


class MemoriesAnswer(Answer):
    model_config = example(success=True, memories=[_MEMORY])

    memories: tuple[Memory, ...]


class MemoryPageAnswer(MemoryPage, Answer):
    """One page of a list. `total` counts all memories that match the filter."""

    model_config = example(success=True, memories=[_MEMORY], total=25, hasMore=True)


class MemoryVersionsAnswer(Answer):
    """Oldest first. The last one is current, and its `replacedAt` is null."""

    model_config = example(success=True, versions=[_MEMORY | {"replacedAt": None}])

    versions: tuple[MemoryVersion, ...]


class DeletedMemoriesAnswer(Answer):
    model_config = example(success=True, deleted=12)

    deleted: int


class HitsAnswer(wire.FoundMemories, Answer):
    """Best first. `degraded` has `vectors` if the embedder did not answer and words alone were searched, and
    `messages` if older messages are not indexed yet."""

    model_config = example(
        success=True,
        memories=[
            _MEMORY | {"kind": "memory", "score": 0.91, "confidence": 0.72, "why": _WHY},
            {
                "kind": "message",
                "id": "m1",
                "role": "user",
                "content": "내일 중요한 면접이 있어",
                "sessionId": "session_456",
                "timestamp": "2025-10-27T12:00:00Z",
                "speaker": None,
                "score": 0.87,
                "confidence": 0.72,
                "why": _WHY,
            },
        ],
        degraded=[],
    )


class ArchivedAnswer(MemoryAnswer):
    model_config = example(
        success=True,
        archivedAt="2025-10-27T12:00:00Z",
        memory=_MEMORY | {"archivedAt": "2025-10-27T12:00:00Z"},
    )

    archived_at: datetime | None


def found_item(hit: Hit) -> wire.Found:
    """A search hit as the API shows it."""
    reasons: dict[str, Any] = {"score": hit.score, "confidence": hit.confidence, "why": hit.why}
    if hit.kind == "memory":
        return wire.FoundMemory.model_construct(**dict(hit.memory), **reasons)
    if hit.kind == "message":
        return wire.FoundMessage.model_construct(**dict(hit.message), **reasons)
    return wire.FoundFact.model_construct(**dict(hit.fact), **reasons)


def localised(notices: Iterable[Notice], language: Language) -> tuple[str, ...]:
    """The texts of notices in this language."""
    return tuple(notice.korean if language == "ko" else notice.english for notice in notices)


LabelList = Annotated[list[Label], Field(max_length=MAX_LABELS)]


class SummarizeSession(RequestBody):
    """Summarise a session now. Messages that it does not have yet are saved first."""

    model_config = example(
        sessionId="session_456",
        personaId="persona_123",
        messages=[{"id": "m1", "role": "user", "content": "새로 나온 영화 봤는데 정말 재미있었어!"}],
    )

    session_id: Ref
    persona_id: Ref
    messages: Window = Field(default_factory=list[MessageIn])


class CreateMemory(RequestBody):
    """A memory to store as it is written, or messages to summarise into one."""

    model_config = example(
        personaId="persona_123",
        sessionId="session_456",
        manualSummary="사용자가 IT 스타트업 면접을 앞두고 있음. 매우 기대하고 있음.",
        topics=["면접"],
        emotion="흥분",
        importance=8,
    )

    persona_id: Ref
    session_id: Ref | None = None
    messages: Window | None = None
    manual_summary: SummaryText | None = None
    summary: SummaryText | None = None
    """An alias of `manualSummary`."""
    topics: LabelList | None = None
    emotion: EmotionName | None = None
    importance: Importance | None = None
    tags: LabelList = Field(default_factory=list[str])
    speaker: Label | None = None
    occurred_at: MessageTime | None = None
    auto_archive: bool = True


class CreateMemories(RequestBody):
    """Memories to store as they are written."""

    model_config = example(
        memories=[{"personaId": "persona_123", "manualSummary": "사용자가 면접을 앞두고 있음."}]
    )

    memories: Annotated[list[CreateMemory], Field(min_length=1, max_length=MAX_BATCH)]


class EditMemory(RequestBody):
    """Fields to change. Omitted ones stay as they are; `version` is the version that the client has read."""

    model_config = example(summary="수정된 요약", importance=9)

    summary: SummaryText | None = None
    importance: Importance | None = None
    topics: LabelList | None = None
    emotion: EmotionName | None = None
    tags: LabelList | None = None
    version: VersionNumber | None = None


def to_draft(body: CreateMemory, place: str = "") -> MemoryDraft | None:
    """The memory as it was written by hand; None if there are only messages to summarise.

    InputRefused if there is neither; `place` is the prefix of the field that it names.
    """
    written = body.manual_summary if body.summary is None else body.summary
    if body.manual_summary not in (None, written):
        raise InputRefused("differs from manualSummary; send only one of the two", at=f"{place}summary")
    if written is not None:
        return MemoryDraft(summary=written, topics=tuple(body.topics or ()), **_given(body))
    if not body.messages:
        raise InputRefused("send a text to store, or messages to summarise", at=f"{place}manualSummary")
    return None


def to_drafts(body: CreateMemories) -> list[MemoryDraft]:
    """The memories of a batch. InputRefused with the position of a body without a text."""
    drafts: list[MemoryDraft] = []
    for number, each in enumerate(body.memories):
        draft = to_draft(each, f"memories[{number}].")
        if draft is None:
            raise InputRefused("messages are not summarised in a batch", at=f"memories[{number}].messages")
        drafts.append(draft)
    return drafts


def to_outline(body: CreateMemory) -> MemoryOutline:
    """The given fields of a memory that the model summarises. It happened when the last message was sent."""
    said = [each.timestamp for each in body.messages or () if each.timestamp is not None]
    given = _given(body)
    given["occurred_at"] = body.occurred_at or max(said, default=None)
    return MemoryOutline(topics=None if body.topics is None else tuple(body.topics), **given)


def _given(body: CreateMemory) -> dict[str, Any]:
    return {
        "persona_id": body.persona_id,
        "session_ref": body.session_id,
        "emotion": body.emotion,
        "importance": body.importance,
        "tags": tuple(body.tags),
        "speaker": body.speaker,
        "occurred_at": body.occurred_at,
    }
