"""`client.chat` and `client.sessions`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any
from uuid import UUID, uuid4

from gieok.client.errors import AnswerUnknown, ServiceUnreachable, to_error
from gieok.client.transport import Call, ServerSentEvent, Transport, path, server_sent_events
from gieok.engine import ExecutionPlan
from gieok.memory.companion.records import Memory
from gieok.memory.conversation.records import Message
from gieok.memory.cycle_records import CyclePage
from gieok.memory.jobs.records import JobStatus, ServiceJobs
from gieok.memory.sessions.records import ChatMessage, LogPage, SessionInfo, SessionPage, Withdrawal
from gieok.wire import (
    ChatTurn,
    DeletedSession,
    JobPage,
    JobState,
    MovedSession,
    SavedMessages,
    SessionWindow,
    StartedSession,
    WireModel,
)

Plan = str | Mapping[str, Any] | ExecutionPlan
"""The name of a shipped plan, or a whole plan."""


class Token(WireModel):
    """A piece of a reply, as it is streamed."""

    text: str


class ClosedSession(WireModel):
    """A session that has ended: the jobs that summarise it; with `wait`, the memory and the notices."""

    job_id: UUID | None = None
    job_ids: tuple[UUID, ...] = ()
    memory: Memory | None = None
    notices: tuple[str, ...] = ()


class Chat:
    """Conversations with personas. A turn is never stored twice: each has an Idempotency-Key."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def send(  # noqa: PLR0913  options of a public call, all by keyword
        self,
        persona_id: str,
        message: str,
        *,
        session_ref: str | None = None,
        new_session: bool = False,
        message_id: str | None = None,
        recent_messages: Sequence[Message] = (),
        plan: Plan | None = None,
        wait_memory: bool = False,
        idempotency_key: str | None = None,
    ) -> ChatTurn:
        """Run one turn. It is stored completely or not at all.

        Without `session_ref` the open session with the persona continues, or one starts; `new_session` starts
        one in any case.
        A job remembers it; `wait_memory` waits for that and returns what changed and what was refused.
        Each call has an Idempotency-Key, the given one or a new one, so a retry is safe. A `message_id` does
        the same for a message: with another text it is a Conflict.

        `plan` is required if the session runs a custom plan. NotFound, SessionEnded, PlanHashMismatch,
        ModelUnavailable.
        """
        body = _turn_body(persona_id, message, session_ref, recent_messages, plan)
        body |= {"newSession": new_session, "messageId": message_id, "waitMemory": wait_memory}
        call = Call("POST", "/chat/send", body=body, idempotency_key=idempotency_key or str(uuid4()))
        return await self._transport.request(call, ChatTurn)

    async def stream(  # noqa: PLR0913  as `send`
        self,
        persona_id: str,
        message: str,
        *,
        session_ref: str | None = None,
        new_session: bool = False,
        message_id: str | None = None,
        recent_messages: Sequence[Message] = (),
        plan: Plan | None = None,
        wait_memory: bool = False,
        idempotency_key: str | None = None,
    ) -> AsyncGenerator[Token | ChatTurn]:
        """Yield the reply in pieces as it is generated, then the finished turn. Errors are those of `send`.

        Closing the generator early cancels the turn; nothing of it is stored then. A stream is not retried:
        with the same `idempotency_key` or `message_id` you can do so, and get the reply in one piece.
        """
        body = _turn_body(persona_id, message, session_ref, recent_messages, plan)
        body |= {
            "newSession": new_session,
            "messageId": message_id,
            "waitMemory": wait_memory,
            "stream": True,
        }
        call = Call("POST", "/chat/send", body=body, idempotency_key=idempotency_key)
        async with aclosing(self._events(call)) as events:
            async for part in events:
                yield part

    async def regenerate(
        self,
        session_ref: str,
        *,
        plan: Plan | None = None,
        wait_memory: bool = False,
        idempotency_key: str | None = None,
    ) -> ChatTurn:
        """Make another reply to the last message. The former turn is withdrawn in the same commit.

        If the model fails, nothing changes. `plan`, `idempotency_key` and errors as in `send`.
        """
        body = {"sessionId": session_ref, "plan": _plan_document(plan), "waitMemory": wait_memory}
        call = Call("POST", "/chat/regenerate", body=body, idempotency_key=idempotency_key or str(uuid4()))
        return await self._transport.request(call, ChatTurn)

    async def stream_again(
        self,
        session_ref: str,
        *,
        plan: Plan | None = None,
        wait_memory: bool = False,
        idempotency_key: str | None = None,
    ) -> AsyncGenerator[Token | ChatTurn]:
        """As `regenerate`, with the reply in pieces, as `stream` yields it."""
        body = {"sessionId": session_ref, "plan": _plan_document(plan), "waitMemory": wait_memory}
        body["stream"] = True
        call = Call("POST", "/chat/regenerate", body=body, idempotency_key=idempotency_key)
        async with aclosing(self._events(call)) as events:
            async for part in events:
                yield part

    async def _events(self, call: Call) -> AsyncGenerator[Token | ChatTurn]:
        async with aclosing(self._transport.stream(call)) as chunks:
            async for event in server_sent_events(chunks):
                part = _parse_event(event)
                yield part
                if isinstance(part, ChatTurn):
                    return
        raise ServiceUnreachable(
            "the stream ended before the turn; repeat it with the same idempotency key, or read the session"
        )


