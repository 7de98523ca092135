"""Protocols of the session store and the message store: for one owner, inside one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from gieok.memory.audit import AuditView
from gieok.memory.fields import AccountPlan
from gieok.memory.jobs.store import JobView
from gieok.memory.sessions.records import (
    Appended,
    ChatMessage,
    MessageHead,
    MessageRange,
    PlanMove,
    Session,
    SessionPlans,
    SessionPosition,
    SessionStart,
)


class SessionStore(Protocol):
    """Sessions: their plan, their activity, and the progress of their summaries."""

    def get(self, session_ref: str) -> Session | None:
        """The session, or None."""
        ...

    def lock(self, session_ref: str) -> Session:
        """Lock the session until the transaction ends, and return it. Raises NotFound if there is none."""
        ...

    def start(self, start: SessionStart, at: datetime) -> Session:
        """Start a session. Raises Conflict if its ref is taken."""
        ...

    def record_plan(
        self,
        session_ref: str,
        plan_hash: str,
        at: datetime,
        *,
        plans: SessionPlans,
        persona_id: str | None,
        account_plan: AccountPlan | None,
        default_account_plan: AccountPlan,
    ) -> None:
        """Record that the session ran this plan, which names `plans`. Starts the session if there is none.

        None leaves the persona or the account plan as it is; a new session gets the default one.
        Raises PlanHashMismatch, SessionEnded or Conflict if the session ran another plan, has ended, or is
        with another persona.
        """
        ...

    def end(self, session_ref: str, at: datetime) -> Session:
        """End the session. Does nothing if it has ended. Raises NotFound if there is none."""
        ...

    def mark_queued(self, session_ref: str, last: int) -> None:
        """Record that summaries are queued for all messages up to number `last`."""
        ...

    def set_unremembered(self, session_ref: str, count: int) -> None:
        """Record how many of the last messages no job was queued for yet that remembers them."""
        ...

    def mark_summarized(self, session_ref: str, count: int) -> None:
        """Record that a memory covers `count` more messages; negative if a memory was deleted."""
        ...

    def move(self, session_ref: str, plan_hash: str, plans: SessionPlans | None, at: datetime) -> PlanMove:
        """Move the session to another plan and record the move. Raises NotFound if there is no session."""
        ...

    def moves(self, session_ref: str) -> Sequence[PlanMove]:
        """The moves of the session between plans, oldest first."""
        ...

    def list(self, persona_id: str | None, after: SessionPosition | None, limit: int) -> Sequence[Session]:
        """Sessions with one persona or with all, newest first, after this position."""
        ...

    def find_open(self, persona_id: str, plan_hash: str, active_since: datetime | None) -> Session | None:
        """The session with this persona and plan that has not ended and was used last.

        None if there is none, or if it was not used after `active_since`.
        """
        ...

    def delete(self, session_ref: str) -> int:
        """Delete a session with its messages, moves and jobs. Returns how many messages it had."""
        ...


class MessageStore(Protocol):
    """The message log of sessions. It is kept after a session has ended."""

    def append(
        self, session_ref: str, messages: Sequence[ChatMessage], at: datetime, expected_revision: int | None
    ) -> Appended:
        """Append messages and record the activity of the session. Idempotent by message id.

        Raises Conflict if a stored message with the same id has another content or was withdrawn, or if the
        session is not at `expected_revision` (None: any). Raises SessionEnded or NotFound for the session.
        """
        ...

    def window(self, session_ref: str, limit: int, before: int | None = None) -> Sequence[ChatMessage]:
        """The newest messages, or those before number `before`, oldest first, without withdrawn ones."""
        ...

    def heads(self, session_ref: str, span: MessageRange) -> Sequence[MessageHead]:
        """The positions of the messages of this range, withdrawn ones included, in order."""
        ...

    def between(self, session_ref: str, span: MessageRange) -> Sequence[ChatMessage]:
        """The messages of this range that exist, withdrawn ones included, in order."""
        ...

    def withdraw(self, session_ref: str, first: int, at: datetime) -> int:
        """Mark the messages from number `first` on as withdrawn, and delete stored answers that quote them.
        Returns how many were not withdrawn yet."""
        ...

    def describe(self, session_ref: str, labels: Mapping[str, Sequence[str]]) -> None:
        """Add words by which messages are found, besides their own: the labels of each, by message id. Words
        that a message has already change nothing. Ids of other messages are passed over."""
        ...

    def unindex(self, session_ref: str, ids: Sequence[str]) -> None:
        """Remove messages from the search index, with the words that were added to describe them. They stay
        in the log."""
        ...

    def turn(self, session_ref: str, message_id: str) -> Sequence[ChatMessage]:
        """The message with this id and the one after it. Empty if there is no such message."""
        ...


class SessionView(Protocol):
    """A transaction's view with sessions."""

    @property
    def sessions(self) -> SessionStore: ...


class MoveView(SessionView, AuditView, Protocol):
    """A transaction's view with sessions and the audit trail."""


class LogView(SessionView, JobView, Protocol):
    """A transaction's view with sessions, their messages and their jobs."""

    @property
    def messages(self) -> MessageStore: ...


class AccountServices(Protocol):
    """What a step needs that may start a session."""

    @property
    def account_plan(self) -> AccountPlan:
        """The account plan of a session whose request names none."""
        ...
