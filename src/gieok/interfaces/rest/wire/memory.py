"""Memories, as clients see them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from gieok import wire
from gieok.interfaces.rest.wire.base import Answer, example
from gieok.memory.companion.records import Memory, MemoryHit, Notice

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
    "signals": {"bm25": {"value": 0.82, "weight": 1.0, "rank": 1}},
    "ageDays": 1.5,
    "filled": False,
}


class MemoryView(wire.Memory[str]):
    """One memory. `archivedAt` is null while it is active."""


class HitView(wire.MemoryHit[str]):
    """A memory that was found, and why."""


class MemoryAnswer(Answer):
    model_config = example(success=True, memory=_MEMORY)

    memory: MemoryView


class KeptAnswer(wire.Kept[MemoryView], Answer):
    """A memory that was kept, what lost its place to it, and what the user is to be told."""

    model_config = example(success=True, memory=_MEMORY, archived=[], notices=[])


class SummaryAnswer(wire.Summary[MemoryView], Answer):
    """The memory of what was said. Null where every message was summarised before."""

    model_config = example(success=True, memory=_MEMORY, notices=[])


class MemoriesAnswer(Answer):
    model_config = example(success=True, memories=[_MEMORY])

    memories: tuple[MemoryView, ...]


class MemoryPageAnswer(wire.MemoryPage[MemoryView], Answer):
    """Part of a list. `total` counts all that the filter lets through."""

    model_config = example(success=True, memories=[_MEMORY], total=25, hasMore=True)


class HitsAnswer(Answer):
    model_config = example(success=True, memories=[_MEMORY | {"score": 0.91, "why": _WHY}])

    memories: tuple[HitView, ...]


class ArchivedAnswer(MemoryAnswer):
    model_config = example(
        success=True,
        archivedAt="2025-10-27T12:00:00Z",
        memory=_MEMORY | {"archivedAt": "2025-10-27T12:00:00Z"},
    )

    archived_at: datetime | None


def memory_view(memory: Memory, *, korean: bool) -> MemoryView:
    return MemoryView.made_of(_told(memory, korean=korean))


def hit_view(hit: MemoryHit, *, korean: bool) -> HitView:
    return HitView.made_of(_told(hit.memory, korean=korean) | {"score": hit.score, "why": hit.why})


def _told(memory: Memory, *, korean: bool) -> dict[str, Any]:
    """What is told of a memory, field by field."""
    return {
        "id": memory.id,
        "persona_id": memory.persona_id,
        "session_id": memory.session_ref,
        "summary": memory.summary,
        "topics": memory.topics,
        "emotion": memory.emotion.korean if korean else memory.emotion.value,
        "importance": memory.importance,
        "tags": memory.tags,
        "speaker": memory.speaker,
        "origin": memory.origin,
        "created_at": memory.created_at,
        "occurred_at": memory.occurred_at,
        "archived_at": memory.archived_at,
        "version": memory.version,
    }


def memory_views(memories: Iterable[Memory], *, korean: bool) -> tuple[MemoryView, ...]:
    return tuple(memory_view(memory, korean=korean) for memory in memories)


def told(notices: Iterable[Notice], *, korean: bool) -> tuple[str, ...]:
    """What the user is to be told, in their language."""
    return tuple(notice.korean if korean else notice.english for notice in notices)
