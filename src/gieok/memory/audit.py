"""The audit trail of an owner: actions on tokens, keys, exports and sessions. It has no content."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
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
