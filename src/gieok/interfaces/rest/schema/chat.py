"""Chat, sessions, their messages, and jobs."""

from __future__ import annotations

from typing import Annotated, Any, cast
from uuid import UUID

from pydantic import BeforeValidator, Field

from gieok import wire
from gieok.app import ChatTurn
from gieok.engine import ExecutionPlan, make_plan
from gieok.errors import PlanInvalid
from gieok.interfaces.rest.schema.common import (
    Answer,
    Content,
    MessageIn,
    Messages,
    Ref,
    RequestBody,
    Window,
    example,
)
from gieok.interfaces.rest.schema.memory import MemoryView, localised, memory_view
from gieok.interfaces.rest.schema.personas import fact_view
from gieok.memory.canon.records import FactChange
from gieok.memory.companion.records import MemoryHit
from gieok.memory.jobs.records import Job
from gieok.memory.sessions.records import PlanMove, Session
from gieok.plans import is_shipped, plan_names


def _name_or_plan(value: object) -> object:
    if not isinstance(value, str | dict):
        raise ValueError("must be the name of a plan, or a whole plan")  # noqa: TRY004  for pydantic to tell
    return cast(object, value)


PlanIn = Annotated[
    str | dict[str, Any],
    BeforeValidator(_name_or_plan),
    Field(description="The name of a plan that comes with Gieok, or a whole plan."),
]


def to_plan(plan: str | dict[str, Any]) -> str | ExecutionPlan:
    """PlanInvalid for what is neither. A file's path is no name here: it would read the server's disk."""
    if isinstance(plan, dict):
        return make_plan(plan)
    if not is_shipped(plan):
        known = ", ".join(plan_names())
        raise PlanInvalid(f"there is no plan of this name; send a whole plan, or one of: {known}", at="plan")
    return plan


class ChatContext(RequestBody):
    """What a client that keeps its own window sends along."""

    recent_messages: Window = Field(default_factory=list[MessageIn])


class SendMessage(RequestBody):
    """Without `sessionId` a new session begins. `plan` is needed where a session runs a plan of its own."""

    model_config = example(
        personaId="persona_123",
        message="오늘 날씨 어때?",
        context={
            "recentMessages": [
                {"role": "user", "content": "요즘 스트레스 받아"},
                {"role": "assistant", "content": "무슨 일 있어? 들어줄게"},
            ]
        },
    )

    persona_id: Ref
    message: Content
    session_id: Ref | None = None
    context: ChatContext | None = None
    plan: PlanIn | None = None
    stream: bool = False


class ChatAnswer(wire.ChatTurn[MemoryView], Answer):
    """The reply, what it was based on, what it changed, and what the user is to be told."""

    model_config = example(
        success=True,
        sessionId="session_456",
        reply="어제 면접 어땠어?! 정말 궁금하다!",
        recalled=[],
        state=[{"category": "GOAL", "key": "취업", "value": "IT 스타트업 입사를 준비 중"}],
        changes=[],
        summaryJobs=[],
        notices=[],
        planHash="4b1d3c7e9a0f5d2b8c6e4f1a3d5b7c9e0f2a4c6e8b0d1f3a5c7e9b1d3f5a7c9e",
        usage={"inputTokens": 214, "outputTokens": 12},
    )


def chat_answer(turn: ChatTurn, *, korean: bool) -> ChatAnswer:
    return ChatAnswer(
        session_id=turn.session_ref,
        reply=turn.reply,
        recalled=tuple(_recalled(hit) for hit in turn.recalled),
        state=tuple(
            wire.StateLine(category=fact.category, key=fact.key, value=fact.value) for fact in turn.state
        ),
        changes=tuple(_change(change) for change in turn.changes),
        memory=memory_view(turn.memory, korean=korean) if turn.memory else None,
        summary_jobs=turn.summary_jobs,
        notices=localised(turn.notices, korean=korean),
        plan_hash=turn.plan_hash,
        usage=wire.Usage(input_tokens=turn.usage.input_tokens, output_tokens=turn.usage.output_tokens),
    )


def _recalled(hit: MemoryHit) -> wire.Recalled:
    memory = hit.memory
    return wire.Recalled(
        id=memory.id, summary=memory.summary, timestamp=memory.timestamp, score=hit.score, why=hit.why
    )


def _change(change: FactChange) -> wire.FactChange:
    return wire.FactChange(outcome=change.outcome, fact=fact_view(change.fact) if change.fact else None)


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


class StartSession(RequestBody):
    model_config = example(personaId="persona_123", plan="chat_turn")

    persona_id: Ref
    plan: PlanIn | None = None


class SaveMessages(RequestBody):
    """Messages in the order in which they were said. One whose `id` is known changes nothing."""

    model_config = example(messages=[{"id": "m1", "role": "user", "content": "요즘 스트레스 받아"}])

    messages: Messages


class PlanBody(RequestBody):
    model_config = example(plan="chat_turn")

    plan: PlanIn


class CloseSession(RequestBody):
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
