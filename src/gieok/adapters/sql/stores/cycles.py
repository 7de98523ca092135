"""Cycle records in SQL: one row per cycle, the steps as compressed JSON."""

from __future__ import annotations

import json
import zlib
from uuid import UUID

from pydantic_core import to_json

from gieok.adapters.sql.driver.database import Row, Tx, from_micros, to_micros
from gieok.engine import CycleRecord, StepRecord
from gieok.errors import StoreDamaged
from gieok.memory.cycle_records import CyclePosition, CycleSubject, StoredCycle
from gieok.refs import check_ref

OLD_PER_SAVE = 50
"""How many old records a save deletes: more than one, so that a lower setting takes effect."""
_END_OF_TIME = 2**62


class SqlCycleStore:
    """The cycle records of one owner inside one transaction. They have no content, so nothing is sealed."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def save(self, subject: CycleSubject, record: CycleRecord, keep: int) -> None:
        self._tx.run(
            "save_cycle",
            id=record.cycle_id.bytes,
            started_at=to_micros(record.started_at),
            session_ref=check_ref(subject.session_ref, "sessionRef"),
            turn_id=subject.turn_id,
            job_id=subject.job_id.bytes if subject.job_id else None,
            record=_pack(record),
        )
        self.delete_oldest(keep)

    def delete_oldest(self, keep: int) -> int:
        """Delete some of the oldest records if there are more than `keep`. Returns how many."""
        return self._tx.run("delete_oldest_cycles", keep=keep, limit=OLD_PER_SAVE)

    def list(
        self,
        session_ref: str,
        *,
        turn_id: str | None = None,
        job_id: UUID | None = None,
        after: CyclePosition | None = None,
        limit: int,
    ) -> list[StoredCycle]:
        rows = self._tx.all(
            "list_cycles",
            session_ref=check_ref(session_ref, "sessionRef"),
            turn_id=turn_id,
            job_id=job_id.bytes if job_id else None,
            started_at=to_micros(after.started_at) if after else _END_OF_TIME,
            id=after.cycle_id.bytes if after else b"",
            limit=limit,
        )
        return [_unpack(session_ref, row) for row in rows]


def _pack(record: CycleRecord) -> bytes:
    """Plan, duration and steps as compact JSON, compressed."""
    steps = [
        [step.id, step.type, step.stage, round(step.started_ms, 3), round(step.duration_ms, 3), step.notes]
        for step in record.steps
    ]
    times = [round(record.duration_ms, 3), round(record.commit_ms, 3)]
    packed = [record.plan_name, record.plan_hash, *times, steps]
    return zlib.compress(to_json(packed), 1)


def _unpack(session_ref: str, row: Row) -> StoredCycle:
    cycle_id, started_at, turn_id, job_id, packed = row
    try:
        plan_name, plan_hash, duration_ms, commit_ms, steps = json.loads(zlib.decompress(packed))
        return StoredCycle(
            cycle_id=UUID(bytes=bytes(cycle_id)),
            plan_name=plan_name,
            plan_hash=plan_hash,
            started_at=from_micros(started_at),
            duration_ms=duration_ms,
            commit_ms=commit_ms,
            outcome="succeeded",
            failed_step=None,
            steps=tuple(StepRecord(*step) for step in steps),
            session_ref=session_ref,
            turn_id=turn_id,
            job_id=None if job_id is None else UUID(bytes=bytes(job_id)),
        )
    except (ValueError, TypeError, zlib.error):
        raise StoreDamaged("a cycle record cannot be read; restore a backup, or delete its session") from None
