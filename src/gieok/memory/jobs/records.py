"""What is known of work that is done later. A job names things; it holds no content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from gieok.engine import Data
from gieok.memory.fields import SessionRef, Timestamp

JobKind = Literal["summary", "watch", "walk"]
"""`summary` condenses messages of a session; `watch` ends a session that nobody uses any more; `walk` follows
what a session's anchors lead to."""

JobStatus = Literal["queued", "running", "done", "failed"]
Seq = Annotated[int, Field(ge=0)]


class JobDraft(Data):
    """A job that is about to be queued. `first_seq` to `last_seq` are its messages; 0 where it has none."""

    id: UUID
    kind: JobKind
    session_ref: SessionRef
    first_seq: Seq
    last_seq: Seq
    due_at: Timestamp


class Job(Data):
    """A job as it stands."""

    id: UUID
    kind: JobKind
    session_ref: SessionRef
    first_seq: Seq
    last_seq: Seq
    status: JobStatus
    attempts: int
    """How often a worker took it up since it was queued, or last went well."""
    fence: int
    """Grows each time the job is claimed; only the newest claim can settle it."""
    due_at: Timestamp | None
    """From when on a worker may claim it: its time while queued, the end of the lease while running."""
    error: str | None
    """The code of what went wrong last."""
    memory_id: UUID | None
    """The memory that it made."""
    created_at: Timestamp


class JobOutcome(Data):
    """How a claim ended: `queued` for another time, `done`, or `failed` for good."""

    status: Literal["queued", "done", "failed"]
    due_at: Timestamp | None = None
    error: str | None = None
    memory_id: UUID | None = None


@dataclass(frozen=True)
class ClaimedJob:
    """A job in the hands of a worker, and whose it is."""

    owner: str
    job: Job
