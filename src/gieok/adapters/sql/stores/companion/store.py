"""Companion memory in SQL: memories, their counts and index entries, and emotional moments."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from gieok.adapters.sql.cache import UNCACHED, OwnerCaches
from gieok.adapters.sql.driver.database import Row, Tx, Value, from_micros, to_micros
from gieok.adapters.sql.stores.archived import ARCHIVED, NOTHING_ARCHIVED, ArchivedContent
from gieok.adapters.sql.stores.companion.index import SqlPersonaIndex, index_rows, packed_terms
from gieok.adapters.sql.stores.companion.rows import (
    memory_columns,
    memory_place,
    open_memory,
    open_source,
    seal_memory,
)
from gieok.adapters.sql.stores.seals import SealedRow, SealPage
from gieok.adapters.sql.stores.search import UNCACHED_INDEXES, IndexCache, IndexEntry, Revision
from gieok.adapters.sql.stores.vectors import invalidate_vectors, remove_vectors, set_vectors_archived
from gieok.errors import Conflict, NotFound, SealBroken, StoreDamaged
from gieok.memory.companion.hits import HitKind
from gieok.memory.companion.records import (
    Emotion,
    EmotionalMoment,
    ExcerptSource,
    Memory,
    MemoryConfig,
    MemoryCounts,
    MemoryPage,
    MomentPosition,
)
from gieok.memory.companion.rules import RankKey, check_page, topic_set
from gieok.memory.companion.store import ENTRIES, MemoryStatus
from gieok.refs import check_ref
from gieok.vault import OwnerKeys, Place

_EPOCH = date(1970, 1, 1)


class SqlCompanionStore:
    """Companion memory of one owner inside one transaction."""

    def __init__(
        self,
        tx: Tx,
        keys: OwnerKeys,
        caches: OwnerCaches = UNCACHED,
        indexes: IndexCache = UNCACHED_INDEXES,
        archived: ArchivedContent = NOTHING_ARCHIVED,
        *,
        is_reading: bool = False,
    ) -> None:
        """`is_reading` marks a transaction that sees only committed data, so that it may be cached."""
        self._archived = archived
        self._tx = tx
        self._keys = keys
        self._caches = caches
        self._is_reading = is_reading
        self._indexes = indexes
        self._moments = SqlMomentStore(tx, keys)

    def lock(self, persona_id: str) -> MemoryConfig:
        row = self._tx.one("lock_memory_config", persona_id=_persona(persona_id))
        if row is None:
            self._tx.run("add_memory_config", persona_id=persona_id)
            row = self._tx.one("lock_memory_config", persona_id=persona_id)
        assert row is not None  # noqa: S101  it was added, here or by another process, and is never deleted
        return MemoryConfig(recall=bool(row[0]), active_limit=row[1])

    def config(self, persona_id: str) -> MemoryConfig:
        state = read_state(self._tx, _persona(persona_id))
        return MemoryConfig(recall=state.recall, active_limit=state.active_limit)

    def configure(self, persona_id: str, config: MemoryConfig) -> None:
        self.lock(persona_id)
        self._tx.run(
            "set_memory_config",
            persona_id=persona_id,
            recall=int(config.recall),
            active_limit=config.active_limit,
        )

    def counts(self, persona_id: str | None) -> MemoryCounts:
        if persona_id is not None:
            state = read_state(self._tx, _persona(persona_id))
            return MemoryCounts(active=state.active, archived=state.archived)
        row = self._tx.one("sum_memory_counts")
        return MemoryCounts(active=int(row[0]), archived=int(row[1])) if row else _NO_MEMORIES

    def save(self, memories: Sequence[Memory]) -> None:
        if not memories:
            return
        found = self._tx.all("list_existing_memories", ids=[memory.id.bytes for memory in memories])
        if found:
            raise Conflict(f"memory {UUID(bytes=found[0][0])} exists already")
        (persona_id,) = {memory.persona_id for memory in memories}
        self.lock(persona_id)
        archived = sum(memory.archived_at is not None for memory in memories)
        revision, last = self._count(
            persona_id, created=len(memories), active=len(memories) - archived, archived=archived
        )
        first = last - len(memories) + 1
        rows = [self._new_row(memory, first + place, revision) for place, memory in enumerate(memories)]
        self._tx.run_many("add_memories", rows)

    def get(self, memory_id: UUID) -> Memory | None:
        row = self._tx.one("get_memory", id=memory_id.bytes)
        return open_memory(self._keys, row) if row else None

    def keep_source(self, memory_id: UUID, source: ExcerptSource) -> None:
        row = self._tx.one("get_memory", id=memory_id.bytes)
        if row is None:
            raise NotFound(f"there is no memory {memory_id}")
        memory = open_memory(self._keys, row)
        content = seal_memory(self._keys, memory, row[:8], source)
        self._tx.run("replace_memory_seal", id=memory_id.bytes, version=memory.version, content=content)

    def source(self, memory_id: UUID) -> ExcerptSource | None:
        row = self._tx.one("get_memory", id=memory_id.bytes)
        return open_source(self._keys, row) if row else None

    def replace(self, memory: Memory) -> None:
        persona_id, number, _ = self._position(memory.id)
        source = self.source(memory.id) if memory.origin == "excerpt" else None
        revision, _ = self._count(persona_id)
        columns = memory_columns(memory, number)
        replaced = self._tx.run(
            "replace_memory",
            {"persona_id": persona_id},
            id=memory.id.bytes,
            origin=columns[4],
            importance=memory.importance,
            version=memory.version,
            changed=revision,
            topic_token=self._topic_token(memory),
            terms=packed_terms(self._keys, memory),
            content=seal_memory(self._keys, memory, columns, source),
        )
        if not replaced:
            raise Conflict(f"memory {memory.id} was changed in the meantime; read it again")
        invalidate_vectors(self._tx, persona_id, memory.id, number)

    def archive(self, memory_id: UUID, at: datetime) -> None:
        self._set_archived(memory_id, at)

    def restore(self, memory_id: UUID) -> None:
        self._set_archived(memory_id, None)

    def delete(self, memory_id: UUID) -> None:
        persona_id, _, is_archived = self._position(memory_id)
        self.delete_moment(memory_id)
        remove_vectors(self._tx, persona_id, memory_id)
        self._tx.run("remove_memory", {"persona_id": persona_id}, id=memory_id.bytes)
        self._count(persona_id, active=is_archived - 1, archived=-is_archived, is_removal=True)

    def rank_key(self, memory_id: UUID) -> RankKey:
        row = self._tx.one("get_memory_rank_key", id=memory_id.bytes)
        if row is None:
            raise NotFound(f"there is no memory {memory_id}")
        return _rank_key(row)

    def active_rank_keys(self, persona_id: str) -> list[RankKey]:
        rows = self._tx.all("list_active_rank_keys", persona_id=_persona(persona_id))
        return [_rank_key(row) for row in rows]

    def load(self, persona_id: str, limit: int) -> Sequence[Memory]:
        check_page(limit, 0)
        state = read_state(self._tx, _persona(persona_id))
        if not state.recall:
            return ()
        key = ("loaded memories", persona_id, limit)
        cached: _Loaded | None = self._caches.values.get(key) if self._is_reading else None
        if cached is not None and cached.changed == state.memories_changed:
            return cached.memories
        counted = self._tx.one("count_active_memories", persona_id=persona_id)
        _check_count(state.active, counted[0] if counted else 0)
        rows = self._tx.all("load_memories", persona_id=persona_id, limit=limit)
        memories = tuple(open_memory(self._keys, row) for row in rows)
        if self._is_reading:
            size = sum(_MEMORY_BYTES + len(row[-1]) for row in rows)
            self._caches.values.put(key, _Loaded(state.memories_changed, memories), size)
        return memories

    def list(self, persona_id: str | None, status: MemoryStatus, limit: int, offset: int) -> MemoryPage:
        check_page(limit, offset)
        counts = self.counts(persona_id)
        active, archived = int(status != "archived"), int(status != "active")
        total = active * counts.active + archived * counts.archived
        page = {"active": active, "archived": archived, "limit": limit, "offset": offset}
        if persona_id is None:
            rows = self._tx.all("list_memories", **page)
        else:
            rows = self._tx.all("list_memories_of_persona", persona_id=persona_id, **page)
        _check_count(min(limit, max(total - offset, 0)), len(rows))
        memories = tuple(open_memory(self._keys, row) for row in rows)
        return MemoryPage(memories=memories, total=total, has_more=offset + len(memories) < total)

    def days(self, persona_id: str | None) -> list[tuple[date, int]]:
        if persona_id is None:
            rows = self._tx.all("count_memories_by_day")
        else:
            rows = self._tx.all("count_memories_of_persona_by_day", persona_id=_persona(persona_id))
        return [(_EPOCH + timedelta(days=day), count) for day, count in rows]

    def index(
        self, persona_id: str, *, kinds: Collection[HitKind] = ("memory",), include_archived: bool
    ) -> SqlPersonaIndex:
        state = read_state(self._tx, _persona(persona_id))
        rows = self._indexes.get(
            ("persona", persona_id),
            Revision(state.revision, state.removed, state.active + state.archived + state.entries),
            lambda after: index_rows(self._tx, self._keys, persona_id, after),
        )
        if self._archived.failure is not None:
            found = self._tx.all("list_archived_numbers", persona_id=persona_id, archived=ARCHIVED)
            rows = rows.without([ENTRIES + number for (number,) in found])
        return SqlPersonaIndex(
            self._tx,
            self._keys,
            self._caches.values if self._is_reading else UNCACHED.values,
            persona_id,
            rows,
            self._archived,
            recall=state.recall,
            kinds=kinds,
            include_archived=include_archived,
        )

    def save_moment(self, moment: EmotionalMoment) -> None:
        self._moments.save(moment)

    def delete_moment(self, memory_id: UUID) -> None:
        self._moments.delete(memory_id)

    def moments(self, persona_id: str, limit: int, after: MomentPosition | None) -> Sequence[EmotionalMoment]:
        return self._moments.list(persona_id, limit, after)

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed values of the next memories, by id."""
        rows = self._tx.all("list_memory_seals", after=after, limit=limit)
        sealed = [
            SealedRow(
                "replace_memory_seal",
                {"id": row[0], "version": row[-2]},
                {"content": (memory_place(row[:8], row[-2]), row[-1])},
            )
            for row in rows
        ]
        return SealPage(sealed, rows[-1][0] if len(rows) == limit else None)

    def reindex(self, after: bytes, limit: int) -> bytes | None:
        """Re-index the next memories by id with their current terms. Returns the last id, None at the end."""
        rows = self._tx.all("list_memory_personas", after=after, limit=limit)
        revisions: dict[str, int] = {}
        for persona_id in sorted({persona_id for _, persona_id in rows}):
            self.lock(persona_id)
            revisions[persona_id], _ = self._count(persona_id)
        for identity, persona_id in rows:
            memory = self.get(UUID(bytes=identity))
            if memory is not None:
                self._tx.run(
                    "reindex_memory",
                    id=identity,
                    topic_token=self._topic_token(memory),
                    terms=packed_terms(self._keys, memory),
                    changed=revisions[persona_id],
                )
        return rows[-1][0] if len(rows) == limit else None

    def index_entries(self, after: bytes, limit: int) -> tuple[list[IndexEntry], bytes | None]:
        """Compare the terms of the next memories by id, as far as they open. Returns the last id, None at the
        end."""
        rows = self._tx.all("list_memory_entries", after=after, limit=limit)
        entries: list[IndexEntry] = []
        for topic_token, terms, *row in rows:
            with suppress(SealBroken):
                memory = open_memory(self._keys, tuple(row))
                expected = self._topic_token(memory), packed_terms(self._keys, memory)
                is_right = (topic_token, bytes(terms)) == expected
                entries.append(IndexEntry(str(memory.id), after, row[0], is_right))
            after = row[0]
        return entries, after if len(rows) == limit else None

    def _new_row(self, memory: Memory, number: int, revision: int) -> dict[str, Value]:
        columns = memory_columns(memory, number)
        return {
            **dict(zip(_COLUMNS, columns, strict=True)),
            "archived_at": None if memory.archived_at is None else to_micros(memory.archived_at),
            "version": memory.version,
            "changed": revision,
            "topic_token": self._topic_token(memory),
            "terms": packed_terms(self._keys, memory),
            "content": seal_memory(self._keys, memory, columns),
        }

    def _position(self, memory_id: UUID) -> tuple[str, int, bool]:
        """The persona and the number of a memory, and whether it is archived. NotFound."""
        row = self._tx.one("get_memory_position", id=memory_id.bytes)
        if row is None:
            raise NotFound(f"there is no memory {memory_id}")
        persona_id, number, archived_at = row
        return persona_id, number, archived_at is not None

    def _count(
        self,
        persona_id: str,
        *,
        created: int = 0,
        active: int = 0,
        archived: int = 0,
        is_removal: bool = False,
    ) -> tuple[int, int]:
        """Add to the counts of a persona. Returns its new revision, and the number of its last memory."""
        row = self._tx.one(
            "change_memory_counts",
            persona_id=persona_id,
            created=created,
            active=active,
            archived=archived,
            is_removal=int(is_removal),
        )
        assert row is not None  # noqa: S101  a persona with memories has a row
        return row[0], row[1]

    def _set_archived(self, memory_id: UUID, at: datetime | None) -> None:
        persona_id, _, is_archived = self._position(memory_id)
        if is_archived == (at is not None):
            return
        more = -1 if at is None else 1
        revision, _ = self._count(persona_id, active=-more, archived=more)
        self._tx.run(
            "set_memory_archived",
            {"persona_id": persona_id},
            id=memory_id.bytes,
            archived_at=None if at is None else to_micros(at),
            changed=revision,
        )
        set_vectors_archived(self._tx, persona_id, memory_id, is_archived=at is not None)

    def _topic_token(self, memory: Memory) -> int | None:
        topics = topic_set(memory.topics)
        return self._keys.token("memories.topics", memory.persona_id, *topics) if topics else None


