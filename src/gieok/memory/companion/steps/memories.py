"""Steps that create and change memories, their settings and their notices."""

from __future__ import annotations

from uuid import UUID, uuid4

from gieok.engine import ActStep, AnyStep, Data, NoData, Stage, StepContext, WriteStep
from gieok.memory.companion import keeping
from gieok.memory.companion.notices import NoticeView
from gieok.memory.companion.records import (
    Emotion,
    Kept,
    Label,
    Labels,
    Memory,
    MemoryChanges,
    MemoryConfig,
    MemoryDraft,
    Notice,
    SessionSummary,
)
from gieok.memory.companion.rules import ActiveLimit, KeepPolicy, MomentPolicy
from gieok.memory.companion.store import CompanionView
from gieok.memory.fields import AccountPlan, Importance, PersonaId, SessionRef, Timestamp


class MemoryOutline(Data):
    """What a caller knows of a memory before its text exists. It wins over what the model finds."""

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


class DraftMemory(ActStep[NoData, DraftInputs, Drafted]):
    """Join what the caller knows with the summary. Nothing is stored."""

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


class CreateMetadata(KeepPolicy):
    importance: Importance
    """Of a memory that was given none."""
    emotion: Emotion
    """Of a memory that was given none."""


class CreateInputs(Data):
    draft: MemoryDraft
    account_plan: AccountPlan
    auto_archive: bool


class Created(Data):
    id: UUID
    kept: Kept


class CreateMemory(WriteStep[CreateMetadata, CreateInputs, Created]):
    """Store a memory. Memories beyond the limit are archived, unless the caller forbids it."""

    type = "CreateMemory"

    def apply(
        self, view: CompanionView, metadata: CreateMetadata, inputs: CreateInputs, context: StepContext
    ) -> Created:
        draft = inputs.draft
        memory = Memory(
            id=uuid4(),
            persona_id=draft.persona_id,
            session_ref=draft.session_ref,
            summary=draft.summary,
            topics=draft.topics,
            emotion=draft.emotion or metadata.emotion,
            importance=draft.importance or metadata.importance,
            tags=draft.tags,
            speaker=draft.speaker,
            origin=draft.origin,
            created_at=context.now,
            occurred_at=draft.occurred_at or context.now,
            archived_at=None,
            version=1,
        )
        kept = keeping.keep(
            view.companion,
            memory,
            inputs.account_plan,
            metadata,
            at=context.now,
            auto_archive=inputs.auto_archive,
        )
        context.note("saved", str(memory.id))
        return Created(id=memory.id, kept=kept)


class ChangedMemory(Data):
    memory: Memory


class EditMetadata(Data):
    moments: MomentPolicy


class EditInputs(Data):
    memory_id: UUID
    changes: MemoryChanges
    expected_version: int | None


class EditMemory(WriteStep[EditMetadata, EditInputs, ChangedMemory]):
    """Change the summary, the importance or the labels of a memory by hand."""

    type = "EditMemory"

    def apply(
        self, view: CompanionView, metadata: EditMetadata, inputs: EditInputs, context: StepContext
    ) -> ChangedMemory:
        memory = keeping.edit(
            view.companion, inputs.memory_id, inputs.changes, inputs.expected_version, metadata.moments
        )
        return ChangedMemory(memory=memory)


class MemoryInputs(Data):
    memory_id: UUID


class ArchiveMemory(WriteStep[NoData, MemoryInputs, ChangedMemory]):
    """Archive a memory. It stays readable and can be restored."""

    type = "ArchiveMemory"

    def apply(
        self, view: CompanionView, metadata: NoData, inputs: MemoryInputs, context: StepContext
    ) -> ChangedMemory:
        return ChangedMemory(memory=keeping.archive(view.companion, inputs.memory_id, context.now))


class RestoreMetadata(Data):
    active_limit: ActiveLimit


class RestoreInputs(Data):
    memory_id: UUID
    account_plan: AccountPlan


class RestoreMemory(WriteStep[RestoreMetadata, RestoreInputs, ChangedMemory]):
    """Make an archived memory active again. MemoryLimitReached where the limit leaves no room."""

    type = "RestoreMemory"

    def apply(
        self, view: CompanionView, metadata: RestoreMetadata, inputs: RestoreInputs, context: StepContext
    ) -> ChangedMemory:
        memory = keeping.restore(
            view.companion, inputs.memory_id, inputs.account_plan, metadata.active_limit, context.now
        )
        return ChangedMemory(memory=memory)


class DeleteMemory(WriteStep[NoData, MemoryInputs, None]):
    """Delete a memory for good, with its moment and its index entries."""

    type = "DeleteMemory"

    def apply(
        self, view: CompanionView, metadata: NoData, inputs: MemoryInputs, context: StepContext
    ) -> None:
        keeping.delete(view.companion, inputs.memory_id)


class ConfigureInputs(Data):
    persona_id: PersonaId
    config: MemoryConfig


class ConfigureMemories(WriteStep[NoData, ConfigureInputs, None]):
    """Store the memory settings of a persona. They apply from the next change or cycle on."""

    type = "ConfigureMemories"

    def apply(
        self, view: CompanionView, metadata: NoData, inputs: ConfigureInputs, context: StepContext
    ) -> None:
        view.companion.configure(inputs.persona_id, inputs.config)


class TakeInputs(Data):
    persona_id: PersonaId


class TakenNotices(Data):
    notices: tuple[Notice, ...]


class TakeNotices(WriteStep[NoData, TakeInputs, TakenNotices]):
    """Take the notices that wait for the user of a persona. Each is delivered once."""

    type = "TakeNotices"

    def apply(
        self, view: NoticeView, metadata: NoData, inputs: TakeInputs, context: StepContext
    ) -> TakenNotices:
        return TakenNotices(notices=tuple(view.notices.take(inputs.persona_id)))


STEPS: tuple[type[AnyStep], ...] = (
    DraftMemory,
    CreateMemory,
    EditMemory,
    ArchiveMemory,
    RestoreMemory,
    DeleteMemory,
    ConfigureMemories,
    TakeNotices,
)
