"""Sessions in SQL: the plan each one ran, and its moves."""

from __future__ import annotations

from datetime import datetime

from gieok.adapters.sql.clock import from_micros, to_micros
from gieok.adapters.sql.database import Tx
from gieok.errors import NotFound, PlanHashMismatch
from gieok.memory.sessions.records import PlanMove, SessionState
from gieok.refs import check_ref


class SqlSessionStore:
    """Sessions of one owner inside one transaction. They hold no content, so nothing here is sealed."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def get(self, session_ref: str) -> SessionState | None:
        row = self._tx.one("get_session", session_ref=check_ref(session_ref, "sessionRef"))
        if row is None:
            return None
        return SessionState(
            session_ref=session_ref,
            last_execution_plan_hash=row[0],
            started_at=from_micros(row[1]),
            last_activity_at=from_micros(row[2]),
        )

    def remember(self, session_ref: str, plan_hash: str, at: datetime) -> None:
        check_ref(session_ref, "sessionRef")
        if self._tx.run("remember_session", session_ref=session_ref, plan_hash=plan_hash, at=to_micros(at)):
            return
        raise PlanHashMismatch(self._known(session_ref).last_execution_plan_hash, plan_hash)

    def move(self, session_ref: str, plan_hash: str, at: datetime) -> PlanMove:
        before = self._known(session_ref).last_execution_plan_hash
        self._tx.run("move_session", session_ref=session_ref, plan_hash=plan_hash)
        self._tx.run(
            "add_session_plan_move",
            session_ref=session_ref,
            moved_at=to_micros(at),
            from_hash=before,
            to_hash=plan_hash,
        )
        return PlanMove(session_ref=session_ref, moved_at=at, from_hash=before, to_hash=plan_hash)

    def moves(self, session_ref: str) -> list[PlanMove]:
        rows = self._tx.all("list_session_plan_moves", session_ref=check_ref(session_ref, "sessionRef"))
        return [
            PlanMove(session_ref=session_ref, moved_at=from_micros(at), from_hash=before, to_hash=after)
            for at, before, after in rows
        ]

    def _known(self, session_ref: str) -> SessionState:
        session = self.get(session_ref)
        if session is None:
            raise NotFound("no such session")
        return session
