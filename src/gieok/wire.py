"""Answers of the HTTP API that are not records of a room. The service writes them, the client reads them.

A record of a room (`Memory`, `Session`, `Fact`, `Decision`, …) is defined in that room and travels as it is.
Here are envelopes of several records, and views where the API shows a thing in another form; each view says
how it differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from gieok.memory.canon.records import Fact, FactChange, PersonaCard
from gieok.memory.companion import hits
from gieok.memory.companion.hits import HitKind, Why
from gieok.memory.companion.records import Memory, MemoryConfig, MemoryCounts
from gieok.memory.conversation.records import Message, PromptPart
from gieok.memory.decisions.graph.guardian import Objections
from gieok.memory.decisions.records import Anchor, Decision, DecisionProposal, EvidenceCard, Impact
from gieok.memory.decisions.walks import WalkResult
from gieok.memory.fields import AS_SESSION_ID, Language
from gieok.memory.jobs.records import JobKind, JobStatus
from gieok.memory.observations import Refusal
from gieok.memory.sessions.records import ChatMessage, PlanMove, SessionInfo


def _is_none(value: object) -> bool:
    return value is None


OMIT_NONE = Field(default=None, exclude_if=_is_none)
"""A field that is left out of the JSON when it is None."""


class WireModel(BaseModel):
    """Base of all answers. Times are UTC and end with `Z`; unknown fields are ignored when reading."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        strict=False,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
    )


class FoundMemory(Memory):
    """A search hit: the memory, its score and the reasons, in one flat object.

    A view of `MemoryHit`, which holds the memory in a field.
    """

    kind: Literal["memory"] = "memory"
    score: float
    confidence: float
    why: Why


class FoundMessage(hits.FoundMessage):
    """A message that a search found, as `FoundMemory`. A view of `MessageHit`."""

    kind: Literal["message"] = "message"
    score: float
    confidence: float
    why: Why


class FoundFact(hits.FoundFact):
    """A fact that a search found, as `FoundMemory`. A view of `FactHit`."""

    kind: Literal["fact"] = "fact"
    score: float
    confidence: float
    why: Why


Found = Annotated[FoundMemory | FoundMessage | FoundFact, Field(discriminator="kind")]


class FoundMemories(WireModel):
    """The hits of a search, best first, and the parts of the search that failed. A view of `Hits`."""

    memories: tuple[Found, ...]
    degraded: tuple[str, ...]


class CreatedMemory(WireModel):
    """A new memory, the memories that were archived for it, and notices for the user.

    A view of `SavedMemory`: notices are texts in the language of the request.
    """

    memory: Memory
    archived: tuple[UUID, ...]
    notices: tuple[str, ...]


class MemoryRef(WireModel):
    """The id of a memory."""

    id: UUID


class CreatedMemories(WireModel):
    """New memories in the order of the request, the memories that were archived for them, and notices."""

    created: tuple[MemoryRef, ...]
    archived: tuple[UUID, ...]
    notices: tuple[str, ...]


class Summary(WireModel):
    """The memory of a summarised session. None if every message was summarised before."""

    memory: Memory | None
    notices: tuple[str, ...]


class StatedFact(Fact):
    """A fact of a moment. `past`: it is no longer current, and shown as past."""

    past: bool


class State(WireModel):
    """The current state, the text block that a prompt contains for it, and the facts that are not state."""

    facts: tuple[StatedFact, ...]
    block: str
    chars: int
    ordinary: tuple[StatedFact, ...]


class UserProfile(WireModel):
    """The profile of a user, without the fields that are not set. A view of `Profile`."""

    display_name: str | None = OMIT_NONE
    timezone: str | None = OMIT_NONE
    language: Language | None = OMIT_NONE


class PersonaMemoryConfig(WireModel):
    """The memory settings of a persona, and how many memories it has."""

    config: MemoryConfig
    counts: MemoryCounts


class StateItem(WireModel, from_attributes=True):
    """One line of the state that a reply was based on: a shorter view of a `Fact`."""

    category: str
    key: str
    value: str
    when: date | None
    until: date | None


class RecalledItem(WireModel):
    """What a reply could use, and why: a shorter view of a `Hit`. `summary` is the text to show."""

    kind: HitKind
    id: str
    summary: str
    timestamp: datetime
    role: Literal["user", "assistant"] | None = OMIT_NONE
    """Who said a message."""
    speaker: str | None = OMIT_NONE
    session_ref: Annotated[str | None, AS_SESSION_ID, Field(exclude_if=_is_none)] = None
    score: float
    confidence: float
    why: Why


class Usage(WireModel):
    """Tokens as the model counted them."""

    input_tokens: int
    output_tokens: int


class RememberingJob(WireModel):
    """The job that remembers a turn."""

    job_id: UUID
    status: JobStatus


class Remembered(WireModel):
    """What a job changed, and what it refused with the reason."""

    changes: tuple[FactChange, ...]
    dropped: tuple[Refusal, ...]


class PromptText(WireModel):
    """What a model reads: a system prompt, and messages of which the last is the user's."""

    system: str
    messages: tuple[Message, ...]


