"""Version chains in SQL: sealed append-only versions, and a head per chain."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from gieok.adapters.sql.driver.database import Row, Tx, from_micros, to_micros
from gieok.adapters.sql.stores.seals import SealedRow, SealPage
from gieok.errors import Conflict, NotFound, StoreDamaged
from gieok.memory.chains import ChainHead, ChainVersion, VersionDraft, check_expected, next_version
from gieok.vault import OwnerKeys, Place


class SqlChainStore:
    """The chains of one kind of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys, kind: str) -> None:
        self._tx = tx
        self._keys = keys
        self._kind = kind

    def append(self, root_id: UUID, draft: VersionDraft, expected_version: int | None) -> ChainVersion:
        number = next_version(root_id, self._lock(root_id), expected_version)
        root = root_id.bytes
        created_at = to_micros(draft.created_at)
        place = self._place(root_id, number, draft.id, draft.form, created_at)
        is_first = self._tx.run(
            "add_chain_version",
            kind=self._kind,
            root_id=root,
            version=number,
            id=draft.id.bytes,
            form=draft.form,
            content=self._keys.seal(place, draft.content),
            created_at=created_at,
        )
        if not is_first:
            raise Conflict(f"chain {root_id} was created by another writer; read it again and retry")
        self._tx.run("move_chain_head", kind=self._kind, root_id=root, version=number)
        return ChainVersion(**vars(draft), root_id=root_id, version=number, is_active=True)

    def retire(self, root_id: UUID, expected_version: int | None) -> None:
        head = self._lock(root_id)
        if head is None or head.is_retired:
            raise NotFound(f"there is no active chain {root_id}")
        check_expected(head, expected_version)
        self._tx.run("retire_chain", kind=self._kind, root_id=root_id.bytes)

    def delete(self, root_id: UUID) -> None:
        """Delete a chain with all its versions."""
        self._tx.run("remove_chain_head", kind=self._kind, root_id=root_id.bytes)
        self._tx.run("remove_chain_versions", kind=self._kind, root_id=root_id.bytes)

    def active(self, root_ids: Sequence[UUID]) -> list[ChainVersion]:
        if not root_ids:
            return []
        rows = self._tx.all(
            "list_active_chain_versions", kind=self._kind, root_ids=[root.bytes for root in root_ids]
        )
        found = {version.root_id: version for version in (self.open_row(row) for row in rows)}
        return [found[root] for root in dict.fromkeys(root_ids) if root in found]

    def history(self, root_id: UUID, after: int, limit: int) -> list[ChainVersion]:
        rows = self._tx.all(
            "list_chain_history", kind=self._kind, root_id=root_id.bytes, after=after, limit=limit
        )
        return [self.open_row(row[:6], is_active=bool(row[6])) for row in rows]

    def open_row(self, row: Row, *, is_active: bool = True) -> ChainVersion:
        """Decrypt a row with the columns root, version, id, form, content, time."""
        root, number, identity, form, content, created_at = row
        root_id = UUID(bytes=root)
        if content is None:
            raise StoreDamaged(f"{self._kind} {root_id} has no version {number}; restore a backup")
        version_id = UUID(bytes=identity)
        place = self._place(root_id, number, version_id, form, created_at)
        return ChainVersion(
            root_id=root_id,
            version=number,
            is_active=is_active,
            id=version_id,
            form=form,
            content=self._keys.open(place, content),
            created_at=from_micros(created_at),
        )

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed values of the next versions."""
        root, number = after[:16], int.from_bytes(after[16:], "big")
        rows = self._tx.all("list_chain_seals", kind=self._kind, root_id=root, version=number, limit=limit)
        sealed = [
            SealedRow(
                "replace_chain_seal",
                {"kind": self._kind, "root_id": root, "version": number},
                {
                    "content": (
                        self._place(UUID(bytes=root), number, UUID(bytes=identity), form, created_at),
                        content,
                    )
                },
            )
            for root, number, identity, form, content, created_at in rows
        ]
        has_more = len(rows) == limit
        return SealPage(sealed, rows[-1][0] + rows[-1][1].to_bytes(8, "big") if has_more else None)

    def _lock(self, root_id: UUID) -> ChainHead | None:
        row = self._tx.one("lock_chain_head", kind=self._kind, root_id=root_id.bytes)
        return ChainHead(root_id=root_id, latest=row[0], is_retired=row[1] is None) if row else None

    def _place(self, root_id: UUID, version: int, version_id: UUID, form: int, created_at: int) -> Place:
        """Binds the seal to every column: a version with another id, form or time does not open."""
        row = f"{self._kind} {root_id} {version_id} {form} {created_at}"
        return Place("chain_versions", "content", row, version)
