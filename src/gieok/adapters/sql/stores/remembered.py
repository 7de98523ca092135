"""Results of remember jobs in SQL: sealed, because they quote the conversation."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from gieok.adapters.sql.driver.database import Tx, to_micros
from gieok.memory.canon.remembering import Remembered
from gieok.vault import OwnerKeys, Place


class SqlRememberedStore:
    """The results of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def save(self, job_id: UUID, remembered: Remembered, at: datetime) -> None:
        self._tx.run(
            "save_remembered",
            id=job_id.bytes,
            created_at=to_micros(at),
            result=self._keys.seal(_place(job_id), remembered.model_dump_json().encode()),
        )

    def get(self, job_id: UUID) -> Remembered | None:
        row = self._tx.one("get_remembered", id=job_id.bytes)
        if row is None:
            return None
        return Remembered.model_validate_json(self._keys.open(_place(job_id), row[0]))

    def delete_before(self, before: datetime) -> int:
        return self._tx.run("delete_remembered", before=to_micros(before))

    def reseal(self, after: bytes, limit: int) -> tuple[int, bytes | None]:
        """Reseal the next rows by id. Returns how many, and the last id, None at the end."""
        rows = self._tx.all("list_remembered_seals", after=after, limit=limit)
        for identity, sealed in rows:
            place = _place(UUID(bytes=identity))
            self._tx.run("replace_remembered_seal", id=identity, result=self._keys.reseal(place, sealed))
        return len(rows), rows[-1][0] if len(rows) == limit else None


def _place(job_id: UUID) -> Place:
    return Place("remembered", "result", str(job_id))
