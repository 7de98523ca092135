"""Stored cycle records: how a turn or a job of a session ran. Ids, counts and times; no content.

They are stored in the commit of their cycle, so a cycle that fails stores none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol
from uuid import UUID

from gieok.engine import CycleRecord, Data
from gieok.memory.fields import AS_SESSION_ID, Timestamp


@dataclass(frozen=True)
class CycleSubject:
    """What a cycle was about: a turn of a session, or a job that worked on the session."""

    session_ref: Annotated[str, AS_SESSION_ID]
    turn_id: str | None = None
    job_id: UUID | None = None


@dataclass(frozen=True, kw_only=True)
class StoredCycle(CycleRecord):
    """A cycle record with its subject. It is stored by the commit, so its times end before that is synced."""

    session_ref: Annotated[str, AS_SESSION_ID]
    turn_id: str | None
    """The turn that the cycle answered. None for a job."""
    job_id: UUID | None
    """The job that the cycle did. None for a turn."""


class CyclePosition(Data):
    """A position in a list of cycles, which is ordered by start, newest first, then by id."""

    started_at: Timestamp
    cycle_id: UUID


class CyclePage(Data):
    """One page of the cycles of a session, newest first. `next_cursor` is None on the last page."""

    cycles: tuple[StoredCycle, ...]
    next_cursor: str | None


class CycleStore(Protocol):
    """The last cycle records of one owner, inside one transaction."""

    def save(self, subject: CycleSubject, record: CycleRecord, keep: int) -> None:
        """Store a record and delete the owner's oldest ones, so that `keep` are left."""
        ...

    def list(
        self,
        session_ref: str,
        *,
        turn_id: str | None,
        job_id: UUID | None,
        after: CyclePosition | None,
        limit: int,
    ) -> Sequence[StoredCycle]:
        """The cycles of a session, newest first; only those of a turn or of a job if one is given."""
        ...
