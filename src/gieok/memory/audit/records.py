"""One line of the audit trail."""

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
    """`subject` is the id of what was acted on, never a text of the owner's; None where it is the owner."""

    id: UUID
    at: datetime
    action: AuditAction
    subject: str | None
