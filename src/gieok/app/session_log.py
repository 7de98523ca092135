"""Reading sessions: lists, logs, and how their turns ran."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from gieok.adapters.sql.scope import OwnerScope, SqlView
from gieok.errors import InputRefused, NotFound
from gieok.memory.cursors import decode_cursor, encode_cursor
from gieok.memory.cycle_records import CyclePage, CyclePosition, StoredCycle
from gieok.memory.sessions.records import (
    MAX_MESSAGES,
    ChatMessage,
    LogPage,
    LogPosition,
    MessageRange,
    Session,
    SessionInfo,
    SessionPage,
    SessionPosition,
)
from gieok.memory.sessions.store import LogView
from gieok.refs import check_ref

PAGE = 20
MAX_LIST = 1_000


class SessionLog:
    """One owner's sessions, to read."""

    def __init__(self, scope: OwnerScope) -> None:
        self._scope = scope

    async def log(
        self, session_ref: str, *, after: int = 0, limit: int = MAX_MESSAGES
    ) -> Sequence[ChatMessage]:
        """The messages after number `after`, oldest first, also of an ended session. Raises NotFound."""
        if after < 0:
            raise InputRefused("must be 0 or more", at="after")
        _check_limit(limit, MAX_MESSAGES)
        span = MessageRange(first=after + 1, last=after + limit)

        def read(view: LogView) -> Sequence[ChatMessage]:
            if view.sessions.get(session_ref) is None:
                raise NotFound("no such session")
            return view.messages.between(session_ref, span)

        return await self._scope.read(read)

    async def last_messages(self, session_ref: str, limit: int = MAX_MESSAGES) -> Sequence[ChatMessage]:
        """The last messages, without withdrawn ones, oldest first, also of an ended session."""
        _check_limit(limit, MAX_MESSAGES)
        return await self._scope.read(lambda view: view.messages.window(session_ref, limit), replica=True)

    async def turn(self, session_ref: str, turn_id: str) -> Sequence[ChatMessage]:
        """The messages of a turn, from this message on. Empty if the session has no such message."""
        check_ref(session_ref, "sessionRef")
        return await self._scope.read(
            lambda view: view.messages.turn(session_ref, check_ref(turn_id, "turnId"))
        )

    async def list(
        self, persona_id: str | None = None, *, limit: int = PAGE, cursor: str | None = None
    ) -> SessionPage:
        """Sessions with one persona or with all, newest first. `cursor` is that of the previous page."""
        _check_limit(limit, MAX_LIST)
        after = decode_cursor(SessionPosition, cursor) if cursor is not None else None
        found = await self._scope.read(
            lambda view: view.sessions.list(persona_id, after, limit + 1), replica=True
        )
        page, last = found[:limit], None
        if len(found) > limit:
            last = SessionPosition(started_at=page[-1].started_at, session_ref=page[-1].session_ref)
        return SessionPage(
            sessions=tuple(_info(each) for each in page),
            next_cursor=encode_cursor(last) if last else None,
        )

    async def log_page(
        self, session_ref: str, *, limit: int = MAX_MESSAGES, cursor: str | None = None
    ) -> LogPage:
        """One page of the whole log, oldest first, also of an ended session. Raises NotFound."""
        _check_limit(limit, MAX_MESSAGES)
        after = decode_cursor(LogPosition, cursor).seq if cursor is not None else 0
        session = await self._session(session_ref)
        messages = await self.log(session_ref, after=after, limit=limit)
        last = after + len(messages)
        has_more = bool(messages) and last < session.log_length
        return LogPage(
            messages=tuple(messages), next_cursor=encode_cursor(LogPosition(seq=last)) if has_more else None
        )

    async def cycles(
        self,
        session_ref: str,
        *,
        turn_id: str | None = None,
        job_id: UUID | None = None,
        limit: int = PAGE,
        cursor: str | None = None,
    ) -> CyclePage:
        """How the turns and the jobs of a session ran, newest first: plans, steps, times, ids recalled.

        `turn_id` or `job_id` selects those of one turn or job. The last GIEOK_KEEP_CYCLES of an owner are
        stored. Cycles that failed or stored nothing have no record. Raises NotFound.
        """
        _check_limit(limit, MAX_LIST)
        after = decode_cursor(CyclePosition, cursor) if cursor is not None else None

        def read(view: SqlView) -> Sequence[StoredCycle]:
            if view.sessions.get(session_ref) is None:
                raise NotFound("no such session")
            return view.cycles.list(session_ref, turn_id=turn_id, job_id=job_id, after=after, limit=limit + 1)

        found = await self._scope.read(read)
        page, last = found[:limit], None
        if len(found) > limit:
            last = CyclePosition(started_at=page[-1].started_at, cycle_id=page[-1].cycle_id)
        return CyclePage(cycles=tuple(page), next_cursor=encode_cursor(last) if last else None)

    async def _session(self, session_ref: str) -> Session:
        session = await self._scope.read(lambda view: view.sessions.get(session_ref))
        if session is None:
            raise NotFound("no such session")
        return session


def _info(session: Session) -> SessionInfo:
    return SessionInfo(**{name: getattr(session, name) for name in SessionInfo.model_fields})


def _check_limit(limit: int, most: int) -> None:
    if not 1 <= limit <= most:
        raise InputRefused(f"must be between 1 and {most}", at="limit")
