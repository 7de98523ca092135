"""The audit trail of one owner."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from gieok.adapters.sql.scope import OwnerScope
from gieok.errors import InputRefused
from gieok.memory.audit.records import AuditEntry

DEFAULT_ENTRIES = 50
MOST_ENTRIES = 1000


class Audit:
    """What was done to an owner as a whole: tokens, exports, imports, keys, moves. No content."""

    def __init__(self, scope: OwnerScope) -> None:
        self._scope = scope

    async def list(self, limit: int = DEFAULT_ENTRIES, before: UUID | None = None) -> Sequence[AuditEntry]:
        """The newest first; `before` is the id of the last entry of the page that came before this one.

        NotFound where there is no such entry.
        """
        if not 1 <= limit <= MOST_ENTRIES:
            raise InputRefused(f"must be 1 to {MOST_ENTRIES}", at="limit")
        return await self._scope.read(lambda rooms: rooms.audit.list(limit, before))
