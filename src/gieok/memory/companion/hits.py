"""What recall finds, memories, messages of the log and facts, each with its score and the reasons for it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, ClassVar, Generic, Literal, Self, TypeVar, get_args
from uuid import UUID

from pydantic import ConfigDict, Field

from gieok.engine import Data
from gieok.errors import InputRefused
from gieok.memory.companion.records import Memory
from gieok.memory.fields import AS_SESSION_ID
from gieok.memory.observations import Category, FactSource
from gieok.memory.signals import Signal


@dataclass(frozen=True, slots=True)
class ConfidenceParts:
    """What a confidence is made of: 1 - (1 - words) * (1 - meaning).

    `words` is the share of the question's words that the hit and its neighbours contain, each by how rare it
    is. `meaning` is how much closer its vector is than others; 0 without an embedder.
    """

    __pydantic_config__: ClassVar[ConfigDict] = Data.model_config

    words: float
    meaning: float


MatchedField = Literal["text", "known"]


@dataclass(frozen=True, slots=True)
class Why:
    """Why a memory was recalled. The score is the sum of the values of `signals` times their weights.

    `matched_fields` are where words matched: in its text, or in what is known of it. `known` are the facts
    and keywords that led to a message. `filled` is true for a memory that did not match, but is recent or
    important.
    """

    __pydantic_config__: ClassVar[ConfigDict] = Data.model_config

    matched_words: tuple[str, ...]
    missing_words: tuple[str, ...]
    matched_fields: tuple[MatchedField, ...]
    known: tuple[str, ...]
    signals: Mapping[str, Signal]
    confidence: ConfidenceParts
    age_days: float
    filled: bool


HitKind = Literal["memory", "message", "fact"]
HIT_KINDS: tuple[HitKind, ...] = get_args(HitKind)
Kinds = Collection[HitKind] | Literal["all"]


def check_kinds(kinds: Kinds | str) -> tuple[HitKind, ...]:
    """The kinds of hits that a request asks for: a list, its names with commas, or `all`. InputRefused."""
    names: Collection[str] = HIT_KINDS if kinds == "all" else kinds
    named = names.split(",") if isinstance(names, str) else list(names)
    found: tuple[HitKind, ...] = tuple(kind for kind in HIT_KINDS if kind in named)
    if not found or len(found) != len(named):
        raise InputRefused(f"must be {', '.join(HIT_KINDS)}, several of them with commas, or all", at="kinds")
    return found


class FoundMessage(Data):
    """A message of the log that a search found, as it was said."""

    id: str
    role: Literal["user", "assistant"]
    content: str
    session_ref: Annotated[str, AS_SESSION_ID]
    timestamp: datetime
    speaker: str | None = None
    """The name of who said it, if it was given with the message."""

    @property
    def text(self) -> str:
        return self.content


class FoundFact(Data):
    """A fact that a search found, with the message that it comes from."""

    root_id: UUID
    version: int
    subject: str
    category: Category
    key: str
    value: str
    importance: int
    when: date | None
    until: date | None
    valid_from: datetime
    source: FactSource | None

    @property
    def text(self) -> str:
        return f"{self.key}: {self.value}"


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A recalled memory with its score and the reasons for it.

    All hits have `text` (what to show), `timestamp`, `speaker`, `role` and `session_ref`.
    """

    __pydantic_config__: ClassVar[ConfigDict] = Data.model_config

    memory: Memory
    score: float
    confidence: float
    """From 0 to 1. Unlike the score, it can be compared between queries."""
    why: Why
    kind: Literal["memory"] = "memory"

    @property
    def id(self) -> str:
        return str(self.memory.id)

    @property
    def text(self) -> str:
        return self.memory.text

    @property
    def timestamp(self) -> datetime:
        return self.memory.occurred_at

    @property
    def speaker(self) -> str | None:
        return self.memory.speaker

    @property
    def role(self) -> None:
        return None

    @property
    def session_ref(self) -> str | None:
        return self.memory.session_ref


@dataclass(frozen=True, slots=True)
class MessageHit:
    """A message of the log, word for word, with its score and the reasons for it."""

    __pydantic_config__: ClassVar[ConfigDict] = Data.model_config

    message: FoundMessage
    score: float
    confidence: float
    """From 0 to 1. Unlike the score, it can be compared between queries."""
    why: Why
    kind: Literal["message"] = "message"

    @property
    def id(self) -> str:
        return self.message.id

    @property
    def text(self) -> str:
        return self.message.text

    @property
    def timestamp(self) -> datetime:
        return self.message.timestamp

    @property
    def speaker(self) -> str | None:
        return self.message.speaker

    @property
    def role(self) -> Literal["user", "assistant"]:
        return self.message.role

    @property
    def session_ref(self) -> str:
        return self.message.session_ref


@dataclass(frozen=True, slots=True)
class FactHit:
    """A fact with its score and the reasons for it. `fact.source` is the message that it comes from."""

    __pydantic_config__: ClassVar[ConfigDict] = Data.model_config

    fact: FoundFact
    score: float
    confidence: float
    """From 0 to 1. Unlike the score, it can be compared between queries."""
    why: Why
    kind: Literal["fact"] = "fact"

    @property
    def id(self) -> str:
        return str(self.fact.root_id)

    @property
    def text(self) -> str:
        return self.fact.text

    @property
    def timestamp(self) -> datetime:
        return self.fact.valid_from

    @property
    def speaker(self) -> None:
        return None

    @property
    def role(self) -> None:
        return None

    @property
    def session_ref(self) -> str | None:
        return self.fact.source.session_ref if self.fact.source else None


Hit = Annotated[MemoryHit | MessageHit | FactHit, Field(discriminator="kind")]
"""Something that recall found: a memory, a message of the log, or a fact."""


H = TypeVar("H")


class Hits(tuple[H, ...], Generic[H]):
    """The hits of a search, best first. `degraded` names the parts of the search that failed, where the plan
    allows it: with `vectors` the embedder did not answer, and the hits were found by words alone; with
    `messages` older messages are not indexed yet, and cannot be found."""

    degraded: tuple[str, ...]

    def __new__(cls, hits: Iterable[H], degraded: Iterable[str] = ()) -> Self:
        made = super().__new__(cls, hits)
        made.degraded = tuple(degraded)
        return made


def make_hit(record: Memory | FoundMessage | FoundFact, score: float, confidence: float, why: Why) -> Hit:
    """The hit of a record."""
    if isinstance(record, Memory):
        return MemoryHit(record, score, confidence, why)
    if isinstance(record, FoundMessage):
        return MessageHit(record, score, confidence, why)
    return FactHit(record, score, confidence, why)
