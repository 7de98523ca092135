"""Former versions of memories in SQL, sealed. They are deleted with their memory."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from gieok.adapters.sql.driver.database import Row, Tx, from_micros, to_micros
from gieok.adapters.sql.stores.seals import SealedRow, SealPage
from gieok.errors import Conflict, StoreDamaged
from gieok.memory.companion.records import Memory, MemoryVersion
from gieok.vault import OwnerKeys, Place


class SqlMemoryVersionStore:
    """Former versions of one owner's memories inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def save(self, memory: Memory, replaced_at: datetime) -> None:
        at = to_micros(replaced_at)
        added = self._tx.run(
            "add_memory_version",
            memory_id=memory.id.bytes,
            version=memory.version,
            replaced_at=at,
            content=self._keys.seal(
                _place(memory.id, memory.version, at), memory.model_dump_json(by_alias=True).encode()
            ),
        )
        if not added:
            raise Conflict(f"memory {memory.id} has a former version {memory.version} already")

    def list(self, memory_id: UUID) -> list[MemoryVersion]:
        rows = self._tx.all("list_memory_versions", memory_id=memory_id.bytes)
        return [self.open_row(row) for row in rows]

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed values of the next versions."""
        identity, number = after[:16], int.from_bytes(after[16:], "big")
        rows = self._tx.all("list_memory_version_seals", memory_id=identity, version=number, limit=limit)
        sealed = [
            SealedRow(
                "replace_memory_version_seal",
                {"memory_id": identity, "version": number},
                {"content": (_place(UUID(bytes=identity), number, at), content)},
            )
            for identity, number, at, content in rows
        ]
        has_more = len(rows) == limit
        return SealPage(sealed, rows[-1][0] + rows[-1][1].to_bytes(8, "big") if has_more else None)

    def open_row(self, row: Row) -> MemoryVersion:
        """Decrypt a row with the columns memory, version, time, content."""
        identity, version, at, content = row
        memory_id = UUID(bytes=identity)
        opened = self._keys.open(_place(memory_id, version, at), content)
        memory = Memory.model_validate_json(opened)
        if (memory.id, memory.version) != (memory_id, version):
            raise StoreDamaged(f"memory {memory_id} has another memory in its history; restore a backup")
        return MemoryVersion(**dict(memory), replaced_at=from_micros(at))


def _place(memory_id: UUID, version: int, replaced_at: int) -> Place:
    """Bound to every column, so that a version with another time or memory does not open."""
    return Place("memory_versions", "content", f"{memory_id} {replaced_at}", version)
