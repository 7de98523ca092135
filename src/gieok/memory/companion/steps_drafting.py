"""A memory of messages that belong to no session here: the model finds words, the caller knows the rest."""

from __future__ import annotations

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.memory.companion.records import Emotion, Label, Labels, MemoryDraft, SessionSummary
from gieok.memory.fields import Importance, PersonaId, SessionRef, Timestamp


class MemoryOutline(Data):
    """What is known of a memory before it has words. What is given here goes before what the model finds."""

    persona_id: PersonaId
    session_ref: SessionRef | None = None
    topics: Labels | None = None
    emotion: Emotion | None = None
    importance: Importance | None = None
    tags: Labels = ()
    speaker: Label | None = None
    occurred_at: Timestamp | None = None


class DraftInputs(Data):
    outline: MemoryOutline
    summary: SessionSummary
    is_final: bool


class Drafted(Data):
    draft: MemoryDraft


class DraftMemory(Step[NoData, DraftInputs, Drafted]):
    """Joins what the caller knows with the summary. It stores nothing."""

    type = "DraftMemory"
    stages = frozenset({Stage.POST_PROCESS})

    async def run(self, metadata: NoData, inputs: DraftInputs, context: StepContext) -> Drafted:
        outline, made = inputs.outline, inputs.summary
        draft = MemoryDraft(
            persona_id=outline.persona_id,
            session_ref=outline.session_ref,
            summary=made.summary,
            topics=made.topics if outline.topics is None else outline.topics,
            emotion=outline.emotion or made.emotion,
            importance=outline.importance or made.importance,
            tags=outline.tags,
            speaker=outline.speaker,
            origin="summary" if inputs.is_final else "excerpt",
            occurred_at=outline.occurred_at,
        )
        return Drafted(draft=draft)
