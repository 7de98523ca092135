"""Keeping memories within their places. Each function is one change, made inside one transaction."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from gieok.errors import Conflict, MemoryLimitReached, NotFound
from gieok.memory.companion.notices import notices_of
from gieok.memory.companion.records import (
    EmotionalMoment,
    Kept,
    Memory,
    MemoryChanges,
    SessionSummary,
)
from gieok.memory.companion.rules import (
    NOBODY,
    ActiveLimit,
    KeepPolicy,
    MomentPolicy,
    contest,
    moment_of,
    of_same_topics,
)
from gieok.memory.companion.store import CompanionStore
from gieok.memory.fields import AccountPlan


def keep(
    store: CompanionStore,
    memory: Memory,
    account: AccountPlan,
    policy: KeepPolicy,
    *,
    at: datetime,
    auto_archive: bool = True,
) -> Kept:
    """Keep a new memory; what finds no place any more is archived, be it the new one itself.

    MemoryLimitReached where room would have to be made and `auto_archive` forbids it.
    """
    store.hold(memory.persona_id)
    store.save(memory)
    return _settle(store, memory, account, policy, at=at, auto_archive=auto_archive)


def replace_excerpt(
    store: CompanionStore,
    memory_id: UUID,
    made: SessionSummary,
    account: AccountPlan,
    policy: KeepPolicy,
    *,
    at: datetime,
) -> Kept | None:
    """Put a real summary in the place of an excerpt, under the same id.

    None, and no change, where the memory was deleted or its text written by hand meanwhile. Of an excerpt
    that was edited otherwise the importance stays as the user left it.
    """
    found = store.get(memory_id)
    if found is None:
        return None
    store.hold(found.persona_id)
    found = store.get(memory_id)
    if found is None or found.origin != "excerpt":
        return None
    was_edited = found.version > 1
    values = made.model_copy(update={"importance": found.importance}) if was_edited else made
    changed = _changed(found, dict(values), origin="summary")
    store.replace(changed)
    store.delete_moment(memory_id)
    return _settle(store, changed, account, policy, at=at, auto_archive=True)


def edit(
    store: CompanionStore,
    memory_id: UUID,
    changes: MemoryChanges,
    expected_version: int | None,
    moments: MomentPolicy,
) -> Memory:
    """Change a memory by hand. Conflict where it is not in the version that the caller saw."""
    memory = _held(store, memory_id)
    if expected_version not in (None, memory.version):
        raise Conflict(
            f"memory {memory_id} is in version {memory.version}, not in {expected_version}; read it again"
        )
    given = {name: value for name, value in changes if value is not None}
    if not given:
        return memory
    by_hand = memory.origin == "excerpt" and "summary" in given
    changed = _changed(memory, given, origin="manual" if by_hand else memory.origin)
    store.replace(changed)
    store.delete_moment(memory_id)
    _keep_moment(store, changed, moments)
    return changed


def archive(store: CompanionStore, memory_id: UUID, at: datetime) -> Memory:
    """Take a memory from the active ones."""
    memory = _held(store, memory_id)
    if memory.archived_at is not None:
        return memory
    store.archive(memory_id, at)
    return memory.model_copy(update={"archived_at": at})


def restore(
    store: CompanionStore, memory_id: UUID, account: AccountPlan, limit: ActiveLimit, at: datetime
) -> Memory:
    """Put a memory back among the active ones. MemoryLimitReached where it has no place there.

    Where places are limited it takes the place of older ones about the same topics, which are archived.
    """
    memory = _held(store, memory_id)
    if memory.archived_at is None:
        return memory
    places = limit.of(account, store.config(memory.persona_id))
    if places is not None:
        _take_place(store, memory, places, at)
    store.restore(memory_id)
    return memory.model_copy(update={"archived_at": None})


def delete(store: CompanionStore, memory_id: UUID) -> None:
    """Remove a memory for good."""
    _held(store, memory_id)
    store.delete(memory_id)


def _settle(
    store: CompanionStore,
    memory: Memory,
    account: AccountPlan,
    policy: KeepPolicy,
    *,
    at: datetime,
    auto_archive: bool,
) -> Kept:
    moment = _keep_moment(store, memory, policy.moments)
    limit = policy.active_limit.of(account, store.config(memory.persona_id))
    fallen = NOBODY if limit is None else contest(store.standings(memory.persona_id), limit)
    if fallen.beyond_the_limit and not auto_archive:
        raise MemoryLimitReached(
            f"all {limit} places for active memories of this persona are taken; archive or delete one, "
            "or let autoArchive make room"
        )
    archived = (*fallen.older_of_same_topics, *fallen.beyond_the_limit)
    for memory_id in archived:
        store.archive(memory_id, at)
    return Kept(
        memory=memory.model_copy(update={"archived_at": at}) if memory.id in archived else memory,
        moment=moment,
        archived=archived,
        notices=notices_of(
            account, made_room=bool(fallen.beyond_the_limit), is_excerpt=memory.origin == "excerpt"
        ),
    )


def _take_place(store: CompanionStore, memory: Memory, places: int, at: datetime) -> None:
    active, own = store.standings(memory.persona_id), store.standing(memory.id)
    rivals = of_same_topics(own, active)
    for holder in rivals:
        if holder.created > own.created:
            raise MemoryLimitReached(
                f"memory {holder.id} is newer, about the same topics, and holds the place of {memory.id}; "
                "archive it first"
            )
    if len(active) - len(rivals) >= places:
        raise MemoryLimitReached(
            f"all {places} places for active memories of this persona are taken; archive one first"
        )
    for older in rivals:
        store.archive(older.id, at)


def _keep_moment(store: CompanionStore, memory: Memory, policy: MomentPolicy) -> EmotionalMoment | None:
    moment = moment_of(memory, policy)
    if moment is not None:
        store.save_moment(moment)
    return moment


def _held(store: CompanionStore, memory_id: UUID) -> Memory:
    """The memory, read again once nobody else can change it. NotFound."""
    memory = store.get(memory_id)
    if memory is not None:
        store.hold(memory.persona_id)
        memory = store.get(memory_id)
    if memory is None:
        raise NotFound(f"there is no memory {memory_id}")
    return memory


def _changed(memory: Memory, values: dict[str, Any], *, origin: str) -> Memory:
    return memory.model_copy(update={**values, "origin": origin, "version": memory.version + 1})
