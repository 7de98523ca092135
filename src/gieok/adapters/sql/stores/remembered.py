"""Results of remember jobs in SQL: sealed, because they quote the conversation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from gieok.adapters.sql.driver.database import Tx, to_micros
from gieok.adapters.sql.stores.seals import SealedRow, SealPage
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

    def delete(self, job_ids: Sequence[UUID]) -> int:
        ids = [job_id.bytes for job_id in job_ids]
        return self._tx.run("delete_results", ids=ids) if ids else 0

    def delete_before(self, before: datetime) -> int:
        return self._tx.run("delete_remembered", before=to_micros(before))

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed values of the next rows, by id."""
        rows = self._tx.all("list_remembered_seals", after=after, limit=limit)
        sealed_rows = [
            SealedRow("replace_remembered_seal", {"id": row}, {"result": (_place(UUID(bytes=row)), sealed)})
            for row, sealed in rows
        ]
        return SealPage(sealed_rows, rows[-1][0] if len(rows) == limit else None)


def _place(job_id: UUID) -> Place:
    return Place("remembered", "result", str(job_id))