class Sessions:
    """The sessions of one owner, and background jobs."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def start(
        self, persona_id: str, *, plan: Plan | None = None, idempotency_key: str | None = None
    ) -> StartedSession:
        """Start a session that runs this plan. NotFound if there is no such persona.

        Calls that store something have an Idempotency-Key, the given one or a new one, so a retry is safe.
        """
        body = {"personaId": persona_id, "plan": _plan_document(plan)}
        return await self._transport.request(
            Call("POST", "/sessions", body=body, idempotency_key=idempotency_key or str(uuid4())),
            StartedSession,
        )

    async def get(self, session_ref: str) -> SessionWindow:
        """The session with its working memory, which is empty after it has ended and was summarised."""
        return await self._transport.request(Call("GET", path("sessions", session_ref)), SessionWindow)

    async def save_messages(
        self, session_ref: str, messages: Sequence[ChatMessage], *, idempotency_key: str | None = None
    ) -> SavedMessages:
        """Save messages without a model call. An id that exists already is skipped: repeating is safe."""
        call = Call(
            "POST",
            path("sessions", session_ref, "messages"),
            body={"messages": list(messages)},
            idempotency_key=idempotency_key or str(uuid4()),
        )
        return await self._transport.request(call, SavedMessages)

    async def list(
        self, persona_id: str | None = None, *, limit: int | None = None, cursor: str | None = None
    ) -> SessionPage:
        """Sessions with one persona or with all, newest first. `cursor` is that of the previous page."""
        query = {"personaId": persona_id, "limit": limit, "cursor": cursor}
        return await self._transport.request(Call("GET", "/sessions", query), SessionPage)

    async def messages(
        self, session_ref: str, *, limit: int | None = None, cursor: str | None = None
    ) -> LogPage:
        """The whole log of a session, oldest first, page by page."""
        call = Call("GET", path("sessions", session_ref, "messages"), {"limit": limit, "cursor": cursor})
        return await self._transport.request(call, LogPage)

    async def cycles(
        self,
        session_ref: str,
        *,
        turn_id: str | None = None,
        job_id: UUID | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> CyclePage:
        """How the turns and jobs of a session ran, newest first: plans, steps, times; no content."""
        query = {"turnId": turn_id, "jobId": job_id, "limit": limit, "cursor": cursor}
        return await self._transport.request(
            Call("GET", path("sessions", session_ref, "cycles"), query), CyclePage
        )

    async def delete(
        self, session_ref: str, *, cascade: bool = False, idempotency_key: str | None = None
    ) -> DeletedSession:
        """Delete a session permanently. `cascade` also deletes memories and facts that came from it."""
        call = Call(
            "DELETE",
            path("sessions", session_ref),
            {"cascade": cascade},
            idempotency_key=idempotency_key or str(uuid4()),
        )
        return await self._transport.request(call, DeletedSession, field="deleted")

    async def withdraw(
        self, session_ref: str, turn_id: str | None = None, *, idempotency_key: str | None = None
    ) -> Withdrawal:
        """Withdraw a turn and all later ones, by default the last one. Counts what went back.

        NotFound if the session has no such turn. A turn that was withdrawn before is not withdrawn again.
        """
        call = Call(
            "DELETE",
            path("sessions", session_ref, "turns", turn_id or "last"),
            idempotency_key=idempotency_key or str(uuid4()),
        )
        return await self._transport.request(call, Withdrawal, field="withdrawn")

    async def resume(self, session_ref: str, plan: Plan) -> SessionInfo:
        """The session, if this is the plan that it ran last; PlanHashMismatch otherwise."""
        body = {"plan": _plan_document(plan)}
        call = Call("POST", path("sessions", session_ref, "resume"), body=body)
        return await self._transport.request(call, SessionInfo, field="session")

    async def move(self, session_ref: str, plan: Plan, *, idempotency_key: str | None = None) -> MovedSession:
        """Move a session to another plan. The move is recorded in the audit trail."""
        body = {"plan": _plan_document(plan)}
        call = Call(
            "POST",
            path("sessions", session_ref, "plan"),
            body=body,
            idempotency_key=idempotency_key or str(uuid4()),
        )
        return await self._transport.request(call, MovedSession)

    async def close(
        self, session_ref: str, *, wait: bool = False, idempotency_key: str | None = None
    ) -> ClosedSession:
        """End a session and summarise the rest of it; `wait` until that is done.

        SummaryFailed if it waited and the model failed. Closing again changes nothing.
        """
        call = Call(
            "POST",
            path("sessions", session_ref, "close"),
            body={"wait": wait},
            idempotency_key=idempotency_key or str(uuid4()),
        )
        return await self._transport.request(call, ClosedSession)


class Jobs:
    """Background jobs of one owner."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def get(self, job_id: UUID) -> JobState:
        """The progress and the result of a job; NotFound if there is none."""
        return await self._transport.request(Call("GET", path("jobs", job_id)), JobState, field="job")

    async def list(
        self, *, status: JobStatus | None = None, limit: int = 50, cursor: str | None = None
    ) -> JobPage:
        """Jobs, newest first. `cursor` is the `next_cursor` of the previous page."""
        query = {"status": status, "limit": limit, "cursor": cursor}
        return await self._transport.request(Call("GET", "/jobs", query=query), JobPage)

    async def of_all(
        self, *, status: JobStatus | None = None, limit: int = 50, cursor: str | None = None
    ) -> ServiceJobs:
        """The jobs of all owners, without content. Needs a token with the scope `operator`."""
        query = {"status": status, "limit": limit, "cursor": cursor}
        return await self._transport.request(Call("GET", "/operator/jobs", query=query), ServiceJobs)

    async def retry(self, job_id: UUID, *, idempotency_key: str | None = None) -> JobState:
        """Run a failed job again; Conflict if it has not failed."""
        call = Call(
            "POST", path("jobs", job_id, "retry"), body={}, idempotency_key=idempotency_key or str(uuid4())
        )
        return await self._transport.request(call, JobState, field="job")


def _plan_document(plan: Plan | None) -> str | Mapping[str, Any] | None:
    return plan.document if isinstance(plan, ExecutionPlan) else plan


def _turn_body(
    persona_id: str, message: str, session_ref: str | None, recent: Sequence[Message], plan: Plan | None
) -> dict[str, Any]:
    return {
        "personaId": persona_id,
        "message": message,
        "sessionId": session_ref,
        "context": {"recentMessages": list(recent)} if recent else None,
        "plan": _plan_document(plan),
    }


def _parse_event(event: ServerSentEvent) -> Token | ChatTurn:
    if event.name == "error":
        raise to_error(200, event.data, {})
    kind = {"token": Token, "done": ChatTurn}.get(event.name)
    try:
        if kind is not None:
            return kind.model_validate_json(event.data, extra="ignore")
    except ValueError:
        pass
    raise AnswerUnknown(f"the stream contains an event '{event.name[:20]}' that this client cannot read")
