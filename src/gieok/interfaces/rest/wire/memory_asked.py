"""What clients ask of memories: to be made, and to be changed."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from gieok.errors import InputRefused
from gieok.interfaces.rest.wire.base import Asked, example
from gieok.interfaces.rest.wire.fields import EmotionName, MessageTime, Ref
from gieok.interfaces.rest.wire.messages import MessageIn, Window
from gieok.memory.chains.records import VersionNumber
from gieok.memory.companion.records import MAX_LABELS, Label, MemoryDraft, SummaryText
from gieok.memory.companion.steps_drafting import MemoryOutline
from gieok.memory.fields import Importance

LabelList = Annotated[list[Label], Field(max_length=MAX_LABELS)]


class SummarizeSession(Asked):
    """A session to be summarised now. Messages that it does not have yet are saved first."""

    model_config = example(
        sessionId="session_456",
        personaId="persona_123",
        messages=[{"id": "m1", "role": "user", "content": "새로 나온 영화 봤는데 정말 재미있었어!"}],
    )

    session_id: Ref
    persona_id: Ref
    messages: Window = Field(default_factory=list[MessageIn])


class CreateMemory(Asked):
    """A memory to be kept as it is written, or messages to be summarised into one."""

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
    """Another name of `manualSummary`."""
    topics: LabelList | None = None
    emotion: EmotionName | None = None
    importance: Importance | None = None
    tags: LabelList = Field(default_factory=list[str])
    speaker: Label | None = None
    occurred_at: MessageTime | None = None
    auto_archive: bool = True


class EditMemory(Asked):
    """What is to be changed. What is left out stays; `version` is the one that the client has seen."""

    model_config = example(summary="수정된 요약", importance=9)

    summary: SummaryText | None = None
    importance: Importance | None = None
    tags: LabelList | None = None
    version: VersionNumber | None = None


def to_draft(body: CreateMemory) -> MemoryDraft | None:
    """The memory as someone wrote it; None where there are only messages to be summarised.

    InputRefused where there is neither.
    """
    written = body.manual_summary if body.summary is None else body.summary
    if body.manual_summary not in (None, written):
        raise InputRefused("is another text than manualSummary; give one of the two", at="summary")
    if written is not None:
        return MemoryDraft(summary=written, topics=tuple(body.topics or ()), **_known(body))
    if not body.messages:
        raise InputRefused("give a text to be kept, or messages to be summarised", at="manualSummary")
    return None


def to_outline(body: CreateMemory) -> MemoryOutline:
    """What is known of a memory whose words the model finds. It happened when the last message was said."""
    said = [each.timestamp for each in body.messages or () if each.timestamp is not None]
    known = _known(body)
    known["occurred_at"] = body.occurred_at or max(said, default=None)
    return MemoryOutline(topics=None if body.topics is None else tuple(body.topics), **known)


def _known(body: CreateMemory) -> dict[str, Any]:
    return {
        "persona_id": body.persona_id,
        "session_ref": body.session_id,
        "emotion": body.emotion,
        "importance": body.importance,
        "tags": tuple(body.tags),
        "speaker": body.speaker,
        "occurred_at": body.occurred_at,
    }
