"""The audit trail of an owner: actions on tokens, keys, exports and sessions. It has no content.

It is a chain: each entry has a keyed hash of itself and of the entry before, so that a removed or altered
entry is detected by everyone who has the owner's keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

AuditAction = Literal[
    "token.created",
    "token.revoked",
    "login.failed",
    "owner.exported",
    "owner.imported",
    "key.rotated",
    "session.moved",
    "webhook.added",
    "webhook.removed",
    "audit.trimmed",
]

OPERATOR = "gieok:operator"
"""The reserved owner whose trail has what belongs to no owner: failed logins with unknown tokens."""


@dataclass(frozen=True)
class AuditEntry:
    """One action. `subject` is the id of the token, session or webhook; None where it is the whole owner.

    For `login.failed` without a known token, `subject` is how many there were since the last entry. For
    `audit.trimmed`, it is the number and the hash of the last entry that was deleted.
    """

    id: UUID
    at: datetime
    action: AuditAction
    subject: str | None


class AuditLog(Protocol):
    """The audit trail of one owner inside one transaction."""

    def add(self, action: AuditAction, subject: str | None, at: datetime) -> AuditEntry:
        """Add an entry. Call it in the transaction of the action."""
        ...


class AuditView(Protocol):
    """A transaction's view with the audit trail."""

    @property
    def audit(self) -> AuditLog: ...
