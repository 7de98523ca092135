"""Bodies and answers of the chat, session and job routes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, cast
from uuid import UUID

from pydantic import BeforeValidator, Field

from gieok import wire
from gieok.app import ChatTurn, User
from gieok.app.background.jobs import Remembering
from gieok.app.context import PromptContext
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
from gieok.interfaces.rest.schema.memory import localised
from gieok.memory.canon.remembering import Remembered
from gieok.memory.companion.hits import Hit
from gieok.memory.conversation.steps import MAX_BUDGET
from gieok.memory.decisions.walks import WalkResult
from gieok.memory.fields import Language
from gieok.memory.jobs.records import Job, ServiceJobs
from gieok.memory.sessions.records import SessionInfo
from gieok.plans import is_shipped, plan_names


def _name_or_plan(value: object) -> object:
    if not isinstance(value, str | dict):
        raise ValueError("must be the name of a plan, or a whole plan")  # noqa: TRY004  pydantic reports ValueError
    return cast(object, value)


PlanIn = Annotated[
    str | dict[str, Any],
    BeforeValidator(_name_or_plan),
    Field(description="The name of a plan that comes with Gieok, or a whole plan."),
]


def to_plan(plan: str | dict[str, Any], user: User) -> str | ExecutionPlan:
    """The name of a shipped plan, or a parsed plan for conversations. PlanInvalid for anything else.

    A file path is not accepted: it would read the disk of the server.
    """
    if isinstance(plan, dict):
        return user.check_caller_plan(make_plan(plan))
    if not is_shipped(plan):
        known = ", ".join(plan_names())
        raise PlanInvalid(
            f"there is no shipped plan with this name; send a whole plan, or one of: {known}", at="plan"
        )
    return plan


class ChatContext(RequestBody):
    """Recent messages, from a client that keeps the conversation itself."""

    recent_messages: Window = Field(default_factory=list[MessageIn])


class SendMessage(RequestBody):
    """Without `sessionId` the open session with the persona continues, or one starts.

    `newSession: true` starts one in any case. `plan` is required if the session runs a custom plan.
    """

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
    new_session: bool = False
    context: ChatContext | None = None
    plan: PlanIn | None = None
    message_id: Ref | None = None
    wait_memory: bool = False
    stream: bool = False


class Regenerate(RequestBody):
    """`plan` is required if the session runs a custom plan."""

    model_config = example(sessionId="session_456")

    session_id: Ref
    plan: PlanIn | None = None
    wait_memory: bool = False
    stream: bool = False


class ContextRequest(RequestBody):
    """Without `sessionId` it is about the open session with the persona."""

    model_config = example(personaId="persona_123", message="면접 준비 어떻게 됐지?", budget=4000)

    persona_id: Ref
    session_id: Ref | None = None
    message: Content | None = None
    budget: Annotated[int, Field(ge=1, le=MAX_BUDGET, description="In tokens.")] | None = None


class PromptAnswer(wire.PromptContext, Answer):
    """A prompt for a model of your own. Nothing is stored."""

    model_config = example(
        success=True,
        prompt={
            "system": "너는 하나야.\n\n[오늘 날짜] 2026-03-05 (목요일)",
            "messages": [{"role": "user", "content": "면접 준비 어떻게 됐지?"}],
        },
        parts=[
            {"kind": "persona", "tokens": 6, "count": 1, "leftOut": 0},
            {"kind": "today", "tokens": 15, "count": 1, "leftOut": 0},
            {"kind": "window", "tokens": 9, "count": 1, "leftOut": 0},
        ],
        recalled=[],
        tokens=30,
        budget=4000,
    )


def context_answer(made: PromptContext) -> PromptAnswer:
    """The answer to a request for a context."""
    prompt = wire.PromptText(system=made.prompt.system, messages=made.prompt.messages)
    return PromptAnswer(
        success=True,
        prompt=prompt,
        parts=made.parts,
        recalled=recalled_items(made.recalled),
        tokens=made.tokens,
        budget=made.budget,
    )


class ChatAnswer(wire.ChatTurn, Answer):
    """The reply, what it was based on, what it changed, and notices for the user."""

    model_config = example(
        success=True,
        sessionId="session_456",
        reply="어제 면접 어땠어?! 정말 궁금하다!",
        recalled=[],
        degraded=[],
        state=[
            {
                "category": "GOAL",
                "key": "취업",
                "value": "IT 스타트업 입사",
                "when": None,
                "until": None,
            }
        ],
        turnId="m_789",
        remembering={"jobId": "b1a5e1c2-3d4f-4a6b-8c7d-9e0f1a2b3c4d", "status": "queued"},
        changes=[],
        dropped=[],
        summaryJobs=[],
        notices=[],
        planHash="4b1d3c7e9a0f5d2b8c6e4f1a3d5b7c9e0f2a4c6e8b0d1f3a5c7e9b1d3f5a7c9e",
        usage={"inputTokens": 214, "outputTokens": 12},
    )


def remembering_view(remembering: Remembering | None) -> wire.RememberingJob | None:
    """The job that remembers a turn, without its result."""
    if remembering is None:
        return None
    return wire.RememberingJob(job_id=remembering.job_id, status=remembering.status)


def recalled_items(hits: Sequence[Hit]) -> tuple[wire.RecalledItem, ...]:
    """What was recalled, as an answer shows it."""
    return tuple(
        wire.RecalledItem(
            kind=hit.kind,
            id=hit.id,
            summary=hit.text,
            timestamp=hit.timestamp,
            role=hit.role,
            speaker=hit.speaker,
            session_ref=hit.session_ref,
            score=hit.score,
            confidence=hit.confidence,
            why=hit.why,
        )
        for hit in hits
    )


def chat_answer(turn: ChatTurn, language: Language) -> ChatAnswer:
    """A turn as the API shows it, with notices in this language."""
    return ChatAnswer(
        session_ref=turn.session_ref,
        reply=turn.reply,
        recalled=recalled_items(turn.recalled),
        degraded=turn.degraded,
        state=tuple(wire.StateItem.model_validate(fact) for fact in turn.state),
        turn_id=turn.turn_id,
        remembering=remembering_view(turn.remembering),
        changes=turn.changes,
        dropped=turn.dropped,
        memory=turn.memory,
        summary_jobs=turn.summary_jobs,
        notices=localised(turn.notices, language),
        plan_hash=turn.plan_hash,
        usage=wire.Usage(input_tokens=turn.usage.input_tokens, output_tokens=turn.usage.output_tokens),
    )


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
    """Messages, oldest first. A message whose `id` the session has already is skipped."""

    model_config = example(messages=[{"id": "m1", "role": "user", "content": "요즘 스트레스 받아"}])

    messages: Messages
    remember: bool = True
    wait_memory: bool = False


class PlanBody(RequestBody):
    model_config = example(plan="chat_turn")

    plan: PlanIn


class CloseSession(RequestBody):
    """With `wait: true` the answer comes after the session has been summarised."""

    model_config = example(wait=True)

    wait: bool = False


class StartedAnswer(wire.StartedSession, Answer):
    """The new session, and the memories that its conversation starts with."""

    model_config = example(success=True, sessionId="session_456", planHash=_HASH, memories=[])


class SessionAnswer(Answer):
    model_config = example(success=True, session=_SESSION)

    session: SessionInfo


class WindowAnswer(wire.SessionWindow, Answer):
    """The session and its working memory: the last messages; none after it has ended and was summarised."""

    model_config = example(
        success=True,
        session=_SESSION,
        messages=[
            {"id": "m1", "role": "user", "content": "요즘 스트레스 받아", "timestamp": "2025-10-27T12:00:00Z"}
        ],
    )


class SavedAnswer(wire.SavedMessages, Answer):
    """How many of the messages were new, and how many the session has now."""

    model_config = example(
        success=True, saved=1, messageCount=3, turnId="m1", remembering=None, changes=[], dropped=[]
    )


class MovedAnswer(wire.MovedSession, Answer):
    """The session with its new plan, and the audit entry of the move."""

    model_config = example(
        success=True,
        session=_SESSION,
        move={"movedAt": "2025-10-27T12:05:00Z", "fromHash": _HASH, "toHash": _HASH},
    )


class ClosedAnswer(Answer):
    """The job that summarises the newest messages; null if every message was summarised before."""

    model_config = example(success=True, jobId=_JOB, jobIds=[_JOB])

    job_id: UUID | None
    job_ids: tuple[UUID, ...]


class JobAnswer(Answer):
    model_config = example(success=True, job={"id": _JOB, "kind": "summary", "status": "done", "attempts": 1})

    job: wire.JobState


class JobsAnswer(wire.JobPage, Answer):
    model_config = example(
        success=True,
        jobs=[
            {"id": _JOB, "kind": "remember", "status": "failed", "attempts": 6, "error": "MODEL_UNAVAILABLE"}
        ],
        nextCursor=None,
    )


class ServiceJobsAnswer(ServiceJobs, Answer):
    model_config = example(
        success=True,
        jobs=[
            {
                "owner": "ana",
                "id": _JOB,
                "kind": "remember",
                "status": "failed",
                "attempts": 6,
                "error": "MODEL_UNAVAILABLE",
                "dueAt": None,
                "createdAt": "2025-10-27T12:00:00Z",
            }
        ],
        counts=[{"kind": "remember", "status": "failed", "count": 1}],
        nextCursor=None,
    )


def job_view(job: Job, result: Remembered | WalkResult | None = None) -> wire.JobState:
    """A job as the API shows it: `done` as soon as it has made a memory."""
    return wire.JobState(
        id=job.id,
        kind=job.kind,
        status=job.status if job.memory_id is None else "done",
        attempts=job.attempts,
        error=job.error,
        memory_id=job.memory_id,
        result=wire.Remembered(**dict(result)) if isinstance(result, Remembered) else result,
    )
