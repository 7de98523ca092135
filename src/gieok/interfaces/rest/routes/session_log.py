"""Sessions as a log: list them, read every message, withdraw turns, delete one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query

from gieok import wire
from gieok.interfaces.rest.gateway.body import JsonRoute
from gieok.interfaces.rest.gateway.caller import Reader, Writer
from gieok.interfaces.rest.schema.common import failures
from gieok.interfaces.rest.schema.params import (
    IdempotencyKey,
    JobFilter,
    Limit,
    PersonaFilter,
    SessionPath,
    TurnFilter,
    TurnPath,
    request_key,
)
from gieok.interfaces.rest.schema.session_log import (
    CyclesAnswer,
    DeletedSessionAnswer,
    LogAnswer,
    SessionsAnswer,
    WithdrawnAnswer,
)
from gieok.memory.sessions.records import MAX_MESSAGES

router = APIRouter(prefix="/sessions", tags=["sessions"], route_class=JsonRoute)

LogLimit = Annotated[int, Query(ge=1, le=MAX_MESSAGES, description="The largest number of messages.")]


@router.get("", responses=failures(), summary="List sessions, newest first")
async def list_(
    caller: Reader, persona_id: PersonaFilter = None, limit: Limit = 20, cursor: str | None = None
) -> SessionsAnswer:
    """With one persona, or with all. `cursor` is the `nextCursor` of the previous page."""
    page = await caller.user.sessions.list(persona_id, limit=limit, cursor=cursor)
    return SessionsAnswer(**dict(page))


@router.get("/{id}/messages", responses=failures(404), summary="Read the whole log of a session")
async def messages(
    session_id: SessionPath, caller: Reader, limit: LogLimit = 100, cursor: str | None = None
) -> LogAnswer:
    """Oldest first, also after the session has ended and was summarised."""
    page = await caller.user.sessions.log_page(session_id, limit=limit, cursor=cursor)
    return LogAnswer(**dict(page))


@router.get("/{id}/cycles", responses=failures(404), summary="Read how the turns of a session ran")
async def cycles(
    session_id: SessionPath,
    caller: Reader,
    turn_id: TurnFilter = None,
    job_id: JobFilter = None,
    limit: Limit = 20,
    cursor: str | None = None,
) -> CyclesAnswer:
    """The records of its turns and jobs, newest first: the plan, each step with its times and counts, and the
    ids of what was recalled. No content. `GIEOK_KEEP_CYCLES` says how many records of an owner are stored.
    """
    page = await caller.user.sessions.cycles(
        session_id, turn_id=turn_id, job_id=job_id, limit=limit, cursor=cursor
    )
    return CyclesAnswer(**dict(page))


@router.delete("/{id}", responses=failures(404, 409), summary="Delete a session")
async def delete(
    session_id: SessionPath,
    caller: Writer,
    cascade: Annotated[bool, Query()] = False,
    idempotency_key: IdempotencyKey = None,
) -> DeletedSessionAnswer:
    """Permanently, with its messages and turn memories. Memories and facts stay.

    `cascade=true` also deletes the memories of the session, and the facts whose current version comes from
    it, with their history.
    """
    once = request_key(idempotency_key, None, session_id, str(cascade))
    deleted = await caller.user.sessions.delete(session_id, cascade=cascade, once=once)
    return DeletedSessionAnswer(deleted=wire.DeletedSession(**asdict(deleted)))


@router.delete("/{id}/turns/last", responses=failures(404, 409), summary="Withdraw the last turn")
async def withdraw_last(
    session_id: SessionPath, caller: Writer, idempotency_key: IdempotencyKey = None
) -> WithdrawnAnswer:
    """Its messages stay in the log, marked `withdrawnAt`. What was remembered of them goes back."""
    once = request_key(idempotency_key, None, session_id, "last")
    return WithdrawnAnswer(withdrawn=await caller.user.sessions.withdraw(session_id, once=once))


@router.delete(
    "/{id}/turns/{turnId}", responses=failures(404, 409), summary="Withdraw a turn and all later ones"
)
async def withdraw(
    session_id: SessionPath, turn_id: TurnPath, caller: Writer, idempotency_key: IdempotencyKey = None
) -> WithdrawnAnswer:
    """As the last turn. A turn that was withdrawn before answers with zeros and changes nothing."""
    once = request_key(idempotency_key, None, session_id, turn_id)
    return WithdrawnAnswer(withdrawn=await caller.user.sessions.withdraw(session_id, turn_id, once=once))
