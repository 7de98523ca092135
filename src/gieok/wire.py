"""What a service answers, said once: the service writes these records and the client reads them.

Where a room has the same record, that one travels. A client passes over fields that a newer service adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Generic, Literal, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from gieok.engine.data import Trusting
from gieok.memory.canon.records import Category, Outcome, Provenance
from gieok.memory.companion.records import MemoryConfig, MemoryCounts, Origin, Why
from gieok.memory.decisions.evidence import Target
from gieok.memory.decisions.guardian import Concern
from gieok.memory.decisions.layers import Layer
from gieok.memory.decisions.records import Decision, DecisionProposal, Impact
from gieok.memory.jobs.records import JobKind, JobStatus
from gieok.memory.sessions.records import ChatMessage

E = TypeVar("E", bound=str)
"""An emotion: a name in the reader's language where it is told, an Emotion again where it is read."""
M = TypeVar("M", bound=BaseModel)
"""A memory with such an emotion."""


def _is_none(value: object) -> bool:
    return value is None


LeftOut = Field(default=None, exclude_if=_is_none)
"""A field that is left out where there is nothing to say, rather than null."""


class Told(Trusting):
    """A thing, or a part of one, that a service tells of. Times are UTC with `Z`."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, validate_by_name=True, validate_by_alias=True
    )


class Memory(Told, Generic[E]):
    """One memory. `archivedAt` is null while it is active."""

    id: UUID
    persona_id: str
    session_id: str | None
    summary: str
    topics: tuple[str, ...]
    emotion: E
    importance: int
    tags: tuple[str, ...]
    speaker: str | None
    origin: Origin
    created_at: datetime
    occurred_at: datetime
    archived_at: datetime | None
    version: int


class MemoryHit(Memory[E], Generic[E]):
    """A memory that was found, and why."""

    score: float
    why: Why


class MemoryPage(Told, Generic[M]):
    """Part of a list. `total` counts all that the filter lets through."""

    memories: tuple[M, ...]
    total: int
    has_more: bool


class Kept(Told, Generic[M]):
    """A memory that was kept, what lost its place to it, and what the user is to be told."""

    memory: M
    archived: tuple[UUID, ...]
    notices: tuple[str, ...]


class Summary(Told, Generic[M]):
    """The memory of what was said. Null where every message was summarised before."""

    memory: M | None
    notices: tuple[str, ...]


class Fact(Told):
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


class FactChange(Told):
    """What became of a fact; `fact` is null where there was none."""

    outcome: Outcome
    fact: Fact | None


class State(Told):
    """What is true by now, the block by which a prompt tells it, and the facts that are not in it."""

    facts: tuple[Fact, ...]
    block: str
    chars: int
    ordinary: tuple[Fact, ...]


class Configured(Told):
    """What is set for a persona's memories, and how many there are."""

    config: MemoryConfig
    counts: MemoryCounts


class Recalled(Told):
    """A memory that a reply could draw on, and why."""

    id: UUID
    summary: str
    timestamp: datetime
    score: float
    why: Why


class StateLine(Told):
    """One line of the state as the model was told it."""

    category: str
    key: str
    value: str


class Usage(Told):
    """What the model counted."""

    input_tokens: int
    output_tokens: int


class ChatTurn(Told, Generic[M]):
    """The reply, what it was based on, what it changed, and what the user is to be told."""

    session_id: str
    reply: str
    recalled: tuple[Recalled, ...]
    state: tuple[StateLine, ...]
    changes: tuple[FactChange, ...]
    memory: M | None = LeftOut
    """The memory that the plan made in this turn. The shipped plans leave that to a job."""
    summary_jobs: tuple[UUID, ...]
    """The jobs that summarise this session, where it has become long enough."""
    notices: tuple[str, ...]
    plan_hash: str
    usage: Usage


class StartedSession(Told, Generic[M]):
    """A new session, and the memories that its conversation begins with."""

    session_id: str
    plan_hash: str
    memories: tuple[M, ...]


class Session(Told):
    """A session as it stands. `endedAt` is null while it is open."""

    session_id: str
    persona_id: str | None
    started_at: datetime
    last_activity_at: datetime
    ended_at: datetime | None
    message_count: int
    last_execution_plan_hash: str


class Window(Told):
    """A session and the messages that a reply would be based on."""

    session: Session
    messages: tuple[ChatMessage, ...]


class Saved(Told):
    """How many of the messages were new, and how many the session has now."""

    saved: int
    message_count: int


class PlanMove(Told):
    """How a session was moved to another plan."""

    moved_at: datetime
    from_hash: str
    to_hash: str


class MovedSession(Told):
    """A session on another plan, and how it came there."""

    session: Session
    move: PlanMove


class Job(Told):
    """Work that is done later. `error` is the code of what went wrong last."""

    id: UUID
    kind: JobKind
    status: JobStatus
    attempts: int
    error: str | None = LeftOut
    memory_id: UUID | None = LeftOut


class Imported(Told):
    """Records that were added, by kind, and how many were there already."""

    imported: Mapping[str, int]
    unchanged: int


class Erased(Told):
    """How many rows went, by table. What was sealed with the key cannot be read by anyone any more."""

    erased: Mapping[str, int]
    key_destroyed: Literal[True]
    at: datetime


class Guardian(Told):
    """What a proposal would meet: it reports, and keeps nothing from being saved."""

    constrained_by: tuple[Concern, ...]
    conflicts: tuple[Concern, ...]
    lapsing: tuple[Concern, ...]
    truncated: bool


class Proposed(Told):
    """A proposal, and what it would replace, reach and meet. Nothing of it is stored."""

    proposal: DecisionProposal
    replaces: Decision | None
    impact: Impact
    guardian: Guardian


class DecisionPage(Told):
    """Some decisions of a list, and where it goes on: null at its end."""

    decisions: tuple[Decision, ...]
    next_cursor: str | None


class LoadedContext(Told):
    """What applies in a domain, in the loading order: always seven layers."""

    domain: str
    phase: str | None
    layers: tuple[Layer, ...]
    tokens: int
    truncated: bool


class Anchor(Told):
    """A hint of what was said in a session, and where its original stands."""

    id: UUID
    session_id: str
    hint: str
    targets: tuple[Target, ...]
    created_at: datetime


class Failure(Told):
    """Every answer of a call that did not succeed. `error` is for programs, `message` for people."""

    success: Literal[False]
    error: str
    message: str
    at: str | None = None
    """The place in the body, the query or the plan that is wrong."""
    step: str | None = None
    """The step of the plan that failed."""
    expected: str | None = None
    """The hash of the plan that the session ran."""
    actual: str | None = None
    """The hash of the plan that was given."""
