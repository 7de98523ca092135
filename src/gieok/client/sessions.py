"""Sessions and their jobs, as `client.sessions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from gieok.client.answers import ClosedSession, StartedSession
from gieok.client.line import Call, Line, path
from gieok.engine import ExecutionPlan
from gieok.memory.sessions.records import ChatMessage
from gieok.wire import Job, MovedSession, Saved, Session, Window

Plan = str | Mapping[str, Any] | ExecutionPlan
"""The name of a plan that comes with Gieok, or a whole plan."""


def plan_document(plan: Plan | None) -> str | Mapping[str, Any] | None:
    """A plan as it travels."""
    return plan.document if isinstance(plan, ExecutionPlan) else plan


class Sessions:
    """One owner's sessions."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def start(self, persona_id: str, *, plan: Plan | None = None) -> StartedSession:
        """Begin a session that is to run this plan. NotFound for a persona that is not there."""
        body = {"personaId": persona_id, "plan": plan_document(plan)}
        return await self._line.ask(Call("POST", "/sessions", body=body), StartedSession)

    async def get(self, session_id: str) -> Window:
        """The session with its working memory, which is empty once it has ended and is summarised."""
        return await self._line.ask(Call("GET", path("sessions", session_id)), Window)

    async def save_messages(self, session_id: str, messages: Sequence[ChatMessage]) -> Saved:
        """Keep messages without a model call. A known id changes nothing, so that this may be repeated."""
        body = {"messages": list(messages)}
        return await self._line.ask(Call("POST", path("sessions", session_id, "messages"), body=body), Saved)

    async def resume(self, session_id: str, plan: Plan) -> Session:
        """The session, if this is the plan that it last ran; PlanHashMismatch otherwise."""
        body = {"plan": plan_document(plan)}
        call = Call("POST", path("sessions", session_id, "resume"), body=body)
        return await self._line.ask(call, Session, "session")

    async def move(self, session_id: str, plan: Plan) -> MovedSession:
        """Move a session to another plan on purpose. The move is kept as an audit entry."""
        body = {"plan": plan_document(plan)}
        return await self._line.ask(
            Call("POST", path("sessions", session_id, "plan"), body=body), MovedSession
        )

    async def close(self, session_id: str, *, wait: bool = False) -> ClosedSession:
        """End a session and have what is left of it summarised; `wait` until that is done.

        SummaryFailed where it waited and the model could not. Closing again changes nothing.
        """
        call = Call("POST", path("sessions", session_id, "close"), body={"wait": wait})
        return await self._line.ask(call, ClosedSession)

    async def job(self, job_id: UUID) -> Job:
        """A job as it stands; NotFound where there is none."""
        return await self._line.ask(Call("GET", path("jobs", job_id)), Job, "job")
