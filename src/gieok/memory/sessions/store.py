"""The stores of sessions and of their messages, as steps see them: of one owner, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from gieok.memory.fields import AccountPlan
from gieok.memory.jobs.store import JobView
from gieok.memory.sessions.records import Appended, ChatMessage, MessageRange, PlanMove, Session, SessionStart


class SessionStore(Protocol):
    """The state of sessions. It does not know that any other memory exists."""

    def get(self, session_ref: str) -> Session | None:
        """The session, or None where it has not begun."""
        ...

    def hold(self, session_ref: str) -> Session:
        """The session, which no other writer changes until this transaction ends. NotFound without one."""
        ...

    def start(self, start: SessionStart, at: datetime) -> Session:
        """Begin a session. Conflict where its name is taken."""
        ...

    def remember(
        self,
        session_ref: str,
        plan_hash: str,
        at: datetime,
        *,
        persona_id: str | None,
        account_plan: AccountPlan | None,
    ) -> None:
        """Record that the session ran this plan; it begins if there is none.

        None leaves the persona, or what the user pays for, as it is known. PlanHashMismatch, SessionEnded or
        Conflict where the session ran another plan, has ended, or is with another persona.
        """
        ...

    def end(self, session_ref: str, at: datetime) -> Session:
        """End the session. One that has ended stays as it is; NotFound without one."""
        ...

    def claim(self, session_ref: str, last: int) -> None:
        """Note that summaries are queued for all messages up to `last`."""
        ...

    def cover(self, session_ref: str, count: int) -> None:
        """Note that a memory covers so many more messages."""
        ...

    def move(self, session_ref: str, plan_hash: str, at: datetime) -> PlanMove:
        """Move the session to another plan and leave an audit entry. NotFound where there is no session."""
        ...

    def moves(self, session_ref: str) -> Sequence[PlanMove]:
        """The audit entries of the session, oldest first."""
        ...


class MessageStore(Protocol):
    """The raw log: what was said, in order, kept after the session has ended."""

    def append(
        self, session_ref: str, messages: Sequence[ChatMessage], at: datetime, expected_count: int | None
    ) -> Appended:
        """Keep messages, and note that the session was used.

        A message whose id is known changes nothing, or is a Conflict where it said something else.
        SessionEnded and NotFound for a session that cannot take them; Conflict where it does not have
        `expected_count` messages.
        """
        ...

    def window(self, session_ref: str, limit: int) -> Sequence[ChatMessage]:
        """The newest messages, oldest first."""
        ...

    def between(self, session_ref: str, span: MessageRange) -> Sequence[ChatMessage]:
        """Messages by their numbers, as far as there are any."""
        ...


class SessionView(Protocol):
    """Whatever holds sessions among its rooms."""

    @property
    def sessions(self) -> SessionStore:
        """The sessions of the owner at hand."""
        ...


class LogView(SessionView, JobView, Protocol):
    """Sessions with their messages, and the jobs that they give rise to."""

    @property
    def messages(self) -> MessageStore:
        """The messages of the owner at hand."""
        ...
