"""What a service answers, as frozen records. Where the library has the same record, that one is used.

Fields that a newer service adds are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic.alias_generators import to_camel

from gieok.memory.canon.records import Category, Outcome, Provenance
from gieok.memory.companion.records import Emotion, MemoryConfig, MemoryCounts, Origin, Why
from gieok.memory.jobs.records import JobKind, JobStatus
from gieok.memory.sessions.records import ChatMessage

EmotionName = Annotated[Emotion, BeforeValidator(Emotion.parse)]
"""The service names an emotion in the language of its reader."""


class Answered(BaseModel):
    """A thing, or a part of one, that a service told of."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, validate_by_name=True, validate_by_alias=True
    )


class Memory(Answered):
    """One memory. `archived_at` is None while it is active."""

    id: UUID
    persona_id: str
    session_id: str | None
    summary: str
    topics: tuple[str, ...]
    emotion: EmotionName
    importance: int
    tags: tuple[str, ...]
    speaker: str | None
    origin: Origin
    created_at: datetime
    occurred_at: datetime
    archived_at: datetime | None
    version: int


class MemoryHit(Memory):
    """A memory that was found, and why."""

    score: float
    why: Why


class MemoryPage(Answered):
    """Part of a list. `total` counts all that the filter lets through."""

    memories: tuple[Memory, ...]
    total: int
    has_more: bool


class Kept(Answered):
    """A memory that was kept, what lost its place to it, and what the user is to be told."""

    memory: Memory
    archived: tuple[UUID, ...]
    notices: tuple[str, ...]


class Summary(Answered):
    """The memory of what was said. None where every message was summarised before."""

    memory: Memory | None
    notices: tuple[str, ...]


class Fact(Answered):
    """One version of a fact, and where it came from."""

    root_id: UUID
    version: int
    category: Category
    key: str
    value: str
    importance: int
    provenance: Provenance
    valid_from: datetime


class FactVersion(Fact):
    """One version of a fact in its history. None is active where the fact was retired."""

    is_active: bool


class FactChange(Answered):
    """What became of a fact; `fact` is None where there was none."""

    outcome: Outcome
    fact: Fact | None


class State(Answered):
    """What is true by now, the block by which a prompt tells it, and the facts that no prompt tells."""

    facts: tuple[Fact, ...]
    block: str
    chars: int
    ordinary: tuple[Fact, ...]


class Configured(Answered):
    """What is set for a persona's memories, and how many there are."""

    config: MemoryConfig
    counts: MemoryCounts


class Recalled(Answered):
    """A memory that a reply could draw on, and why."""

    id: UUID
    summary: str
    timestamp: datetime
    score: float
    why: Why


class StateLine(Answered):
    """One line of the state as the model was told it."""

    category: str
    key: str
    value: str


class Usage(Answered):
    """What the model counted."""

    input_tokens: int
    output_tokens: int


class Token(Answered):
    """A piece of a reply, as it is being said."""

    text: str


class ChatTurn(Answered):
    """The reply, what it was based on, what it changed, and what the user is to be told."""

    session_id: str
    reply: str
    recalled: tuple[Recalled, ...]
    state: tuple[StateLine, ...]
    changes: tuple[FactChange, ...]
    memory: Memory | None = None
    """The memory that the plan made in this turn. The shipped plans leave that to a job."""
    summary_jobs: tuple[UUID, ...]
    notices: tuple[str, ...]
    plan_hash: str
    usage: Usage


class StartedSession(Answered):
    """A new session, and the memories that its conversation begins with."""

    session_id: str
    plan_hash: str
    memories: tuple[Memory, ...]


class Session(Answered):
    """A session as it stands. `ended_at` is None while it is open."""

    session_id: str
    persona_id: str | None
    started_at: datetime
    last_activity_at: datetime
    ended_at: datetime | None
    message_count: int
    last_execution_plan_hash: str


class Window(Answered):
    """A session and the messages that a reply would be based on."""

    session: Session
    messages: tuple[ChatMessage, ...]


class Saved(Answered):
    """How many of the messages were new, and how many the session has now."""

    saved: int
    message_count: int


class PlanMove(Answered):
    """How a session was moved to another plan."""

    moved_at: datetime
    from_hash: str
    to_hash: str


class MovedSession(Answered):
    session: Session
    move: PlanMove


class ClosedSession(Answered):
    """A session that has ended: the jobs that summarise it, or after waiting the memory and the notices."""

    job_id: UUID | None = None
    job_ids: tuple[UUID, ...] = ()
    memory: Memory | None = None
    notices: tuple[str, ...] = ()


class Job(Answered):
    """Work that is done later. `error` is the code of what went wrong last."""

    id: UUID
    kind: JobKind
    status: JobStatus
    attempts: int
    error: str | None = None
    memory_id: UUID | None = None


class Imported(Answered):
    """Records that were added, by kind, and how many were there already."""

    imported: Mapping[str, int]
    unchanged: int


class Erased(Answered):
    """How many rows went, by table. What was sealed with the key cannot be read by anyone any more."""

    erased: Mapping[str, int]
    key_destroyed: bool
    at: datetime
