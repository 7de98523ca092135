"""What is known of a session. Its content is elsewhere; this is only its state."""

from __future__ import annotations

from datetime import datetime

from gieok.engine import Data


class SessionState(Data):
    """A session that has run at least one cycle."""

    session_ref: str
    last_execution_plan_hash: str
    started_at: datetime
    last_activity_at: datetime


class PlanMove(Data):
    """The audit entry of a session that was moved to another plan on purpose."""

    session_ref: str
    moved_at: datetime
    from_hash: str
    to_hash: str
