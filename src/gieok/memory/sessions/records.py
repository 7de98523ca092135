"""A session, the messages that were said in it, and how far they are summarised."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, StringConstraints

from gieok.engine import Data
from gieok.memory.fields import (
    AS_SESSION_ID,
    MAX_MESSAGE_CHARS,
    AccountPlan,
    PersonaId,
    SessionRef,
    Timestamp,
    storable,
)
from gieok.refs import check_ref

MAX_MESSAGES = 200
"""How many messages may be saved at once."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _not_ancient(value: datetime) -> datetime:
    if value < _EPOCH:
        raise ValueError("must not be before 1970")
    return value


MessageId = Annotated[str, AfterValidator(lambda value: check_ref(value, "messageId"))]
PlanHash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Role = Literal["user", "assistant"]


class ChatMessage(Data):
    """One message as it was said."""

    id: MessageId
    role: Role
    content: Annotated[
        str, StringConstraints(min_length=1, max_length=MAX_MESSAGE_CHARS), AfterValidator(storable)
    ]
    timestamp: Annotated[Timestamp, AfterValidator(_not_ancient)]


class SessionInfo(Data):
    """A session as the HTTP API and its client show it. `ended_at` is None while it is open."""

    session_ref: Annotated[str, AS_SESSION_ID]
    persona_id: str | None
    """None if the session was started by a plan that keeps no messages."""
    started_at: datetime
    last_activity_at: datetime
    ended_at: datetime | None
    message_count: int
    last_execution_plan_hash: str


class Session(SessionInfo):
    """A session with the progress of its summaries."""

    account_plan: AccountPlan
    claimed_count: int
    """Number of messages that a summary covers or is queued for: always the oldest ones."""
    summarized_count: int
    """Number of messages that a memory covers."""


class SessionStart(Data):
    """What a session begins with."""

    session_ref: SessionRef
    persona_id: PersonaId
    account_plan: AccountPlan
    plan_hash: PlanHash


class Appended(Data):
    """What saving messages came to. Messages that were there already are not counted as added."""

    added: int
    message_count: int


class MessageRange(Data):
    """Messages of a session by their numbers, both ends included. The first message has number 1."""

    first: int
    last: int


class PlanMove(Data):
    """That a session was moved to another plan on purpose: an entry of its audit trail."""

    moved_at: datetime
    from_hash: str
    to_hash: str
