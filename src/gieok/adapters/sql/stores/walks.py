"""Deep walks in SQL. The result of a walk is sealed, because hints quote the conversation."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from gieok.adapters.sql.driver.database import Tx, from_micros, to_micros
from gieok.adapters.sql.stores.seals import SealedRow, SealPage
from gieok.engine import Data
from gieok.memory.decisions.records import Reached, Walk, WalkOrigin
from gieok.vault import OwnerKeys, Place


class _Found(Data):
    """The sealed part. Walks of older versions have only the last two fields."""

    origin: WalkOrigin | None = None
    is_done: bool = True
    reached: tuple[Reached, ...]
    truncated: bool


class SqlWalkStore:
    """The walks of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def save(self, walk: Walk) -> None:
        found = _Found(
            origin=walk.origin, is_done=walk.is_done, reached=walk.reached, truncated=walk.truncated
        )
        self._tx.run(
            "save_walk",
            id=walk.id.bytes,
            created_at=to_micros(walk.created_at),
            found=self._keys.seal(_place(walk.id), found.model_dump_json(by_alias=True).encode()),
        )

    def get(self, walk_id: UUID) -> Walk | None:
        row = self._tx.one("get_walk", id=walk_id.bytes)
        if row is None:
            return None
        created_at, sealed = row
        found = _Found.model_validate_json(self._keys.open(_place(walk_id), sealed))
        return Walk(id=walk_id, created_at=from_micros(created_at), **dict(found))

    def delete_before(self, before: datetime) -> int:
        return self._tx.run("forget_walks", before=to_micros(before))

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed values of the next rows, by id."""
        rows = self._tx.all("list_walk_seals", after=after, limit=limit)
        sealed_rows = [
            SealedRow("replace_walk_seal", {"id": row}, {"found": (_place(UUID(bytes=row)), sealed)})
            for row, sealed in rows
        ]
        return SealPage(sealed_rows, rows[-1][0] if len(rows) == limit else None)


def _place(walk_id: UUID) -> Place:
    return Place("decision_walks", "found", str(walk_id))
