"""The store of sessions, as its steps see it. It does not know that any other memory exists."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from gieok.memory.sessions.records import PlanMove, SessionState


class SessionStore(Protocol):
    """Synchronous; made for one owner inside one transaction."""

    def get(self, session_ref: str) -> SessionState | None:
        """The session, or None where it has not run yet."""
        ...

    def remember(self, session_ref: str, plan_hash: str, at: datetime) -> None:
        """Record that the session ran this plan. PlanHashMismatch where it ran another one meanwhile."""
        ...

    def move(self, session_ref: str, plan_hash: str, at: datetime) -> PlanMove:
        """Move the session to another plan and leave an audit entry. NotFound where there is no session."""
        ...

    def moves(self, session_ref: str) -> Sequence[PlanMove]:
        """The audit entries of the session, oldest first."""
        ...


class SessionRooms(Protocol):
    """Whatever holds sessions among its rooms."""

    @property
    def sessions(self) -> SessionStore:
        """The sessions of the owner at hand."""
        ...
