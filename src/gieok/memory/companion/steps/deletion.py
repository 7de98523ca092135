"""Steps that delete memories for good, and reset what belongs to a persona."""

from __future__ import annotations

from uuid import UUID

from gieok.engine import AnyStep, Data, NoData, StepContext, WriteStep
from gieok.memory.companion.filters import list_all
from gieok.memory.companion.records import DEFAULT_CONFIG
from gieok.memory.companion.steps.memories import MemoryInputs, get_locked
from gieok.memory.companion.store import CompanionView
from gieok.memory.fields import PersonaId, SessionRef


class DeleteMemory(WriteStep[NoData, MemoryInputs, None]):
    """Delete a memory for good, with its moment and its index entries."""

    type = "DeleteMemory"

    def apply(
        self, view: CompanionView, metadata: NoData, inputs: MemoryInputs, context: StepContext
    ) -> None:
        memory = get_locked(view.companion, inputs.memory_id)
        view.companion.delete(memory.id)


class DeleteAllInputs(Data):
    persona_id: PersonaId | None
    """None for all personas."""
    session_ref: SessionRef | None = None
    """Only memories of this session; None for all."""


class DeletedMemories(Data):
    deleted: int


class DeleteMemories(WriteStep[NoData, DeleteAllInputs, DeletedMemories]):
    """Delete the memories of a persona, of one of its sessions, or of all personas. Settings stay."""

    type = "DeleteMemories"

    def apply(
        self, view: CompanionView, metadata: NoData, inputs: DeleteAllInputs, context: StepContext
    ) -> DeletedMemories:
        store = view.companion
        found = [
            memory
            for memory in list_all(store, inputs.persona_id, "all")
            if inputs.session_ref in (None, memory.session_ref)
        ]
        for persona_id in sorted({memory.persona_id for memory in found}):
            store.lock(persona_id)
        for memory in found:
            store.delete(memory.id)
        context.note("deleted", len(found))
        return DeletedMemories(deleted=len(found))


class WithdrawMemoriesInputs(Data):
    memory_ids: tuple[UUID, ...]
    """Memories whose summaries cover withdrawn messages."""


class WithdrawnMemories(Data):
    deleted: tuple[UUID, ...]


class WithdrawMemories(WriteStep[NoData, WithdrawMemoriesInputs, WithdrawnMemories]):
    """Delete memories whose summaries cover withdrawn messages. One that was edited by hand stays."""

    type = "WithdrawMemories"

    def apply(
        self, view: CompanionView, metadata: NoData, inputs: WithdrawMemoriesInputs, context: StepContext
    ) -> WithdrawnMemories:
        deleted: list[UUID] = []
        for memory_id in inputs.memory_ids:
            found = view.companion.get(memory_id)
            if found is None:
                continue
            view.companion.lock(found.persona_id)
            memory = view.companion.get(memory_id)
            if memory is None or memory.origin == "manual" or view.memory_versions.list(memory_id):
                continue
            view.companion.delete(memory_id)
            deleted.append(memory_id)
        return WithdrawnMemories(deleted=tuple(deleted))


class ResetInputs(Data):
    persona_id: PersonaId


class ResetMemories(WriteStep[NoData, ResetInputs, None]):
    """Restore the default memory settings of a persona, and drop its waiting notices."""

    type = "ResetMemories"

    def apply(self, view: CompanionView, metadata: NoData, inputs: ResetInputs, context: StepContext) -> None:
        view.companion.configure(inputs.persona_id, DEFAULT_CONFIG)
        view.notices.take(inputs.persona_id)


STEPS: tuple[type[AnyStep], ...] = (DeleteMemory, DeleteMemories, WithdrawMemories, ResetMemories)