class SqlMomentStore:
    """Emotional moments of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def save(self, moment: EmotionalMoment) -> None:
        self._tx.run(
            "add_moment",
            id=moment.id.bytes,
            persona_id=moment.persona_id,
            memory_id=moment.memory_id.bytes,
            intensity=moment.intensity,
            at=to_micros(moment.at),
            content=self._seal(moment),
        )

    def delete(self, memory_id: UUID) -> None:
        """Delete the moment of a memory, if it has one."""
        self._tx.run("remove_moment", memory_id=memory_id.bytes)

    def list(self, persona_id: str, limit: int, after: MomentPosition | None) -> Sequence[EmotionalMoment]:
        check_ref(persona_id, "personaId")
        rows = self._tx.all(
            "list_moments",
            persona_id=persona_id,
            at=to_micros(after.at) if after else _END_OF_TIME,
            id=after.id.bytes if after else b"",
            limit=limit,
        )
        return [self._open(row) for row in rows]

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed values of the next moments, by id."""
        rows = self._tx.all("list_moment_seals", after=after, limit=limit)
        sealed_rows: list[SealedRow] = []
        for identity, persona_id, memory, intensity, at, sealed in rows:
            place = _moment_place(UUID(bytes=identity), persona_id, UUID(bytes=memory), intensity, at)
            sealed_rows.append(
                SealedRow("replace_moment_seal", {"id": identity}, {"content": (place, sealed)})
            )
        return SealPage(sealed_rows, rows[-1][0] if len(rows) == limit else None)

    def _seal(self, moment: EmotionalMoment) -> bytes:
        content = {"emotion": moment.emotion, "moment": moment.moment}
        place = _moment_place(
            moment.id, moment.persona_id, moment.memory_id, moment.intensity, to_micros(moment.at)
        )
        return self._keys.seal(place, json.dumps(content, ensure_ascii=False).encode())

    def _open(self, row: Row) -> EmotionalMoment:
        identity, persona_id, memory, intensity, at, sealed = row
        moment_id, memory_id = UUID(bytes=identity), UUID(bytes=memory)
        place = _moment_place(moment_id, persona_id, memory_id, intensity, at)
        content = json.loads(self._keys.open(place, sealed))
        return EmotionalMoment(
            id=moment_id,
            persona_id=persona_id,
            memory_id=memory_id,
            emotion=Emotion(content["emotion"]),
            intensity=intensity,
            moment=content["moment"],
            at=from_micros(at),
        )


