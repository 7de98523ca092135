"""Sessions and their jobs, as clients see them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from gieok import wire
from gieok.interfaces.rest.wire.base import Answer, Asked, example
from gieok.interfaces.rest.wire.fields import Ref
from gieok.interfaces.rest.wire.memory import MemoryView
from gieok.interfaces.rest.wire.messages import Messages
from gieok.interfaces.rest.wire.plans import PlanIn
from gieok.memory.jobs.records import Job
from gieok.memory.sessions.records import PlanMove, Session

_HASH = "4b1d3c7e9a0f5d2b8c6e4f1a3d5b7c9e0f2a4c6e8b0d1f3a5c7e9b1d3f5a7c9e"
_SESSION: dict[str, Any] = {
    "sessionId": "session_456",
    "personaId": "persona_123",
    "startedAt": "2025-10-27T12:00:00Z",
    "lastActivityAt": "2025-10-27T12:04:00Z",
    "endedAt": None,
    "messageCount": 2,
    "lastExecutionPlanHash": _HASH,
}
_JOB = "b1a5e1c2-3d4f-4a6b-8c7d-9e0f1a2b3c4d"


class StartSession(Asked):
    model_config = example(personaId="persona_123", plan="chat_turn")

    persona_id: Ref
    plan: PlanIn | None = None


class SaveMessages(Asked):
    """Messages in the order in which they were said. One whose `id` is known changes nothing."""

    model_config = example(messages=[{"id": "m1", "role": "user", "content": "요즘 스트레스 받아"}])

    messages: Messages


class WithPlan(Asked):
    model_config = example(plan="chat_turn")

    plan: PlanIn


class CloseSession(Asked):
    """`wait` until what was said is summarised."""

    model_config = example(wait=True)

    wait: bool = False


class StartedAnswer(wire.StartedSession[MemoryView], Answer):
    """The new session, and the memories that its conversation begins with."""

    model_config = example(success=True, sessionId="session_456", planHash=_HASH, memories=[])


class SessionAnswer(Answer):
    model_config = example(success=True, session=_SESSION)

    session: wire.Session


class WindowAnswer(wire.Window, Answer):
    """The session and its working memory: the last messages, none once it has ended and is summarised."""

    model_config = example(
        success=True,
        session=_SESSION,
        messages=[
            {"id": "m1", "role": "user", "content": "요즘 스트레스 받아", "timestamp": "2025-10-27T12:00:00Z"}
        ],
    )


class SavedAnswer(wire.Saved, Answer):
    """How many of the messages were new, and how many the session has now."""

    model_config = example(success=True, saved=1, messageCount=3)


class MovedAnswer(wire.MovedSession, Answer):
    """The session on its new plan, and how it came there."""

    model_config = example(
        success=True,
        session=_SESSION,
        move={"movedAt": "2025-10-27T12:05:00Z", "fromHash": _HASH, "toHash": _HASH},
    )


class ClosedAnswer(Answer):
    """The job that summarises the newest messages; null where every message was summarised before."""

    model_config = example(success=True, jobId=_JOB, jobIds=[_JOB])

    job_id: UUID | None
    job_ids: tuple[UUID, ...]


class JobAnswer(Answer):
    model_config = example(success=True, job={"id": _JOB, "kind": "summary", "status": "done", "attempts": 1})

    job: wire.Job


def session_view(session: Session) -> wire.Session:
    return wire.Session(
        session_id=session.session_ref,
        persona_id=session.persona_id,
        started_at=session.started_at,
        last_activity_at=session.last_activity_at,
        ended_at=session.ended_at,
        message_count=session.message_count,
        last_execution_plan_hash=session.last_execution_plan_hash,
    )


def move_view(move: PlanMove) -> wire.PlanMove:
    return wire.PlanMove(moved_at=move.moved_at, from_hash=move.from_hash, to_hash=move.to_hash)


def job_view(job: Job) -> wire.Job:
    """A job that made a memory is done for its client, also where it is to better an excerpt later."""
    return wire.Job(
        id=job.id,
        kind=job.kind,
        status=job.status if job.memory_id is None else "done",
        attempts=job.attempts,
        error=job.error,
        memory_id=job.memory_id,
    )
