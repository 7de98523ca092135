"""What an export is made of: one frozen record a line, each with its kind, in clear.

The kinds stand in the order in which a stream has them, so that whatever a record refers to comes before it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Generic, Literal, Self, TypeVar
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from gieok.engine import Data
from gieok.memory.canon.records import FactDraft, PersonaDraft
from gieok.memory.chains.records import VersionNumber
from gieok.memory.companion.records import Emotion, EmotionalMoment, Memory, MemoryConfig
from gieok.memory.decisions.evidence import AnchorDraft, EvidenceDraft
from gieok.memory.decisions.records import DecisionContent, Relation
from gieok.memory.fields import AccountPlan, PersonaId, SessionRef, Timestamp, storable
from gieok.memory.sessions.records import ChatMessage, PlanHash
from gieok.memory.turns.records import MemoryItem

K = TypeVar("K", bound=str)

Count = Annotated[int, Field(ge=0)]
Number = Annotated[int, Field(ge=1)]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LARGEST = 2**31 - 1


class Kinded(Data, Generic[K]):
    """A record that says what it is."""

    kind: K

    @model_validator(mode="after")
    def _fits_the_tables(self) -> Self:
        for _, value in self:
            if isinstance(value, datetime) and value < _EPOCH:
                raise ValueError("has a time before 1970")
            if isinstance(value, int) and value > _LARGEST:
                raise ValueError(f"has a number above {_LARGEST}")
        return self


class PersonaRecord(PersonaDraft, Kinded[Literal["persona"]]):
    """One version of a persona; the newest is the one that is used."""

    persona_id: PersonaId
    root_id: UUID
    version: VersionNumber
    version_id: UUID
    created_at: Timestamp


class ConfigRecord(MemoryConfig, Kinded[Literal["memoryConfig"]]):
    """What the user set for a persona, where it is not what holds by itself."""

    persona_id: PersonaId


class FactRecord(FactDraft, Kinded[Literal["fact"]]):
    """One version of a fact. The newest is true now, unless it has `retired_at`."""

    persona_id: PersonaId
    root_id: UUID
    version: VersionNumber
    version_id: UUID
    valid_from: Timestamp
    retired_at: Timestamp | None


class Waiting(Data):
    """Messages, by their numbers, that wait for a summary: the first, or a better one than `memory_id`."""

    first: Number
    last: Number
    memory_id: UUID | None

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.last < self.first:
            raise ValueError("ends before it begins")
        return self


class SessionRecord(Kinded[Literal["session"]]):
    """A session, and how far it is summarised. Its plan moves and its messages follow it."""

    session_ref: SessionRef
    persona_id: PersonaId | None
    account_plan: AccountPlan
    last_execution_plan_hash: PlanHash
    started_at: Timestamp
    last_activity_at: Timestamp
    ended_at: Timestamp | None
    message_count: Count
    claimed_count: Count
    waiting: Annotated[tuple[Waiting, ...], Field(max_length=100_000)]

    @model_validator(mode="after")
    def _counts_fit(self) -> Self:
        if self.claimed_count > self.message_count:
            raise ValueError("claims more messages than there are")
        if self.message_count and self.persona_id is None:
            raise ValueError("has messages and no persona that could remember them")
        ends = [0, *(span.last for span in self.waiting)]
        firsts = [*(span.first for span in self.waiting), self.claimed_count + 1]
        if any(first <= end for end, first in zip(ends, firsts, strict=True)):
            raise ValueError("has waiting messages that overlap, or that are not claimed")
        return self

    @property
    def summarized_count(self) -> int:
        """The messages that a memory covers."""
        open_spans = (span for span in self.waiting if span.memory_id is None)
        return self.claimed_count - sum(span.last - span.first + 1 for span in open_spans)


class MoveRecord(Kinded[Literal["planMove"]]):
    """That a session was moved to another plan on purpose. Oldest first."""

    session_ref: SessionRef
    number: Number
    moved_at: Timestamp
    from_hash: PlanHash
    to_hash: PlanHash


class MessageRecord(ChatMessage, Kinded[Literal["message"]]):
    """A message, as it was said. `seq` numbers the messages of a session from 1, without a gap."""

    session_ref: SessionRef
    seq: Number


class TurnMemoryRecord(MemoryItem, Kinded[Literal["turnMemory"]]):
    """What one turn left behind."""


class MemoryRecord(Memory, Kinded[Literal["memory"]]):
    """One episode. Of one persona, the one that was made first comes first."""

    session_ref: Annotated[
        SessionRef | None, Field(validation_alias="sessionRef", serialization_alias="sessionRef")
    ]
    emotion: Emotion


class MomentRecord(EmotionalMoment, Kinded[Literal["moment"]]):
    """A moment that mattered, of a memory before it."""


class EvidenceRecord(EvidenceDraft, Kinded[Literal["evidence"]]):
    """A snapshot of a source, word for word."""

    id: UUID
    created_at: Timestamp


class DecisionRecord(DecisionContent, Kinded[Literal["decision"]]):
    """One version of a decision; the newest is in force."""

    root_id: UUID
    version: VersionNumber
    version_id: UUID
    created_at: Timestamp


class RelationRecord(Relation, Kinded[Literal["relation"]]):
    """A relation between two decisions."""


class AnchorRecord(AnchorDraft, Kinded[Literal["anchor"]]):
    """A signpost to evidence and decisions."""

    id: UUID
    created_at: Timestamp


class AuditRecord(Kinded[Literal["audit"]]):
    """Something that was done to the owner as a whole."""

    id: UUID
    at: Timestamp
    action: Annotated[str, StringConstraints(pattern=r"^[a-z]+(?:\.[a-z]+)*$", max_length=64)]
    subject: Annotated[str, StringConstraints(min_length=1, max_length=128), AfterValidator(storable)] | None


Record = (
    PersonaRecord
    | ConfigRecord
    | FactRecord
    | SessionRecord
    | MoveRecord
    | MessageRecord
    | TurnMemoryRecord
    | MemoryRecord
    | MomentRecord
    | EvidenceRecord
    | DecisionRecord
    | RelationRecord
    | AnchorRecord
    | AuditRecord
)
"""Any line of an export but the first and the last."""
