"""Companion memory in SQL: sealed rows, exact counts, and an index that is changed with them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from gieok.adapters.sql.cache import UNCACHED, OwnerCaches
from gieok.adapters.sql.driver.database import Row, Tx, to_micros
from gieok.adapters.sql.stores.companion_index import (
    Posting,
    SqlMemoryIndex,
    State,
    add_posting,
    find_posting,
    pack_terms,
    read_state,
    remove_posting,
)
from gieok.adapters.sql.stores.companion_moments import SqlMomentStore
from gieok.adapters.sql.stores.companion_resident import ResidentMemoryIndex, resident_index
from gieok.adapters.sql.stores.companion_rows import (
    memory_columns,
    read_memory,
    reseal_memory,
    seal_memory,
)
from gieok.adapters.sql.stores.vectors import outdate_vectors, remove_vectors, shelve_vectors
from gieok.errors import Conflict, NotFound
from gieok.memory.companion.records import (
    EmotionalMoment,
    Memory,
    MemoryConfig,
    MemoryCounts,
    MemoryPage,
)
from gieok.memory.companion.rules import Standing, check_page, topic_set
from gieok.memory.companion.store import Shelf
from gieok.memory.companion.terms import memory_terms, word_count
from gieok.refs import check_ref
from gieok.vault import OwnerKeys


class SqlCompanionStore:
    """Companion memory of one owner inside one transaction."""

    def __init__(
        self, tx: Tx, keys: OwnerKeys, caches: OwnerCaches = UNCACHED, *, is_reading: bool = False
    ) -> None:
        """`is_reading` marks a transaction that sees only committed data, so that its results may be
        cached."""
        self._tx = tx
        self._keys = keys
        self._caches = caches
        self._is_reading = is_reading
        self._moments = SqlMomentStore(tx, keys)

    def hold(self, persona_id: str) -> MemoryConfig:
        recall, active_limit, _ = self._hold(persona_id)
        return MemoryConfig(recall=bool(recall), active_limit=active_limit)

    def config(self, persona_id: str) -> MemoryConfig:
        state = read_state(self._tx, _persona(persona_id))
        return MemoryConfig(recall=state.recall, active_limit=state.active_limit)

    def configure(self, persona_id: str, config: MemoryConfig) -> None:
        self._hold(persona_id)
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
        return MemoryCounts(active=int(row[0]), archived=int(row[1])) if row else _NONE

    def save(self, memory: Memory) -> None:
        number = self._hold(memory.persona_id)[2] + 1
        terms = memory_terms(memory)
        packed = pack_terms(self._keys, memory.persona_id, terms)
        columns = memory_columns(memory, number)
        added = self._tx.run(
            "add_memory",
            **dict(zip(_COLUMNS, columns, strict=True)),
            archived_at=None if memory.archived_at is None else to_micros(memory.archived_at),
            version=memory.version,
            topic_token=self._topic_token(memory),
            words=word_count(terms),
            terms=packed,
            content=seal_memory(self._keys, memory, columns),
        )
        if not added:
            raise Conflict(f"memory {memory.id} exists already")
        posting = Posting(number, memory.archived_at is not None, word_count(terms), packed)
        add_posting(self._tx, memory.persona_id, posting, created=1)

    def get(self, memory_id: UUID) -> Memory | None:
        row = self._tx.one("get_memory", id=memory_id.bytes)
        return self._open(row) if row else None

    def replace(self, memory: Memory) -> None:
        persona_id, before = find_posting(self._tx, memory.id)
        terms = memory_terms(memory)
        packed = pack_terms(self._keys, persona_id, terms)
        columns = memory_columns(memory, before.number)
        replaced = self._tx.run(
            "replace_memory",
            id=memory.id.bytes,
            origin=columns[4],
            importance=memory.importance,
            version=memory.version,
            topic_token=self._topic_token(memory),
            words=word_count(terms),
            terms=packed,
            content=seal_memory(self._keys, memory, columns),
        )
        if not replaced:
            raise Conflict(f"memory {memory.id} was changed by someone else meanwhile; read it again")
        after = before._replace(words=word_count(terms), terms=packed)
        self._move(persona_id, before, after)
        outdate_vectors(self._tx, persona_id, memory.id, before.number)

    def archive(self, memory_id: UUID, at: datetime) -> None:
        self._shelve(memory_id, at)

    def restore(self, memory_id: UUID) -> None:
        self._shelve(memory_id, None)

    def delete(self, memory_id: UUID) -> None:
        persona_id, posting = find_posting(self._tx, memory_id)
        self.delete_moment(memory_id)
        remove_vectors(self._tx, persona_id, memory_id)
        remove_posting(self._tx, persona_id, posting)
        self._tx.run("remove_memory", id=memory_id.bytes)

    def standing(self, memory_id: UUID) -> Standing:
        row = self._tx.one("get_memory_standing", id=memory_id.bytes)
        if row is None:
            raise NotFound(f"there is no memory {memory_id}")
        return _standing(row)

    def standings(self, persona_id: str) -> list[Standing]:
        rows = self._tx.all("list_memory_standings", persona_id=_persona(persona_id))
        return [_standing(row) for row in rows]

    def load(self, persona_id: str, limit: int) -> Sequence[Memory]:
        check_page(limit, 0)
        state = read_state(self._tx, _persona(persona_id))
        if not state.recall:
            return ()
        name = ("loaded memories", persona_id, limit)
        kept: _Loaded | None = self._caches.values.get(name) if self._is_reading else None
        if kept is not None and kept.state.memories == state.memories:
            return kept.memories
        rows = self._tx.all("load_memories", persona_id=persona_id, limit=limit)
        memories = tuple(map(self._open, rows))
        if self._is_reading:
            self._caches.values.put(name, _Loaded(state, memories), 200 + 8 * len(memories))
        return memories

    def list(self, persona_id: str | None, shelf: Shelf, limit: int, offset: int) -> MemoryPage:
        check_page(limit, offset)
        counts = self.counts(persona_id)
        active, archived = int(shelf != "archived"), int(shelf != "active")
        total = active * counts.active + archived * counts.archived
        wanted = {"active": active, "archived": archived, "limit": limit, "offset": offset}
        if persona_id is None:
            rows = self._tx.all("list_memories", **wanted)
        else:
            rows = self._tx.all("list_memories_of_persona", persona_id=persona_id, **wanted)
        memories = tuple(map(self._open, rows))
        return MemoryPage(memories=memories, total=total, has_more=offset + len(memories) < total)

    def index(self, persona_id: str, *, include_archived: bool) -> SqlMemoryIndex:
        tx, keys, (values, indexes) = self._tx, self._keys, self._caches
        state = read_state(tx, _persona(persona_id))
        if self._is_reading and state.recall and state.last_number:
            resident = resident_index(tx, indexes, persona_id, state, include_archived=include_archived)
            if resident is not None:
                return ResidentMemoryIndex(
                    tx, keys, values, persona_id, resident, state, include_archived=include_archived
                )
        return SqlMemoryIndex(tx, keys, values, persona_id, state, include_archived=include_archived)

    def save_moment(self, moment: EmotionalMoment) -> None:
        self._moments.save(moment)

    def delete_moment(self, memory_id: UUID) -> None:
        self._moments.delete(memory_id)

    def moments(self, persona_id: str, limit: int, offset: int) -> Sequence[EmotionalMoment]:
        return self._moments.list(persona_id, limit, offset)

    def reseal(self, after: bytes, limit: int) -> tuple[int, bytes | None]:
        """Seal the next memories by id under the current key. Returns how many, and where to go on."""
        rows = self._tx.all("list_memory_seals", after=after, limit=limit)
        for row in rows:
            memory_id, *_, version, _content = row
            content = reseal_memory(self._keys, row)
            self._tx.run("replace_memory_seal", id=memory_id, version=version, content=content)
        return len(rows), rows[-1][0] if len(rows) == limit else None

    def reindex(self, after: bytes, limit: int) -> bytes | None:
        """Make the next memories by id findable by the terms that they have now."""
        rows = self._tx.all("list_memory_personas", after=after, limit=limit)
        for identity, persona_id in rows:
            self._hold(persona_id)
            memory = self.get(UUID(bytes=identity))
            if memory is not None:
                self._index_anew(memory)
        return rows[-1][0] if len(rows) == limit else None

    def _index_anew(self, memory: Memory) -> None:
        persona_id, before = find_posting(self._tx, memory.id)
        terms = memory_terms(memory)
        after = before._replace(words=word_count(terms), terms=pack_terms(self._keys, persona_id, terms))
        self._tx.run(
            "reindex_memory",
            id=memory.id.bytes,
            topic_token=self._topic_token(memory),
            words=after.words,
            terms=after.terms,
        )
        self._move(persona_id, before, after)

    def _open(self, row: Row) -> Memory:
        return read_memory(self._keys, self._caches.values, row).memory

    def _hold(self, persona_id: str) -> Row:
        held = self._tx.one("hold_memory_config", persona_id=_persona(persona_id))
        if held is None:
            self._tx.run("add_memory_config", persona_id=persona_id)
            held = self._tx.one("hold_memory_config", persona_id=persona_id)
        assert held is not None  # noqa: S101  it was added, here or by someone else, and is never removed
        return held

    def _shelve(self, memory_id: UUID, at: datetime | None) -> None:
        persona_id, before = find_posting(self._tx, memory_id)
        if before.is_archived == (at is not None):
            return
        self._tx.run("shelve_memory", id=memory_id.bytes, archived_at=None if at is None else to_micros(at))
        self._move(persona_id, before, before._replace(is_archived=at is not None))
        shelve_vectors(self._tx, persona_id, memory_id, is_archived=at is not None)

    def _move(self, persona_id: str, before: Posting, after: Posting) -> None:
        remove_posting(self._tx, persona_id, before)
        add_posting(self._tx, persona_id, after)

    def _topic_token(self, memory: Memory) -> int | None:
        topics = topic_set(memory.topics)
        return self._keys.token("memories.topics", memory.persona_id, *topics) if topics else None


class _Loaded(NamedTuple):
    """What a conversation begins with, as the memories stood."""

    state: State
    memories: tuple[Memory, ...]


_NONE = MemoryCounts(active=0, archived=0)
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


def _standing(row: Row) -> Standing:
    memory_id, importance, created_at, number, topics = row
    return Standing(UUID(bytes=memory_id), importance, (created_at, number), topics)
