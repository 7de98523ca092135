"""The audit trail in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid4

from gieok.adapters.sql.driver.database import Row, Tx, from_micros, to_micros
from gieok.errors import NotFound
from gieok.memory.audit import AuditAction, AuditEntry


class SqlAuditLog:
    """The entries of one owner inside one transaction. They have no content, so nothing is sealed."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def add(self, action: AuditAction, subject: str | None, at: datetime) -> AuditEntry:
        """Add an entry. Call it in the transaction of the action."""
        entry = AuditEntry(uuid4(), at, action, subject)
        self._tx.run("add_audit_entry", id=entry.id.bytes, at=to_micros(at), action=action, subject=subject)
        return entry

    def list(self, limit: int, before: UUID | None = None) -> Sequence[AuditEntry]:
        """The newest entries first, older than the entry `before` if given. Raises NotFound for `before`."""
        if before is None:
            rows = self._tx.all("list_audit_entries", limit=limit)
        else:
            mark = self._tx.one("get_audit_entry", id=before.bytes)
            if mark is None:
                raise NotFound("no such audit entry")
            rows = self._tx.all("list_audit_entries_before", id=mark[0], at=mark[1], limit=limit)
        return [_entry(row) for row in rows]


def _entry(row: Row) -> AuditEntry:
    identity, at, action, subject = row
    return AuditEntry(UUID(bytes=identity), from_micros(at), action, subject)
