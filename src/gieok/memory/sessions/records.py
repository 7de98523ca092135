"""Records of sessions: the session, its messages, and the progress of its summaries."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field, StringConstraints

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

MessageId = Annotated[str, AfterValidator(lambda value: check_ref(value, "messageId"))]
PlanHash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Role = Literal["user", "assistant"]
MAX_SPEAKER_CHARS = 128
Speaker = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SPEAKER_CHARS),
    AfterValidator(storable),
]
PlanRef = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}@[0-9a-f]{64}$")]
"""A plan by name and hash (`close_session@08d5…`), so that changing it changes the plan that names it."""


class SessionPlans(Data):
    """The other plans that serve the sessions of a chat plan. They are part of its metadata."""

    save_messages: PlanRef
    close: PlanRef
    close_inactive: PlanRef
    request_summary: PlanRef
    summarize: PlanRef
    remember: PlanRef | None
    """None if the chat plan remembers a turn in its own cycle, or not at all."""
    move: PlanRef
    withdraw: PlanRef | None = None
    """None for `withdraw_turn`, also in a session of an older version."""


MAX_LABELS = 256
"""How many labels a message may have: words that describe it, and by which it is found besides its own."""
MessageLabel = Annotated[str, StringConstraints(min_length=1, max_length=1_000), AfterValidator(storable)]


class ChatMessage(Data):
    """One message of a session."""

    id: MessageId
    role: Role
    content: Annotated[
        str, StringConstraints(min_length=1, max_length=MAX_MESSAGE_CHARS), AfterValidator(storable)
    ]
    timestamp: Timestamp
    speaker: Speaker | None = Field(default=None, exclude_if=lambda value: value is None)
    """The name of who says it, for conversations of more than two, or with names."""
    withdrawn_at: Annotated[Timestamp | None, Field(exclude_if=lambda at: at is None)] = None
    """When it was withdrawn. A withdrawn message stays in the log and nowhere else."""


class MessageHead(NamedTuple):
    """The position of a message in the log, without its content."""

    seq: int
    id: str
    role: Role
    is_withdrawn: bool


class SessionInfo(Data):
    """A session as the HTTP API and its client show it. `ended_at` is None while it is open."""

    session_ref: Annotated[str, AS_SESSION_ID]
    persona_id: str | None
    """None if the session was started by a plan that keeps no messages."""
    started_at: datetime
    last_activity_at: datetime
    ended_at: datetime | None
    message_count: int
    """Number of its messages, without withdrawn ones."""
    last_execution_plan_hash: str


class Session(SessionInfo):
    """A session with the progress of its summaries."""

    account_plan: AccountPlan
    log_length: int
    """Number of messages in the log, withdrawn ones included, as in the counts below."""
    claimed_count: int
    """Number of messages that a summary covers or is queued for: always the oldest ones."""
    summarized_count: int
    """Number of messages that a memory covers."""
    unremembered_count: int
    """Number of last messages that no job was queued for yet that remembers them."""
    plans: SessionPlans | None
    """The plans that serve it, as its chat plan names them. None if an older version started it."""

    @property
    def revision(self) -> int:
        """Grows with each message that is appended or withdrawn."""
        return 2 * self.log_length - self.message_count


class SessionPosition(Data):
    """A position in a list of sessions, which is ordered by start, newest first, then by ref."""

    started_at: Timestamp
    session_ref: SessionRef


class SessionPage(Data):
    """One page of a list of sessions. `next_cursor` is None on the last page."""

    sessions: tuple[SessionInfo, ...]
    next_cursor: str | None


class LogPosition(Data):
    """The number of the last message of a page of the log."""

    seq: Annotated[int, Field(ge=0)]


class LogPage(Data):
    """One page of the log of a session, oldest first. `next_cursor` is None on the last page."""

    messages: tuple[ChatMessage, ...]
    next_cursor: str | None


class SessionStart(Data):
    """The arguments to start a session."""

    session_ref: SessionRef
    persona_id: PersonaId
    account_plan: AccountPlan
    plan_hash: PlanHash
    plans: SessionPlans | None
    """None if the plan names none: it neither appends turns nor records itself."""


class Appended(Data):
    """The result of saving messages. Messages that existed already are not counted as added."""

    added: int
    message_count: int


class MessageRange(Data):
    """A range of message numbers, both ends included. The first message has number 1."""

    first: int
    last: int


class Withdrawal(Data):
    """What was withdrawn with a turn, as counts."""

    messages: int
    facts: int
    """Facts that were changed back."""
    memories: int
    """Turn memories and memories that were deleted."""


class PlanMove(Data):
    """A move of a session to another plan."""

    moved_at: datetime
    from_hash: str
    to_hash: str
