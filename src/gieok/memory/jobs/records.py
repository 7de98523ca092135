"""Background jobs as records. A job names its subject and holds no content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field

from gieok.engine import Data
from gieok.memory.fields import Timestamp
from gieok.refs import check_ref

JobKind = Literal[
    "remember",
    "summary",
    "excerpt",
    "watch",
    "walk",
    "embed",
    "reindex",
    "index",
    "merge",
    "rotate",
    "archive",
    "deliver",
    "erase",
]
"""What a job does, and what its subject is:

- `remember`: remember exchanges of a session; the session.
- `summary`: summarise messages of a session; the session.
- `excerpt`: replace the excerpt that messages were kept as; the memory.
- `watch`: end a session after inactivity; the session.
- `walk`: follow a session's anchors through the decisions; the session.
- `embed`: give memories their vectors; the persona.
- `reindex`: rebuild the owner's search indexes; the analyzer version to rebuild them for.
- `index`: index the messages and facts that an older release stored; `messages`.
- `merge`: retire the older ones of an owner's facts that share a slot; `facts`.
- `rotate`: replace a data key that has sealed many values; the generation of the key.
- `archive`: move the text of old messages to the archive; `messages`.
- `deliver`: deliver the owner's events; the name of the consumer.
- `erase`: finish the erasure of the owner; the owner.
"""

JobStatus = Literal["queued", "running", "done", "failed"]
Seq = Annotated[int, Field(ge=0)]
Subject = Annotated[str, AfterValidator(lambda value: check_ref(value, "subject"))]


class JobDraft(Data):
    """A job to be queued. `first_seq` to `last_seq` are its messages; 0 if it has none.

    Jobs of one owner in the same lane run one at a time, in the order in which they were queued. A job
    without a lane runs at any time.
    """

    id: UUID
    kind: JobKind
    subject: Subject
    first_seq: Seq = 0
    last_seq: Seq = 0
    lane: Subject | None = None
    due_at: Timestamp


class Job(Data):
    """A job and its state."""

    id: UUID
    kind: JobKind
    subject: Subject
    first_seq: Seq
    last_seq: Seq
    lane: Subject | None = None
    status: JobStatus
    attempts: int
    """How often a worker claimed it since it was queued or last succeeded."""
    fence: int
    """Grows with each claim; only the newest claim can settle the job."""
    due_at: Timestamp | None
    """When a worker may claim it: its time while queued, the end of the lease while running."""
    error: str | None
    """The error code of the last failure."""
    memory_id: UUID | None
    """The memory that it made."""
    created_at: Timestamp


class JobOutcome(Data):
    """How a claim ended: `queued` for another run, `done`, or `failed` for good."""

    status: Literal["queued", "done", "failed"]
    due_at: Timestamp | None = None
    error: str | None = None
    memory_id: UUID | None = None


class ServiceJob(Data):
    """A job of any owner as an operator sees it: without the session or persona that it works on."""

    owner: str
    id: UUID
    kind: JobKind
    status: JobStatus
    attempts: int
    error: str | None
    due_at: Timestamp | None
    created_at: Timestamp


class JobCount(Data):
    """How many jobs of all owners have this kind and status."""

    kind: JobKind
    status: JobStatus
    count: int


class JobPosition(Data):
    """A place in the jobs of all owners."""

    owner: str
    id: UUID


class ServiceJobs(Data):
    """One page of the jobs of all owners, and the counts of all. `next_cursor` is None at the end."""

    jobs: tuple[ServiceJob, ...]
    counts: tuple[JobCount, ...]
    next_cursor: str | None


@dataclass(frozen=True)
class ClaimedJob:
    """A job that a worker has claimed, and its owner."""

    owner: str
    job: Job