class State(NamedTuple):
    """Settings, revisions and counts of a persona's memories."""

    recall: bool
    """Whether recall is enabled."""
    active_limit: int | None
    """The user's limit of active memories; None if only the account's limit applies."""
    revision: int
    """Grows with every change."""
    removed: int
    """The revision of the last deletion."""
    active: int
    archived: int
    entries: int
    """How many messages and facts are in the index."""
    memories_changed: int
    """The revision at which a memory was changed last."""


_NO_STATE = State(True, None, 0, 0, 0, 0, 0, 0)


def read_state(tx: Tx, persona_id: str) -> State:
    """Read the state in this transaction."""
    row = tx.one("get_memory_state", persona_id=persona_id)
    return State(bool(row[0]), *row[1:]) if row else _NO_STATE


class _Loaded(NamedTuple):
    """A cached result of `load`, and the revision of the memories at that time."""

    changed: int
    memories: tuple[Memory, ...]


_MEMORY_BYTES = 1_000
"""Estimated size of a memory without its text."""
_END_OF_TIME = 2**62
_NO_MEMORIES = MemoryCounts(active=0, archived=0)
_COLUMNS = (
    "id",
    "persona_id",
    "number",
    "session_ref",
    "origin",
    "importance",
    "created_at",
    "occurred_at",
)


def _persona(persona_id: str) -> str:
    return check_ref(persona_id, "personaId")


def _check_count(expected: int, found: int) -> None:
    """StoreDamaged if rows are missing: a smaller result must not stand in for them."""
    if found != expected:
        raise StoreDamaged(f"there should be {expected} memories and there are {found}; restore a backup")


def _rank_key(row: Row) -> RankKey:
    memory_id, importance, created_at, number, topics = row
    return RankKey(UUID(bytes=memory_id), importance, (created_at, number), topics)


def _moment_place(moment_id: UUID, persona_id: str, memory_id: UUID, intensity: int, at: int) -> Place:
    """Bound to every column, so that a moment with a changed link, time or intensity does not open."""
    return Place("emotional_moments", "content", f"{moment_id} {persona_id} {memory_id} {intensity} {at}")