class PromptContext(WireModel):
    """A prompt for a model of one's own, its parts, and what was recalled for it."""

    prompt: PromptText
    parts: tuple[PromptPart, ...]
    """In the order of the prompt. `leftOut` counts the items for which there was no room."""
    recalled: tuple[RecalledItem, ...]
    tokens: int
    """The estimated tokens of the prompt, at most `budget`."""
    budget: int


class ChatTurn(WireModel):
    """The reply, what it was based on, what it changed, and notices for the user.

    A view of `gieok.ChatTurn` without its prompt and its cycle record.
    """

    session_ref: Annotated[str, AS_SESSION_ID]
    reply: str
    recalled: tuple[RecalledItem, ...]
    degraded: tuple[str, ...]
    """The parts of recall that failed, where the plan allows it."""
    state: tuple[StateItem, ...]
    turn_id: str
    """The id of the user's message."""
    remembering: RememberingJob | None
    """The job that remembers this turn; None if the plan's `every` is not reached yet, or it makes none."""
    changes: tuple[FactChange, ...]
    """The facts that changed: with `waitMemory`, or if the plan remembers in its own cycle."""
    dropped: tuple[Refusal, ...]
    """What the model proposed and was refused; as `changes`."""
    memory: Memory | None = OMIT_NONE
    """The memory that the plan made in this turn. The shipped plans leave that to a job."""
    summary_jobs: tuple[UUID, ...]
    """The jobs that summarise this session, if it has become long enough."""
    notices: tuple[str, ...]
    plan_hash: str
    usage: Usage


class StartedSession(WireModel):
    """A new session, and the memories that its conversation starts with."""

    session_ref: Annotated[str, AS_SESSION_ID]
    plan_hash: str
    memories: tuple[Memory, ...]


class SessionWindow(WireModel):
    """A session and the messages that a reply would be based on."""

    session: SessionInfo
    messages: tuple[ChatMessage, ...]


class SavedMessages(WireModel):
    """How many of the messages were new, how many the session has now, and the job that remembers them."""

    saved: int
    message_count: int
    turn_id: str | None
    """The id of the last of these messages that the user said."""
    remembering: RememberingJob | None
    changes: tuple[FactChange, ...]
    dropped: tuple[Refusal, ...]


class DeletedSession(WireModel):
    """How much was deleted with a session."""

    messages: int
    turn_memories: int
    memories: int
    facts: int


class LorebookSize(WireModel):
    """How many entries an imported lorebook has."""

    entries: int


class ImportedPersona(WireModel):
    """A persona that was imported from a file."""

    persona: PersonaCard
    lorebook: LorebookSize
    kept: tuple[str, ...]
    """Fields of the file that Gieok does not use. An export contains them."""
    left_out: tuple[str, ...]
    """Parts of the file that are not kept: `image`, `assets`."""


class DeletedPersona(WireModel):
    """How much was deleted with a persona."""

    memories: int
    facts: int
    sessions: int
    messages: int
    turn_memories: int


class MovedSession(WireModel):
    """A session that was moved to another plan, and the audit entry of the move."""

    session: SessionInfo
    move: PlanMove


class JobState(WireModel):
    """The progress of a background job. `error` is the code of the last failure.

    A view of `Job`: a job is `done` for clients as soon as it has made a memory, even if a worker is going to
    replace an excerpt by a better summary later.
    """

    id: UUID
    kind: JobKind
    status: JobStatus
    attempts: int
    error: str | None = OMIT_NONE
    memory_id: UUID | None = OMIT_NONE
    result: Remembered | WalkResult | None = OMIT_NONE
    """What a remember job changed and refused, or what a walk has found, while it is stored."""


class JobPage(WireModel):
    """Jobs, newest first. `next_cursor` is None on the last page."""

    jobs: tuple[JobState, ...]
    next_cursor: str | None


class ImportCounts(WireModel):
    """Number of records that were added, by kind, and number of records that existed already."""

    imported: Mapping[str, int]
    unchanged: int


class Erasure(WireModel):
    """Number of deleted rows, by table. Nobody can read what was sealed with the destroyed key."""

    erased: Mapping[str, int]
    key_destroyed: Literal[True]
    at: datetime


class CompactedSession(WireModel):
    """Anchors to the older messages of a conversation, and how many of the newer messages stay.

    A view of `CompactedConversation`: the client has the messages.
    """

    session_ref: Annotated[str, AS_SESSION_ID]
    anchors: tuple[Anchor, ...]
    evidence: tuple[EvidenceCard, ...]
    kept: int
    left_out: int
    """How many older anchors are stored and did not fit the budget."""


class ProposalReport(WireModel):
    """A proposal with the version that it would replace, its impact, and objections. Nothing is stored."""

    proposal: DecisionProposal
    replaces: Decision | None
    impact: Impact
    guardian: Objections


class Failure(WireModel):
    """Every unsuccessful answer. `error` is a code for programs, `message` is for people."""

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
    """The hash of the plan that was sent."""
