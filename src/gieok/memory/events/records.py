"""Events as records: ids and kinds, no content."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from gieok.engine import Data
from gieok.memory.fields import AS_SESSION_ID, Timestamp

EventKind = Literal[
    "message.stored",
    "message.withdrawn",
    "session.started",
    "session.closed",
    "session.trimmed",
    "session.deleted",
    "memory.created",
    "memory.updated",
    "memory.archived",
    "memory.restored",
    "memory.deleted",
    "fact.set",
    "fact.retired",
    "fact.deleted",
    "decision.saved",
    "decision.related",
    "decision.unrelated",
    "persona.created",
    "persona.updated",
    "persona.deleted",
    "document.saved",
    "document.deleted",
]
"""What happened. `session.trimmed`: the messages of a session up to number `seq` were deleted because they
are older than GIEOK_KEEP_MESSAGES_DAYS."""


WEBHOOK = "webhook:"
"""The names of consumers that are webhooks begin with this; the webhook's id follows."""


class EventDraft(NamedTuple):
    """An event of an open transaction. It gets its number and time at the end of the transaction."""

    kind: EventKind
    subject: str
    session_ref: str | None = None
    persona_id: str | None = None
    seq: int | None = None
    version: int | None = None


class Event(Data):
    """Something that was stored, changed or deleted."""

    number: Annotated[int, Field(ge=1)]
    """Counts the events of an owner, in the order of their commits."""
    kind: EventKind
    subject: str
    """The id of the message, session, memory, fact (root id), decision (root id), relation, persona or
    document (root id)."""
    session_ref: Annotated[str | None, AS_SESSION_ID] = None
    """The session of a message or a memory."""
    persona_id: str | None = None
    """The persona of a message, session, memory or fact."""
    seq: int | None = None
    """The number of a message in its session; see `session.trimmed`."""
    version: int | None = None
    """The version of a memory, fact, decision, persona or document."""
    at: Timestamp


class ConsumerState(Data):
    """How far a consumer of an owner's events has come."""

    name: str
    position: int
    """The number of the last event that was delivered or is a dead letter."""
    is_backfilled: bool
    """Whether the consumer has everything that was stored before its first event."""
    cursor: str | None
    """Where its backfill continues."""


class DeadLetter(Data):
    """An event that could not be delivered to a consumer. It is not tried again unless it is retried."""

    consumer: str
    event: Event
    attempts: int
    error: str
    """The error code of the last attempt."""
    failed_at: Timestamp
    is_retried: bool
    """Whether another attempt is queued."""


class EventCounts(Data):
    """The outbox of all owners, for operators."""

    consumers: int
    events: int
    """Events that not every consumer has got yet."""
    oldest_at: Timestamp | None
    """The time of the oldest of them."""
    dead_letters: int
