"""The audit trail of an owner: actions on tokens, keys, exports and sessions. It has no content."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

AuditAction = Literal[
    "token.created", "token.revoked", "owner.exported", "owner.imported", "key.rotated", "session.moved"
]


@dataclass(frozen=True)
class AuditEntry:
    """One action. `subject` is the id of the token or session; None where it is the owner as a whole."""

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
