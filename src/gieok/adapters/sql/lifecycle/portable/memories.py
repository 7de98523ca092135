"""Turn memories, companion memories, their moments and their settings, out and in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from uuid import UUID

from gieok.adapters.sql.driver.clock import from_micros
from gieok.adapters.sql.driver.database import Row
from gieok.adapters.sql.lifecycle.portable.carrying import BY_ID, part, unchanged, walk
from gieok.adapters.sql.lifecycle.portable.records import (
    ConfigRecord,
    MemoryRecord,
    MomentRecord,
    TurnMemoryRecord,
)
from gieok.adapters.sql.stores.companion import SqlCompanionStore
from gieok.adapters.sql.stores.companion_moments import SqlMomentStore
from gieok.adapters.sql.stores.companion_rows import open_memory
from gieok.adapters.sql.stores.turns import SqlMemoryStore
from gieok.errors import InputRefused
from gieok.memory.companion.records import DEFAULT_CONFIG, EmotionalMoment, Memory, MemoryConfig
from gieok.memory.turns.records import MemoryItem


class TurnCarrier(SqlMemoryStore):
    """Turn memories of one owner, out and in. Here alone keywords leave the store: to their owner."""

    def out(self) -> Iterator[TurnMemoryRecord]:
        for row in walk(self._tx, "list_turn_exports", BY_ID):
            yield self._record(row)

    def bring(self, record: TurnMemoryRecord) -> bool:
        """Whether it is new."""
        known = self._tx.one("get_turn_export", id=record.id.bytes)
        if known:
            return unchanged(record, self._record(known), record.id)
        self.save(part(MemoryItem, record))
        return True

    def _record(self, row: Row) -> TurnMemoryRecord:
        identity, session_ref, at, summary, keywords = row
        memory_id = UUID(bytes=identity)
        return TurnMemoryRecord(
            kind="turnMemory",
            id=memory_id,
            session_ref=session_ref,
            timestamp=from_micros(at),
            summary=self._open("summary", memory_id, summary).decode(),
            keywords=tuple(json.loads(self._open("keywords", memory_id, keywords))),
        )


class MemoryCarrier(SqlCompanionStore):
    """Companion memories of one owner, and what was set for each persona, out and in."""

    def configs(self) -> Iterator[ConfigRecord]:
        for persona_id, recall, limit in walk(self._tx, "list_config_exports", {"persona_id": (0, "")}):
            yield ConfigRecord(
                kind="memoryConfig", persona_id=persona_id, recall=bool(recall), active_limit=limit
            )

    def bring_config(self, record: ConfigRecord) -> bool:
        """Whether it is new: it is where nothing was set for that persona."""
        stored = self.config(record.persona_id)
        if stored != DEFAULT_CONFIG:
            known = ConfigRecord(kind="memoryConfig", persona_id=record.persona_id, **dict(stored))
            return unchanged(record, known, f"'{record.persona_id}'")
        self.configure(record.persona_id, part(MemoryConfig, record))
        return True

    def out(self) -> Iterator[MemoryRecord]:
        key = {"persona_id": (1, ""), "number": (2, 0)}
        for row in walk(self._tx, "list_memory_exports", key):
            yield _memory(open_memory(self._keys, row))

    def bring(self, record: MemoryRecord) -> bool:
        """Whether it is new. One that lost or got its place since stays where it is."""
        known = self.get(record.id)
        if known:
            stored = _memory(known).model_copy(update={"archived_at": record.archived_at})
            return unchanged(record, stored, record.id)
        self.save(part(Memory, record))
        return True


class MomentCarrier(SqlMomentStore):
    """The moments of one owner, out and in."""

    def out(self) -> Iterator[MomentRecord]:
        for row in walk(self._tx, "list_moment_seals", BY_ID):
            yield _moment(self._open(row))

    def bring(self, record: MomentRecord) -> bool:
        """Whether it is new. A memory has at most one."""
        known = self._tx.one("get_moment_export", id=record.id.bytes, memory_id=record.memory_id.bytes)
        if known:
            return unchanged(record, _moment(self._open(known)), record.id)
        memory = self._tx.one("get_memory", id=record.memory_id.bytes)
        if memory is None or memory[1] != record.persona_id:
            raise InputRefused(f"is a moment of memory {record.memory_id}, which this persona does not have")
        self.save(part(EmotionalMoment, record))
        return True


def _memory(memory: Memory) -> MemoryRecord:
    return MemoryRecord(kind="memory", **dict(memory))


def _moment(moment: EmotionalMoment) -> MomentRecord:
    return MomentRecord(kind="moment", **dict(moment))
