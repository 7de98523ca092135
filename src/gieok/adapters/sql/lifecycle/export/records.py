"""Export records, one per line and in clear, and what their export and import have in common.

The kinds are listed in the order in which an export has them, so that a record comes after everything that it
refers to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, Literal, Self, TypeVar
from uuid import UUID

from pydantic import (
    AfterValidator,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
    model_validator,
)

from gieok.adapters.sql.driver.database import Row, Tx, Value
from gieok.engine import Data
from gieok.errors import Conflict
from gieok.memory.canon.documents import FACT_FORM, NEW_FACT_FIELDS
from gieok.memory.canon.records import FactDraft, FactReason, PersonaDraft
from gieok.memory.chains import VersionNumber
from gieok.memory.companion.records import Emotion, EmotionalMoment, Memory, MemoryConfig
from gieok.memory.decisions.records import AnchorDraft, DecisionContent, EvidenceDraft, Principles, Relation
from gieok.memory.documents.records import DocumentDraft
from gieok.memory.fields import AccountPlan, PersonaId, SessionRef, Timestamp, storable
from gieok.memory.profile import Profile
from gieok.memory.sessions.records import (
    MAX_LABELS,
    ChatMessage,
    MessageId,
    MessageLabel,
    PlanHash,
    SessionPlans,
)
from gieok.memory.turns.records import MemoryItem

K = TypeVar("K", bound=str)
D = TypeVar("D", bound=Data)

Count = Annotated[int, Field(ge=0)]
Number = Annotated[int, Field(ge=1)]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LARGEST = 2**31 - 1


class ExportRecord(Data, Generic[K]):
    """Base of all lines: a record with its kind."""

    kind: K

    @model_validator(mode="after")
    def _check_column_ranges(self) -> Self:
        for _, value in self:
            if isinstance(value, datetime) and value < _EPOCH:
                raise ValueError("has a time before 1970")
            if isinstance(value, int) and value > _LARGEST:
                raise ValueError(f"has a number above {_LARGEST}")
        return self


class PersonaRecord(PersonaDraft, ExportRecord[Literal["persona"]]):
    """One version of a persona. The newest one is in use."""

    persona_id: PersonaId
    root_id: UUID
    version: VersionNumber
    version_id: UUID
    created_at: Timestamp


class ConfigRecord(MemoryConfig, ExportRecord[Literal["memoryConfig"]]):
    """Memory settings of a persona, if they differ from the defaults."""

    persona_id: PersonaId


class FactRecord(FactDraft, ExportRecord[Literal["fact"]]):
    """One version of a fact. The newest one is true now, unless it has `retired_at`.

    The version that retires a fact is no record of its own. A version of the first format has no `until`, and
    is exported and imported without it.
    """

    persona_id: PersonaId
    root_id: UUID
    version: VersionNumber
    version_id: UUID
    valid_from: Timestamp
    retired_at: Timestamp | None
    reason: Annotated[FactReason | None, Field(exclude_if=lambda reason: reason is None)] = None

    @property
    def form(self) -> int:
        """The format of its document."""
        return FACT_FORM if "until" in self.model_fields_set else 1

    @model_serializer(mode="wrap")
    def _omit_new_fields(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        line = serialize(self)
        if self.form < FACT_FORM:
            for name in NEW_FACT_FIELDS:
                line.pop(name, None)
        return line


class ProfileRecord(Profile, ExportRecord[Literal["profile"]]):
    """The owner's profile, if one was set."""


class Span(Data):
    """A range of messages of a session, both ends included."""

    first: Number
    last: Number

    @model_validator(mode="after")
    def _check_range(self) -> Self:
        if self.last < self.first:
            raise ValueError("ends before it begins")
        return self


class Waiting(Span):
    """A range of messages that wait for a summary: the first one, or a better one than `memory_id`."""

    memory_id: UUID | None


class SessionRecord(ExportRecord[Literal["session"]]):
    """A session and how far it is summarised and remembered. Its plan moves and messages follow it."""

    session_ref: SessionRef
    persona_id: PersonaId | None
    account_plan: AccountPlan
    last_execution_plan_hash: PlanHash
    started_at: Timestamp
    last_activity_at: Timestamp
    ended_at: Timestamp | None
    message_count: Count
    claimed_count: Count
    plans: Annotated[SessionPlans | None, Field(exclude_if=lambda plans: plans is None)] = None
    """Absent if an older version started the session."""
    waiting: Annotated[tuple[Waiting, ...], Field(max_length=100_000)]
    remembering: Annotated[
        tuple[Span, ...], Field(max_length=100_000, exclude_if=lambda spans: not spans)
    ] = ()
    """Exchanges whose remembering is queued. Absent if there are none."""
    unremembered_count: Annotated[Count, Field(exclude_if=lambda count: not count)] = 0
    """Number of the last messages whose remembering is not queued yet. Absent if there are none."""
    removed_count: Annotated[Count, Field(exclude_if=lambda count: not count)] = 0
    """Number of the first messages that retention has deleted. Absent if there are none."""

    @model_validator(mode="after")
    def _check_counts(self) -> Self:
        if self.claimed_count > self.message_count:
            raise ValueError("claims more messages than there are")
        if self.removed_count > self.message_count:
            raise ValueError("has lost more messages than there were")
        if self.message_count and self.persona_id is None:
            raise ValueError("has messages but no persona")
        if _overlap(self.waiting, self.claimed_count):
            raise ValueError("has waiting messages that overlap, or that are not claimed")
        if _overlap(self.remembering, self.message_count - self.unremembered_count):
            raise ValueError("remembers messages that overlap, or more than there are")
        return self

    @property
    def summarized_count(self) -> int:
        """Number of messages that a memory covers."""
        open_spans = (span for span in self.waiting if span.memory_id is None)
        return self.claimed_count - sum(span.last - span.first + 1 for span in open_spans)


