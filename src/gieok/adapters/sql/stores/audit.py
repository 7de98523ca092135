"""The audit trail in SQL, as a chain of keyed hashes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid4

from gieok.adapters.sql.driver.database import Tx, from_micros, to_micros
from gieok.errors import NotFound, StoreDamaged
from gieok.memory.audit import AuditAction, AuditEntry
from gieok.vault import OwnerKeys

START = bytes(32)
"""What the first entry is chained to."""
PAGE = 500
_ALL = 2**31


class SqlAuditLog:
    """The entries of one owner inside one transaction. They have no content, so nothing is sealed."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def add(self, action: AuditAction, subject: str | None, at: datetime) -> AuditEntry:
        """Add an entry. Call it in the transaction of the action."""
        self._tx.run("begin_audit_chain", hash=START)
        head = self._tx.one("lock_audit_head")
        if head is None:
            raise StoreDamaged("the head of the audit trail is missing; restore a backup")
        entry = AuditEntry(uuid4(), at, action, subject)
        number = int(head[0]) + 1
        chained = {"number": number, "hash": self._hash(bytes(head[1]), number, entry)}
        self._tx.run(
            "add_audit_entry", id=entry.id.bytes, at=to_micros(at), action=action, subject=subject, **chained
        )
        self._tx.run("move_audit_head", **chained)
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
        return [_entry(*row) for row in rows]

    def verify(self) -> int:
        """Check the chain from its last checkpoint. Returns the number of entries.

        StoreDamaged names the first entry that was removed or altered. Entries that an older version wrote,
        and imported ones, are not in the chain.
        """
        number, previous = self._checkpoint()
        count = 0
        while rows := self._tx.all("list_audit_chain", after=number, limit=PAGE):
            for row in rows:
                number += 1
                entry = _entry(*row[2:])
                if row[0] != number or bytes(row[1]) != self._hash(previous, number, entry):
                    raise _damaged(number)
                previous = bytes(row[1])
                count += 1
        head = self._tx.one("get_audit_head")
        if (number, previous) != ((head[0], bytes(head[1])) if head else (0, START)):
            raise _damaged(number + 1)
        return count

    def trim(self, before: datetime, now: datetime, limit: int = _ALL) -> int:
        """Delete the oldest entries, of those older than `before` at most `limit`, and leave a checkpoint.
        Returns how many were deleted. A checkpoint alone is not replaced by another."""
        if self._tx.one("has_audit_entry_before", at=to_micros(before), action="audit.trimmed") is None:
            return 0
        last = self._tx.one("get_last_audit_number_before", at=to_micros(before), limit=limit)
        number, digest = (int(last[0]), bytes(last[1])) if last else (0, START)
        deleted = self._tx.run("delete_audit_entries", number=number, at=to_micros(before))
        if deleted:
            if not number:
                number, digest = self._checkpoint()
            self.add("audit.trimmed", f"{number}:{digest.hex()}", now)
        return deleted

    def _checkpoint(self) -> tuple[int, bytes]:
        """The number and the hash of the last deleted entry."""
        row = self._tx.one("get_audit_checkpoint", action="audit.trimmed")
        if row is None:
            return 0, START
        number, _, digest = row[0].partition(":")
        return int(number), bytes.fromhex(digest)

    def _hash(self, previous: bytes, number: int, entry: AuditEntry) -> bytes:
        return self._keys.digest(
            "audit_entries.hash",
            previous.hex(),
            str(number),
            entry.id.hex,
            str(to_micros(entry.at)),
            entry.action,
            entry.subject or "",
        )


def _entry(identity: bytes, at: int, action: AuditAction, subject: str | None) -> AuditEntry:
    return AuditEntry(UUID(bytes=bytes(identity)), from_micros(at), action, subject)


def _damaged(number: int) -> StoreDamaged:
    return StoreDamaged(f"entry {number} of the audit trail was removed or altered; compare it with a backup")
