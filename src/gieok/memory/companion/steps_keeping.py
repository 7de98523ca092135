"""Steps that change companion memory. Thin: each stages one change, made in the commit of its cycle."""

from __future__ import annotations

from uuid import UUID, uuid4

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.memory.companion import keeping
from gieok.memory.companion.records import Emotion, Kept, Memory, MemoryChanges, MemoryConfig, MemoryDraft
from gieok.memory.companion.rules import ActiveLimit, KeepPolicy, MomentPolicy
from gieok.memory.companion.store import CompanionRooms
from gieok.memory.fields import AccountPlan, Importance, PersonaId

PERSIST = frozenset({Stage.PERSIST})


class CreateMetadata(KeepPolicy):
    importance: Importance
    """Of a memory that was given none."""
    emotion: Emotion
    """Of a memory that was given none."""


class CreateInputs(Data):
    draft: MemoryDraft
    account_plan: AccountPlan
    auto_archive: bool


class Identified(Data):
    id: UUID


class CreateMemory(Step[CreateMetadata, CreateInputs, Identified]):
    """Keeps a memory. What finds no place any more is archived, unless the caller forbids it."""

    type = "CreateMemory"
    stages = PERSIST

    async def run(self, metadata: CreateMetadata, inputs: CreateInputs, context: StepContext) -> Identified:
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

        def keep(rooms: CompanionRooms) -> Kept:
            return keeping.keep(
                rooms.companion,
                memory,
                inputs.account_plan,
                metadata,
                at=context.now,
                auto_archive=inputs.auto_archive,
            )

        context.stage_write(keep)
        context.note("saved", str(memory.id))
        return Identified(id=memory.id)


class EditMetadata(Data):
    moments: MomentPolicy


class EditInputs(Data):
    memory_id: UUID
    changes: MemoryChanges
    expected_version: int | None


class EditMemory(Step[EditMetadata, EditInputs, NoData]):
    """Changes the summary, the importance or the tags of a memory by hand."""

    type = "EditMemory"
    stages = PERSIST

    async def run(self, metadata: EditMetadata, inputs: EditInputs, context: StepContext) -> NoData:
        def edit(rooms: CompanionRooms) -> Memory:
            return keeping.edit(
                rooms.companion, inputs.memory_id, inputs.changes, inputs.expected_version, metadata.moments
            )

        context.stage_write(edit)
        return NoData()


class MemoryInputs(Data):
    memory_id: UUID


class ArchiveMemory(Step[NoData, MemoryInputs, NoData]):
    """Takes a memory from the active ones. It stays readable and can be restored."""

    type = "ArchiveMemory"
    stages = PERSIST

    async def run(self, metadata: NoData, inputs: MemoryInputs, context: StepContext) -> NoData:
        def archive(rooms: CompanionRooms) -> Memory:
            return keeping.archive(rooms.companion, inputs.memory_id, context.now)

        context.stage_write(archive)
        return NoData()


class RestoreMetadata(Data):
    active_limit: ActiveLimit


class RestoreInputs(Data):
    memory_id: UUID
    account_plan: AccountPlan


class RestoreMemory(Step[RestoreMetadata, RestoreInputs, NoData]):
    """Puts a memory back among the active ones, where it has a place."""

    type = "RestoreMemory"
    stages = PERSIST

    async def run(self, metadata: RestoreMetadata, inputs: RestoreInputs, context: StepContext) -> NoData:
        def restore(rooms: CompanionRooms) -> Memory:
            return keeping.restore(
                rooms.companion, inputs.memory_id, inputs.account_plan, metadata.active_limit, context.now
            )

        context.stage_write(restore)
        return NoData()


class DeleteMemory(Step[NoData, MemoryInputs, NoData]):
    """Removes a memory for good, with its moment and its words in the index."""

    type = "DeleteMemory"
    stages = PERSIST

    async def run(self, metadata: NoData, inputs: MemoryInputs, context: StepContext) -> NoData:
        def delete(rooms: CompanionRooms) -> None:
            keeping.delete(rooms.companion, inputs.memory_id)

        context.stage_write(delete)
        return NoData()


class ConfigureInputs(Data):
    persona_id: PersonaId
    config: MemoryConfig


class ConfigureMemories(Step[NoData, ConfigureInputs, NoData]):
    """Keeps what a user sets for a persona. It takes effect from the next change or cycle on."""

    type = "ConfigureMemories"
    stages = PERSIST

    async def run(self, metadata: NoData, inputs: ConfigureInputs, context: StepContext) -> NoData:
        def configure(rooms: CompanionRooms) -> None:
            rooms.companion.configure(inputs.persona_id, inputs.config)

        context.stage_write(configure)
        return NoData()