def _overlap(spans: Sequence[Span], last: int) -> bool:
    """Whether the ranges overlap, are not in order, or go beyond message `last`."""
    ends = [0, *(span.last for span in spans)]
    firsts = [*(span.first for span in spans), last + 1]
    return any(first <= end for end, first in zip(ends, firsts, strict=True))


class MoveRecord(ExportRecord[Literal["planMove"]]):
    """A deliberate move of a session to another plan. Oldest first."""

    session_ref: SessionRef
    number: Number
    moved_at: Timestamp
    from_hash: PlanHash
    to_hash: PlanHash


class MessageRecord(ChatMessage, ExportRecord[Literal["message"]]):
    """A message. `seq` numbers the messages of a session from 1 without gaps."""

    session_ref: SessionRef
    seq: Number
    labels: tuple[MessageLabel, ...] = Field(
        default=(), max_length=MAX_LABELS, exclude_if=lambda labels: not labels
    )
    """Words by which it is found besides its own."""


class TurnMemoryRecord(MemoryItem, ExportRecord[Literal["turnMemory"]]):
    """The memory of one turn."""

    message_id: Annotated[MessageId | None, Field(exclude_if=lambda message_id: message_id is None)] = None
    """The last message of the exchange. Absent in the memories of older versions."""


class MemoryRecord(Memory, ExportRecord[Literal["memory"]]):
    """One episode. Those of one persona are in the order of their creation."""

    session_ref: Annotated[
        SessionRef | None, Field(validation_alias="sessionRef", serialization_alias="sessionRef")
    ]
    emotion: Emotion


class MemoryVersionRecord(Memory, ExportRecord[Literal["memoryVersion"]]):
    """A former version of an earlier memory record."""

    session_ref: Annotated[
        SessionRef | None, Field(validation_alias="sessionRef", serialization_alias="sessionRef")
    ]
    emotion: Emotion
    replaced_at: Timestamp


class MomentRecord(EmotionalMoment, ExportRecord[Literal["moment"]]):
    """An emotional moment of an earlier memory record."""


class EvidenceRecord(EvidenceDraft, ExportRecord[Literal["evidence"]]):
    """A verbatim snapshot of a source."""

    id: UUID
    created_at: Timestamp


class DecisionRecord(DecisionContent, ExportRecord[Literal["decision"]]):
    """One version of a decision. The newest one is in force."""

    root_id: UUID
    version: VersionNumber
    version_id: UUID
    created_at: Timestamp


class DocumentRecord(DocumentDraft, ExportRecord[Literal["document"]]):
    """One version of a document. The newest one is current, and has `expires_at` if it has a time to live."""

    root_id: UUID
    version: VersionNumber
    version_id: UUID
    created_at: Timestamp
    expires_at: Annotated[Timestamp | None, Field(exclude_if=lambda at: at is None)] = None


class PolicyRecord(ExportRecord[Literal["policy"]]):
    """One version of the owner's principles. The newest one is in force."""

    principles: Principles
    version: VersionNumber
    version_id: UUID
    created_at: Timestamp


class RelationRecord(Relation, ExportRecord[Literal["relation"]]):
    """A relation between two decisions."""


class AnchorRecord(AnchorDraft, ExportRecord[Literal["anchor"]]):
    """An anchor to evidence and decisions."""

    id: UUID
    created_at: Timestamp


class AuditRecord(ExportRecord[Literal["audit"]]):
    """An audit entry: an operation on the owner as a whole."""

    id: UUID
    at: Timestamp
    action: Annotated[str, StringConstraints(pattern=r"^[a-z]+(?:\.[a-z]+)*$", max_length=64)]
    subject: Annotated[str, StringConstraints(min_length=1, max_length=128), AfterValidator(storable)] | None


Record = (
    ProfileRecord
    | PersonaRecord
    | ConfigRecord
    | FactRecord
    | SessionRecord
    | MoveRecord
    | MessageRecord
    | TurnMemoryRecord
    | MemoryRecord
    | MemoryVersionRecord
    | MomentRecord
    | EvidenceRecord
    | PolicyRecord
    | DecisionRecord
    | RelationRecord
    | AnchorRecord
    | DocumentRecord
    | AuditRecord
)
"""Any line of an export except the first and the last."""

PAGE = 200
"""Rows that are read at a time."""
Cursor = Mapping[str, tuple[int, Value]]
"""Parameters of a paged query that continue after a row: the column of each, and its first value."""
BY_ID: Cursor = {"after": (0, b"")}
"""Cursor of a table whose first column is its id."""


def read_rows(tx: Tx, query: str, cursor: Cursor, **fixed: Value) -> Iterator[Row]:
    """Every row of a paged query. Only one page is in memory at a time."""
    after = {name: first for name, (_, first) in cursor.items()}
    while rows := tx.all(query, limit=PAGE, **after, **fixed):
        yield from rows
        after = {name: rows[-1][column] for name, (column, _) in cursor.items()}


def subset(record: type[D], of: Data) -> D:
    """A `record` made of the fields that it shares with a larger one."""
    return record(**{name: getattr(of, name) for name in record.model_fields})


def check_unchanged(given: D, stored: D, name: object) -> bool:
    """False, because nothing is added, if the stored record is the same. Conflict if it differs."""
    if given != stored:
        kind = getattr(given, "kind", "record")
        raise Conflict(
            f"{kind} {name} exists already with other content; import into another user, or delete it first"
        )
    return False
