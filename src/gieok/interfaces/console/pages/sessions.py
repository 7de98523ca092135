"""Conversations: the log with the message that something comes from, the plan, and the jobs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from gieok.app.background.jobs import MAX_JOBS
from gieok.interfaces.console.page import Page, ReadPage, WritePage
from gieok.interfaces.rest.schema.common import parse_ref
from gieok.interfaces.rest.schema.params import JobPath, SessionPath
from gieok.memory.sessions.records import Session
from gieok.plans import plan_name

router = APIRouter(prefix="/sessions")

PAGE_SIZE = 25
LOG_SIZE = 100
JOBS = 50
RECORDS = 200
"""The last cycle records that are looked at."""


@router.get("")
async def show(page: ReadPage) -> Response:
    """The conversations, newest first, and the newest jobs."""
    persona_id = page.query.get("persona") or None
    try:
        persona_id = parse_ref(persona_id) if persona_id else None
    except ValueError:
        persona_id = None
    cursor = page.query.get("cursor") or None
    found = await page.user.sessions.list(persona_id, limit=PAGE_SIZE, cursor=cursor)
    personas = await page.user.personas.list()
    return page.render(
        "sessions.html",
        sessions=found.sessions,
        next_cursor=found.next_cursor,
        personas=personas,
        names={persona.id: persona.name for persona in personas},
        persona_id=persona_id,
        jobs=await page.user.jobs.list(limit=JOBS),
    )


@router.post("/jobs/{id}/retry")
async def retry(job_id: JobPath, page: WritePage) -> Response:
    """Run a failed job again."""
    await page.user.jobs.retry(job_id)
    return page.redirect("sessions", done="retried")


@router.get("/{id}")
async def one(session_id: SessionPath, page: ReadPage) -> Response:
    """One conversation. `message` in the URL marks a message."""
    return page.render("session.html", **await _shown(page, session_id))


@router.get("/{id}/delete")
async def confirm(session_id: SessionPath, page: WritePage) -> Response:
    session = (await page.user.sessions.get(session_id)).session
    return page.render("session_delete.html", session=session)


@router.post("/{id}/delete")
async def delete(session_id: SessionPath, page: WritePage) -> Response:
    """Delete the messages; with `cascade` also the memories and facts that came from them."""
    await page.user.sessions.delete(session_id, cascade=bool(page.form.get("cascade")))
    return page.redirect("sessions", done="session_deleted")


async def _shown(page: Page, session_ref: str) -> dict[str, Any]:
    session = (await page.user.sessions.get(session_ref)).session
    marked = page.query.get("message")
    after = await _before(page, session, marked) if marked else _number(page.query.get("after", ""))
    messages = await page.user.sessions.log(session_ref, after=after, limit=LOG_SIZE)
    jobs = [job for job in await page.user.jobs.list(limit=MAX_JOBS) if job.subject == session_ref]
    return {
        "session": session,
        "messages": messages,
        "marked": marked,
        "previous": max(0, after - LOG_SIZE) if after else None,
        "next": after + LOG_SIZE if after + len(messages) < session.log_length else None,
        "jobs": jobs,
        "results": {job.id: await page.user.jobs.result(job.id) for job in jobs if job.kind == "remember"},
        "recorded": await recorded_turns(page, session_ref),
        "plan": plan_name(session.last_execution_plan_hash),
    }


async def recorded_turns(page: Page, session_ref: str) -> set[str]:
    """The turns of a session whose records are stored, of the last ones."""
    found = await page.user.sessions.cycles(session_ref, limit=RECORDS)
    return {cycle.turn_id for cycle in found.cycles if cycle.turn_id is not None}


async def _before(page: Page, session: Session, message_id: str) -> int:
    """The number of messages before the page of the log that has this message; 0 if it has none."""
    for after in range(0, session.log_length, LOG_SIZE):
        messages = await page.user.sessions.log(session.session_ref, after=after, limit=LOG_SIZE)
        if any(message.id == message_id for message in messages):
            return after
    return 0


def _number(text: str) -> int:
    return int(text) if text.isdigit() and len(text) < 10 else 0
