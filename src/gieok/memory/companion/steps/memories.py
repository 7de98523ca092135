"""Steps that create and change memories and their settings, and that deliver notices.

Steps lock the persona before they read what they change.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID, uuid4, uuid5

from pydantic import Field

from gieok.engine import ActStep, AnyStep, Data, NoData, Stage, StepContext, WriteStep
from gieok.errors import Conflict, MemoryLimitReached, NotFound
from gieok.memory.companion.records import (
    MAX_BATCH,
    Emotion,
    EmotionalMoment,
    Memory,
    MemoryChanges,
    MemoryConfig,
    MemoryDraft,
    MemoryOutline,
    Notice,
    NoticeTexts,
    SavedMemory,
    SessionSummary,
)
from gieok.memory.companion.rules import (
    NONE_TO_ARCHIVE,
    ActiveLimit,
    KeepPolicy,
    MomentPolicy,
    ToArchive,
    apply_active_limit,
    moment_of,
    notices_of,
    with_same_topics,
)
from gieok.memory.companion.store import CompanionStore, CompanionView, NoticeView
from gieok.memory.fields import AccountPlan, Importance, PersonaId


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
    kept: SavedMemory


class CreateMemory(WriteStep[CreateMetadata, CreateInputs, Created]):
    """Store a memory. Memories beyond the limit are archived, unless the caller forbids it."""

    type = "CreateMemory"

    def apply(
        self, view: CompanionView, metadata: CreateMetadata, inputs: CreateInputs, context: StepContext
    ) -> Created:
        memory = _memory_of(uuid4(), inputs.draft, metadata, context.now)
        saved = save_memory(
            view.companion,
            memory,
            inputs.account_plan,
            metadata,
            at=context.now,
            auto_archive=inputs.auto_archive,
        )
        context.note("saved", str(memory.id))
        return Created(id=memory.id, kept=saved)


class CreateManyInputs(Data):
    drafts: Annotated[tuple[MemoryDraft, ...], Field(min_length=1, max_length=MAX_BATCH)]
    account_plan: AccountPlan
    auto_archive: bool


class CreatedMany(Data):
    created: tuple[UUID, ...]
    """The ids of the memories in the order of the drafts."""
    archived: tuple[UUID, ...]
    notices: tuple[Notice, ...]
    batch: str
    """What `batch_ids` needs to give the ids again."""


def batch_ids(batch: str) -> tuple[UUID, ...]:
    """The ids of the memories of a batch."""
    name, count = batch.split()
    return tuple(uuid5(UUID(name), str(number)) for number in range(int(count)))


class CreateMemories(WriteStep[CreateMetadata, CreateManyInputs, CreatedMany]):
    """Store many memories at once, as `CreateMemory` stores one."""

    type = "CreateMemories"

    def apply(
        self, view: CompanionView, metadata: CreateMetadata, inputs: CreateManyInputs, context: StepContext
    ) -> CreatedMany:
        batch = f"{uuid4()} {len(inputs.drafts)}"
        ids = batch_ids(batch)
        memories = [
            _memory_of(memory_id, draft, metadata, context.now)
            for memory_id, draft in zip(ids, inputs.drafts, strict=True)
        ]
        by_persona: dict[str, list[Memory]] = {}
        for memory in memories:
            by_persona.setdefault(memory.persona_id, []).append(memory)
        archived: list[UUID] = []
        notices: dict[Notice, None] = {}
        for persona_id in sorted(by_persona):
            of_persona = by_persona[persona_id]
            view.companion.lock(persona_id)
            view.companion.save(of_persona)
            for memory in of_persona:
                _save_moment(view.companion, memory, metadata.moments)
            to_archive = _archive_over_limit(
                view.companion,
                persona_id,
                inputs.account_plan,
                metadata,
                at=context.now,
                auto_archive=inputs.auto_archive,
            )
            archived += (*to_archive.older_with_same_topics, *to_archive.over_limit)
            for memory in of_persona:
                notices |= dict.fromkeys(_notices(memory, inputs.account_plan, metadata, to_archive))
        context.note("saved", len(memories))
        return CreatedMany(created=ids, archived=tuple(archived), notices=tuple(notices), batch=batch)


def _memory_of(memory_id: UUID, draft: MemoryDraft, defaults: CreateMetadata, now: datetime) -> Memory:
    return Memory(
        id=memory_id,
        persona_id=draft.persona_id,
        session_ref=draft.session_ref,
        summary=draft.summary,
        topics=draft.topics,
        emotion=draft.emotion or defaults.emotion,
        importance=draft.importance or defaults.importance,
        tags=draft.tags,
        speaker=draft.speaker,
        origin=draft.origin,
        created_at=now,
        occurred_at=draft.occurred_at or now,
        archived_at=None,
        version=1,
    )


def save_memory(
    store: CompanionStore,
    memory: Memory,
    account: AccountPlan,
    policy: KeepPolicy,
    *,
    at: datetime,
    auto_archive: bool = True,
) -> SavedMemory:
    """Save a new memory and apply the active limit, which may archive the new memory itself.

    MemoryLimitReached if a memory would have to be archived for the limit and `auto_archive` is false.
    """
    store.lock(memory.persona_id)
    store.save([memory])
    return apply_policy(store, memory, account, policy, at=at, auto_archive=auto_archive)


def apply_policy(
    store: CompanionStore,
    memory: Memory,
    account: AccountPlan,
    policy: KeepPolicy,
    *,
    at: datetime,
    auto_archive: bool = True,
) -> SavedMemory:
    """Save the emotional moment of a memory that was just written, and archive memories over the limit."""
    moment = _save_moment(store, memory, policy.moments)
    to_archive = _archive_over_limit(
        store, memory.persona_id, account, policy, at=at, auto_archive=auto_archive
    )
    archived = (*to_archive.older_with_same_topics, *to_archive.over_limit)
    return SavedMemory(
        memory=memory.model_copy(update={"archived_at": at}) if memory.id in archived else memory,
        moment=moment,
        archived=archived,
        notices=_notices(memory, account, policy, to_archive),
    )


def _archive_over_limit(
    store: CompanionStore,
    persona_id: str,
    account: AccountPlan,
    policy: KeepPolicy,
    *,
    at: datetime,
    auto_archive: bool,
) -> ToArchive:
    """Archive the memories of a persona over the active limit. MemoryLimitReached without `auto_archive`."""
    limit = policy.active_limit.of(account, store.config(persona_id))
    if limit is None:
        return NONE_TO_ARCHIVE
    to_archive = apply_active_limit(store.active_rank_keys(persona_id), limit)
    if to_archive.over_limit and not auto_archive:
        raise MemoryLimitReached(
            f"this persona has reached its limit of {limit} active memories; archive or delete one, "
            "or allow autoArchive"
        )
    for memory_id in (*to_archive.older_with_same_topics, *to_archive.over_limit):
        store.archive(memory_id, at)
    return to_archive


def _notices(
    memory: Memory, account: AccountPlan, policy: KeepPolicy, to_archive: ToArchive
) -> tuple[Notice, ...]:
    return policy.notices.of(notices_of(account, to_archive, is_excerpt=memory.origin == "excerpt"))


def next_version(memory: Memory, changes: Mapping[str, Any], *, origin: str) -> Memory:
    """The memory with these changes, as its next version."""
    return memory.model_copy(update={**changes, "origin": origin, "version": memory.version + 1})


def _save_moment(store: CompanionStore, memory: Memory, policy: MomentPolicy) -> EmotionalMoment | None:
    moment = moment_of(memory, policy)
    if moment is not None:
        store.save_moment(moment)
    return moment


def get_locked(store: CompanionStore, memory_id: UUID) -> Memory:
    """Lock the persona of a memory, then read the memory. NotFound."""
    memory = store.get(memory_id)
    if memory is not None:
        store.lock(memory.persona_id)
        memory = store.get(memory_id)
    if memory is None:
        raise NotFound(f"there is no memory {memory_id}")
    return memory


class ChangedMemory(Data):
    memory: Memory


class EditMetadata(Data):
    moments: MomentPolicy


class EditInputs(Data):
    memory_id: UUID
    changes: MemoryChanges
    expected_version: int | None


class EditMemory(WriteStep[EditMetadata, EditInputs, ChangedMemory]):
    """Change the given fields of a memory. The former version stays in its history.

    Conflict if `expected_version` is not the stored version.
    """

    type = "EditMemory"

    def apply(
        self, view: CompanionView, metadata: EditMetadata, inputs: EditInputs, context: StepContext
    ) -> ChangedMemory:
        store = view.companion
        memory = get_locked(store, inputs.memory_id)
        if inputs.expected_version not in (None, memory.version):
            raise Conflict(
                f"memory {memory.id} has version {memory.version}, not {inputs.expected_version}; "
                "read it again"
            )
        changes = {name: value for name, value in inputs.changes if value is not None}
        if not changes:
            return ChangedMemory(memory=memory)
        rewritten = memory.origin == "excerpt" and "summary" in changes
        changed = next_version(memory, changes, origin="manual" if rewritten else memory.origin)
        view.memory_versions.save(memory, context.now)
        store.replace(changed)
        store.delete_moment(memory.id)
        _save_moment(store, changed, metadata.moments)
        return ChangedMemory(memory=changed)


class MemoryInputs(Data):
    memory_id: UUID


class ArchiveMemory(WriteStep[NoData, MemoryInputs, ChangedMemory]):
    """Archive a memory. It stays readable and can be restored."""

    type = "ArchiveMemory"

    def apply(
        self, view: CompanionView, metadata: NoData, inputs: MemoryInputs, context: StepContext
    ) -> ChangedMemory:
        memory = get_locked(view.companion, inputs.memory_id)
        if memory.archived_at is None:
            view.companion.archive(memory.id, context.now)
            memory = memory.model_copy(update={"archived_at": context.now})
        return ChangedMemory(memory=memory)


class RestoreMetadata(Data):
    active_limit: ActiveLimit


class RestoreInputs(Data):
    memory_id: UUID
    account_plan: AccountPlan


class RestoreMemory(WriteStep[RestoreMetadata, RestoreInputs, ChangedMemory]):
    """Make an archived memory active again. MemoryLimitReached if the active limit does not allow it.

    With a limit, older active memories with the same topics are archived.
    """

    type = "RestoreMemory"

    def apply(
        self, view: CompanionView, metadata: RestoreMetadata, inputs: RestoreInputs, context: StepContext
    ) -> ChangedMemory:
        store = view.companion
        memory = get_locked(store, inputs.memory_id)
        if memory.archived_at is None:
            return ChangedMemory(memory=memory)
        limit = metadata.active_limit.of(inputs.account_plan, store.config(memory.persona_id))
        if limit is not None:
            _make_room(store, memory, limit, context.now)
        store.restore(memory.id)
        return ChangedMemory(memory=memory.model_copy(update={"archived_at": None}))


def _make_room(store: CompanionStore, memory: Memory, limit: int, at: datetime) -> None:
    """Archive older active memories with the same topics. MemoryLimitReached if a newer one is active, or if
    the limit is reached without them."""
    active, own = store.active_rank_keys(memory.persona_id), store.rank_key(memory.id)
    same_topics = with_same_topics(own, active)
    for other in same_topics:
        if other.created > own.created:
            raise MemoryLimitReached(
                f"memory {other.id} has the same topics as {memory.id}, is newer and active; archive it first"
            )
    if len(active) - len(same_topics) >= limit:
        raise MemoryLimitReached(
            f"this persona has reached its limit of {limit} active memories; archive one first"
        )
    for older in same_topics:
        store.archive(older.id, at)


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


class TakeMetadata(Data):
    notices: NoticeTexts


class TakeInputs(Data):
    persona_id: PersonaId


class TakenNotices(Data):
    notices: tuple[Notice, ...]


class TakeNotices(WriteStep[TakeMetadata, TakeInputs, TakenNotices]):
    """Take the notices that wait for the user of a persona. Each is delivered once."""

    type = "TakeNotices"

    def apply(
        self, view: NoticeView, metadata: TakeMetadata, inputs: TakeInputs, context: StepContext
    ) -> TakenNotices:
        return TakenNotices(notices=metadata.notices.of(view.notices.take(inputs.persona_id)))


class NotifyInputs(Data):
    failed: bool
    persona_id: PersonaId | None


class NotifyFailure(WriteStep[NoData, NotifyInputs, None]):
    """Leave a notice for the user if a job that remembers turns with a persona has failed for good."""

    type = "NotifyFailure"

    def apply(self, view: NoticeView, metadata: NoData, inputs: NotifyInputs, context: StepContext) -> None:
        if inputs.failed and inputs.persona_id is not None:
            view.notices.leave(inputs.persona_id, ["unremembered"], context.now)


STEPS: tuple[type[AnyStep], ...] = (
    NotifyFailure,
    DraftMemory,
    CreateMemory,
    CreateMemories,
    EditMemory,
    ArchiveMemory,
    RestoreMemory,
    ConfigureMemories,
    TakeNotices,
)
