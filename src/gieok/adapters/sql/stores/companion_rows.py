"""A row of companion memory: what is sealed, and to which columns the seal is bound."""

from __future__ import annotations

import json
from uuid import UUID

from gieok.adapters.sql.driver.clock import from_micros, to_micros
from gieok.adapters.sql.driver.database import Row
from gieok.memory.companion.reading import ReadMemory
from gieok.memory.companion.records import Emotion, Memory, Origin
from gieok.vault import OwnerKeys, Place

ORIGINS: tuple[Origin, ...] = ("summary", "manual", "excerpt")


def memory_columns(memory: Memory, number: int) -> Row:
    """What lies beside the sealed content, and what the seal is bound to."""
    return (
        memory.id.bytes,
        memory.persona_id,
        number,
        memory.session_ref,
        ORIGINS.index(memory.origin) + 1,
        memory.importance,
        to_micros(memory.created_at),
        to_micros(memory.occurred_at),
    )


def seal_memory(keys: OwnerKeys, memory: Memory, columns: Row) -> bytes:
    """What was said, bound to its columns: all but the time of archiving, which makes no new version."""
    content = {
        "summary": memory.summary,
        "topics": memory.topics,
        "emotion": memory.emotion,
        "tags": memory.tags,
        "speaker": memory.speaker,
    }
    return keys.seal(_memory_place(columns, memory.version), json.dumps(content, ensure_ascii=False).encode())


def open_memory(keys: OwnerKeys, row: Row) -> Memory:
    """The memory of a row. SealBroken where a column is not what was written."""
    return read_memory(keys, row).memory


def read_memory(keys: OwnerKeys, row: Row) -> ReadMemory:
    """The same, for a search: of a row that did not change it is made once, as long as the keys are held."""
    return keys.once(row, lambda: ReadMemory(_open_memory(keys, row)))


def _open_memory(keys: OwnerKeys, row: Row) -> Memory:
    """What opens is what was sealed, bound to its columns, and was checked then: it is not checked again."""
    identity, persona, _, session, origin, importance, created, occurred, archived, version, sealed = row
    content = json.loads(keys.open(_memory_place(row[:8], version), sealed).decode())
    return Memory.trusted(
        id=UUID(bytes=identity),
        persona_id=persona,
        session_ref=session,
        summary=content["summary"],
        topics=tuple(content["topics"]),
        emotion=Emotion(content["emotion"]),
        importance=importance,
        tags=tuple(content["tags"]),
        speaker=content["speaker"],
        origin=ORIGINS[int(origin) - 1],
        created_at=from_micros(created),
        occurred_at=from_micros(occurred),
        archived_at=None if archived is None else from_micros(archived),
        version=version,
    )


def reseal_memory(keys: OwnerKeys, row: Row) -> bytes:
    """The same content under the current key."""
    *_, version, sealed = row
    return keys.seal_anew(_memory_place(row[:8], version), sealed)


def _memory_place(columns: Row, version: int) -> Place:
    identity, persona, number, session, *rest = columns
    text = identity.hex()
    dashed = f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
    row = f"{dashed} {persona} {number} {session or ''} {' '.join(map(str, rest))}"
    return Place("memories", "content", row, version)
