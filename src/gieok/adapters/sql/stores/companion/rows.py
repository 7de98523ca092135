"""Rows of memories: their plain columns, and the sealed content that is bound to these columns."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from gieok.adapters.sql.driver.database import Row, from_micros, to_micros
from gieok.memory.companion.records import Emotion, ExcerptSource, Memory, Origin
from gieok.vault import OwnerKeys, Place

_to_json = json.JSONEncoder(ensure_ascii=False).encode
ORIGINS: tuple[Origin, ...] = ("summary", "manual", "excerpt")


def memory_columns(memory: Memory, number: int) -> Row:
    """The plain columns of a memory, to which its sealed content is bound."""
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


def seal_memory(keys: OwnerKeys, memory: Memory, columns: Row, source: ExcerptSource | None = None) -> bytes:
    """Seal the content of a memory, and what an excerpt was made of. It is bound to all columns except
    `archived_at`, which can change without a new version."""
    content: dict[str, Any] = {
        "summary": memory.summary,
        "topics": memory.topics,
        "emotion": memory.emotion,
        "tags": memory.tags,
        "speaker": memory.speaker,
    }
    if source is not None:
        content["source"] = source.model_dump(mode="json", by_alias=True)
    return keys.seal(memory_place(columns, memory.version), _to_json(content).encode())


def open_memory(keys: OwnerKeys, row: Row) -> Memory:
    """Decrypt a row. SealBroken if a column was altered.

    A value that opens is authenticated together with its columns and was validated when it was sealed, so it
    is not validated again.
    """
    identity, persona, _, session, origin, importance, created, occurred, archived, version, sealed = row
    content = json.loads(keys.open(memory_place(row[:8], version), sealed).decode())
    return Memory(
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


def open_source(keys: OwnerKeys, row: Row) -> ExcerptSource | None:
    """Decrypt what an excerpt was made of, if it is stored."""
    *_, version, sealed = row
    source = json.loads(keys.open(memory_place(row[:8], version), sealed)).get("source")
    return None if source is None else ExcerptSource.model_validate(source, strict=False)


def memory_place(columns: Row, version: int) -> Place:
    """What the sealed content is bound to."""
    identity, persona, number, session, *rest = columns
    text = identity.hex()
    dashed = f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
    row = f"{dashed} {persona} {number} {session or ''} {' '.join(map(str, rest))}"
    return Place("memories", "content", row, version)
