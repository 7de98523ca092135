"""Sessions and the jobs that summarise them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Body, Response

from gieok.app.session_plans import CHAT_PLAN
from gieok.errors import NotFound
from gieok.interfaces.rest.gateway.body import JsonRoute
from gieok.interfaces.rest.gateway.caller import Reader, Writer
from gieok.interfaces.rest.routes.memory import summary_answer
from gieok.interfaces.rest.schema.chat import (
    ClosedAnswer,
    CloseSession,
    JobAnswer,
    JobsAnswer,
    MovedAnswer,
    PlanBody,
    SavedAnswer,
    SaveMessages,
    SessionAnswer,
    StartedAnswer,
    StartSession,
    WindowAnswer,
    job_view,
    remembering_view,
    to_plan,
)
from gieok.interfaces.rest.schema.common import failures, json_response, to_chat_messages
from gieok.interfaces.rest.schema.memory import SummaryAnswer
from gieok.interfaces.rest.schema.params import (
    IdempotencyKey,
    JobCursor,
    JobPath,
    Limit,
    Now,
    SessionPath,
    has_more,
    request_key,
)
from gieok.memory.canon.remembering import Remembered
from gieok.memory.decisions.walks import WalkResult
from gieok.memory.jobs.records import Job, JobStatus

router = APIRouter(tags=["sessions"], route_class=JsonRoute)


@router.post(
    "/sessions",
    status_code=201,
    response_model=StartedAnswer,
    responses=failures(404, 409),
    summary="Start a session",
)
async def start(body: StartSession, caller: Writer, idempotency_key: IdempotencyKey = None) -> Response:
    """The session runs `plan` from its first message on, `chat_turn` by default."""
    plan = CHAT_PLAN if body.plan is None else to_plan(body.plan, caller.user)
    once = request_key(idempotency_key, body)
    session = await caller.user.sessions.start(
        body.persona_id, plan=plan, account_plan=caller.account_plan, once=once
    )
    memories = await caller.user.companion.load(body.persona_id)
    answer = StartedAnswer(
        session_ref=session.session_ref,
        plan_hash=session.last_execution_plan_hash,
        memories=tuple(memories),
    )
    return json_response(answer, caller.language, status_code=201)


@router.get("/sessions/{id}", responses=failures(404), summary="Get a session and its message window")
async def get(session_id: SessionPath, caller: Reader) -> WindowAnswer:
    """The recent messages that a reply would be based on. Empty once the session is ended and summarised."""
    view = await caller.user.sessions.get(session_id)
    return WindowAnswer(session=view.session, messages=tuple(view.messages))


@router.post("/sessions/{id}/messages", responses=failures(404, 409), summary="Save messages")
async def save_messages(
    session_id: SessionPath,
    body: SaveMessages,
    now: Now,
    caller: Writer,
    idempotency_key: IdempotencyKey = None,
) -> SavedAnswer:
    """Stored without a reply, and durable when this returns. A message whose `id` exists is ignored.

    A job remembers complete exchanges; `remember: false` leaves these messages out.
    """
    saved = await caller.user.sessions.save(
        session_id,
        to_chat_messages(body.messages, now),
        remember=body.remember,
        wait_memory=body.wait_memory,
        once=request_key(idempotency_key, body, session_id),
    )
    remembering = saved.remembering
    return SavedAnswer(
        saved=saved.appended.added,
        message_count=saved.appended.message_count,
        turn_id=saved.turn_id,
        remembering=remembering_view(remembering),
        changes=remembering.changes if remembering else (),
        dropped=remembering.dropped if remembering else (),
    )


@router.post("/sessions/{id}/resume", responses=failures(404, 409), summary="Resume a session")
async def resume(session_id: SessionPath, body: PlanBody, caller: Writer) -> SessionAnswer:
    """409 `PLAN_HASH_MISMATCH` with both hashes if the session last ran another plan."""
    session = await caller.user.sessions.resume(session_id, to_plan(body.plan, caller.user))
    return SessionAnswer(session=session)


@router.post("/sessions/{id}/plan", responses=failures(404, 409), summary="Move a session to another plan")
async def move(
    session_id: SessionPath, body: PlanBody, caller: Writer, idempotency_key: IdempotencyKey = None
) -> MovedAnswer:
    """The move is recorded in the audit log."""
    once = request_key(idempotency_key, body, session_id)
    moved = await caller.user.sessions.move(session_id, to_plan(body.plan, caller.user), once=once)
    view = await caller.user.sessions.get(session_id)
    return MovedAnswer(session=view.session, move=moved)


@router.post(
    "/sessions/{id}/close",
    response_model=SummaryAnswer | ClosedAnswer,
    responses={
        **failures(404, 409, 502),
        202: {"model": ClosedAnswer, "description": "A job summarises it."},
    },
    summary="End a session",
)
async def close(
    session_id: SessionPath,
    caller: Writer,
    response: Response,
    body: Annotated[CloseSession | None, Body()] = None,
    idempotency_key: IdempotencyKey = None,
) -> ClosedAnswer | Response:
    """A job summarises the messages that are not summarised yet. With `wait: true` this happens at once."""
    wait = body is not None and body.wait
    once = request_key(idempotency_key, body or CloseSession(), session_id)
    closed = await caller.user.sessions.close(session_id, wait=wait, once=once)
    if not wait:
        response.status_code = 202
        jobs = tuple(job.id for job in closed.jobs)
        return ClosedAnswer(job_id=jobs[-1] if jobs else None, job_ids=jobs)
    return await summary_answer(closed, caller)


@router.get("/jobs/{id}", responses=failures(404), summary="Get the status of a job")
async def get_job(job_id: JobPath, caller: Reader) -> JobAnswer:
    """A summary job that is `done` has created the memory `memoryId`.

    `result` is what a remember job changed and refused, or what a walk has found.
    """
    job = await caller.user.jobs.get(job_id)
    result: Remembered | WalkResult | None = await caller.user.jobs.result(job_id)
    if job.kind == "walk" and job.status == "done":
        with suppress(NotFound):  # the result of a walk is stored for some weeks only
            result = await caller.user.decisions.walk_result(job_id)
    return JobAnswer(job=job_view(job, result))


@router.get("/jobs", responses=failures(404), summary="List jobs")
async def list_jobs(
    caller: Reader,
    status: JobStatus | None = None,
    limit: Limit = 50,
    cursor: JobCursor | None = None,
) -> JobsAnswer:
    """Newest first. `cursor` is the `nextCursor` of the previous page."""
    jobs = await caller.user.jobs.list(status=status, limit=limit, after=cursor)

    async def after(job: Job) -> Sequence[Job]:
        return await caller.user.jobs.list(status=status, limit=1, after=job.id)

    more = await has_more(jobs, limit, after)
    return JobsAnswer(jobs=tuple(map(job_view, jobs)), next_cursor=str(jobs[-1].id) if more else None)


@router.post("/jobs/{id}/retry", status_code=202, responses=failures(404, 409), summary="Retry a failed job")
async def retry_job(job_id: JobPath, caller: Writer, idempotency_key: IdempotencyKey = None) -> JobAnswer:
    """409 `CONFLICT` for a job that has not failed."""
    once = request_key(idempotency_key, None, str(job_id))
    return JobAnswer(job=job_view(await caller.user.jobs.retry(job_id, once=once)))
