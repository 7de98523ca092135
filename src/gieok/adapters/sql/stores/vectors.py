"""Vectors of memories and messages in SQL: sealed half floats, and how far a persona is embedded."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from gieok.adapters.sql.driver.database import Row, Tx
from gieok.adapters.sql.stores.archived import NOTHING_ARCHIVED, ArchivedContent
from gieok.adapters.sql.stores.companion.rows import open_memory
from gieok.adapters.sql.stores.messages import open_messages, vector_place
from gieok.adapters.sql.stores.seals import SealedRow, SealPage
from gieok.memory.companion.store import ENTRIES
from gieok.memory.companion.vectors.search import Embedded, Revision, StoredVector, Unembedded, Waiting
from gieok.refs import check_ref
from gieok.vault import OwnerKeys, Place

_NEWEST = 2**62


class SqlVectorStore:
    """The vectors of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys, archived: ArchivedContent = NOTHING_ARCHIVED) -> None:
        self._tx = tx
        self._keys = keys
        self._archived = archived

    @property
    def owner(self) -> str:
        return self._tx.owner

    @property
    def generation(self) -> int:
        return self._keys.generation

    def revision(self, persona_id: str) -> Revision:
        row = self._tx.one("get_vector_revision", persona_id=check_ref(persona_id, "personaId"))
        return Revision(*row) if row else Revision(0, 0)

    def newest(self, persona_id: str, space: str, before: int | None, limit: int) -> list[StoredVector]:
        rows = self._tx.all(
            "list_newest_vectors",
            space=space,
            persona_id=persona_id,
            before=_NEWEST if before is None else before,
            limit=limit,
        )
        return [self._open(persona_id, space, row) for row in rows]

    def since(self, persona_id: str, space: str, stamp: int, number: int, limit: int) -> list[StoredVector]:
        rows = self._tx.all(
            "list_vectors_since",
            space=space,
            persona_id=persona_id,
            stamp=stamp,
            number=number,
            limit=limit,
        )
        return [self._open(persona_id, space, row) for row in rows]

    def numbers(self, persona_id: str, space: str) -> list[int]:
        rows = self._tx.all("list_vector_numbers", space=space, persona_id=persona_id)
        return [number for (number,) in rows]

    def unfinished(self, space: str, limit: int) -> list[str]:
        rows = self._tx.all("list_personas_to_embed", space=space, limit=limit)
        return [persona_id for (persona_id,) in rows]

    def is_finished(self, persona_id: str, space: str) -> bool:
        progress = self._tx.one("get_vector_progress", persona_id=check_ref(persona_id, "personaId"))
        if progress is None or progress[0] != space:
            return True
        _, embedded_to, last_number, _, _, messages_embedded_to, last_entry = progress
        return embedded_to >= last_number and messages_embedded_to >= last_entry

    def begin(self, persona_id: str, space: str) -> None:
        self._tx.run("begin_vector_space", persona_id=check_ref(persona_id, "personaId"), space=space)

    def waiting(self, persona_id: str, space: str, limit: int) -> Waiting:
        progress = self._tx.one("get_vector_progress", persona_id=check_ref(persona_id, "personaId"))
        if progress is None or progress[0] != space:
            return Waiting(memories=(), up_to=0, messages_up_to=0, removed=0)
        _, embedded_to, last_number, _, removed, messages_embedded_to, last_entry = progress
        scope = {"persona_id": persona_id, "space": space}
        rows = self._tx.all("list_unembedded_memories", after=embedded_to, limit=limit, **scope)
        up_to = rows[-1][2] if len(rows) == limit else last_number
        waiting = list(map(self._unembedded, rows))
        messages_up_to = messages_embedded_to
        if room := limit - len(rows):
            rows = self._tx.all("list_unembedded_messages", after=messages_embedded_to, limit=room, **scope)
            messages_up_to = rows[-1][7] if len(rows) == room else last_entry
            texts = open_messages(self._keys, rows, self._archived)
            waiting += [
                Unembedded(number=ENTRIES + row[7], memory_id=None, version=1, text=message.content)
                for row, message in zip(rows, texts, strict=True)
            ]
        return Waiting(memories=tuple(waiting), up_to=up_to, messages_up_to=messages_up_to, removed=removed)

    def save(self, persona_id: str, space: str, made: Sequence[Embedded], waiting: Waiting) -> int:
        self._tx.one("lock_memory_config", persona_id=check_ref(persona_id, "personaId"))
        progress = self._tx.one("get_vector_progress", persona_id=persona_id)
        if progress is None or progress[0] != space:
            return 0
        _, embedded_to, last_number, stamp, removed, messages_embedded_to, _ = progress
        saved = sum(self._add(persona_id, space, stamp + 1, each) for each in made)
        if removed == waiting.removed:
            embedded_to = max(embedded_to, waiting.up_to)
        gone = embedded_to >= last_number and self._tx.run(
            "remove_other_spaces", persona_id=persona_id, space=space
        )
        self._tx.run(
            "set_vector_progress",
            persona_id=persona_id,
            embedded_to=embedded_to,
            messages_embedded_to=max(messages_embedded_to, waiting.messages_up_to),
            vector_stamp=stamp + 1 if saved or gone else stamp,
            vectors_removed=stamp + 1 if gone else removed,
        )
        return saved

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed vectors of the next memories, by id."""
        rows = self._tx.all("list_vector_seals", after=after, limit=limit)
        sealed_rows = [
            SealedRow(
                "replace_vector_seal",
                {"space": space, "persona_id": persona_id, "number": number, "version": version},
                {"vector": (_place(UUID(bytes=memory_id), persona_id, space, number, version), sealed)},
            )
            for memory_id, space, persona_id, number, version, sealed in rows
        ]
        memories = {row[0] for row in rows}
        return SealPage(sealed_rows, rows[-1][0] if len(memories) == limit else None)

    def _unembedded(self, row: Row) -> Unembedded:
        memory = open_memory(self._keys, row)
        return Unembedded(number=row[2], memory_id=memory.id, version=memory.version, text=memory.summary)

    def _add(self, persona_id: str, space: str, stamp: int, made: Embedded) -> int:
        if made.values is None:
            return 0
        if made.memory_id is None:
            number = made.number - ENTRIES
            return self._tx.run(
                "set_message_vector",
                space=space,
                persona_id=persona_id,
                number=number,
                stamp=stamp,
                vector=self._keys.seal(vector_place(persona_id, number, space), made.values),
            )
        place = _place(made.memory_id, persona_id, space, made.number, made.version)
        return self._tx.run(
            "add_vector",
            space=space,
            persona_id=persona_id,
            number=made.number,
            memory_id=made.memory_id.bytes,
            version=made.version,
            stamp=stamp,
            vector=self._keys.seal(place, made.values),
        )

    def _open(self, persona_id: str, space: str, row: Row) -> StoredVector:
        number, stamp, archived, memory_id, version, sealed = row
        if memory_id is None:
            place = vector_place(persona_id, number - ENTRIES, space)
        else:
            place = _place(UUID(bytes=memory_id), persona_id, space, number, version)
        return StoredVector(number, stamp, bool(archived), self._keys.open(place, sealed))


def remove_vectors(tx: Tx, persona_id: str, memory_id: UUID) -> None:
    """Remove the vectors of a memory that is deleted."""
    if tx.run("remove_vectors_of", memory_id=memory_id.bytes):
        tx.run("count_vector_removal", persona_id=persona_id, embedded_to=_NEWEST)


def invalidate_vectors(tx: Tx, persona_id: str, memory_id: UUID, number: int) -> None:
    """Remove the vectors of a memory whose text changed, so that it is embedded again."""
    tx.run("remove_vectors_of", memory_id=memory_id.bytes)
    tx.run("count_vector_removal", persona_id=persona_id, embedded_to=number - 1)


def set_vectors_archived(tx: Tx, persona_id: str, memory_id: UUID, *, is_archived: bool) -> None:
    """Mark the vectors of a memory that was archived or restored."""
    changed = tx.run(
        "set_vectors_archived", persona_id=persona_id, memory_id=memory_id.bytes, archived=int(is_archived)
    )
    if changed:
        tx.run("count_vector_change", persona_id=persona_id)


def _place(memory_id: UUID, persona_id: str, space: str, number: int, version: int) -> Place:
    """Bound to every column except `stamp` and `archived`, which change without the vector."""
    return Place("memory_vectors", f"vector in {space}", f"{memory_id} {persona_id} {number}", version)
