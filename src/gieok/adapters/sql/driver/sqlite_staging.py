"""Large commits on SQLite in parts, so that other owners' writes wait for one part at most.

The parts are stored first, where nobody reads them. One small commit then holds the owner: from here on,
every transaction of this owner first helps to apply the parts (`advance`), each in a transaction of its own,
until all are stored. So nobody sees half of them, and a killed process leaves nothing half done: the next
transaction of this owner, in any process, continues. If a row was changed after it was copied, the parts that
were applied are undone in the same way. Other owners are not affected.
"""

from __future__ import annotations

from time import time_ns
from typing import Any, cast
from uuid import uuid4

import apsw

from gieok.adapters.sql.driver.database import Row, Session
from gieok.adapters.sql.driver.sqlite_copy import GUARD, HELD, UnfinishedCommitError

ABANDONED_MICROSECONDS = 3600 * 1_000_000
"""Age at which a commit that is not being applied has lost its process."""

_BEGIN = """
    INSERT INTO staged_commits (owner, id, state, parts, applied, created_at)
    VALUES (:owner, :id, 'staging', 0, 0, :now)
"""
_ADD_PART = """
    INSERT INTO staged_changes
    SELECT owner, id, parts, :changes FROM staged_commits
    WHERE owner = :owner AND id = :id AND state = 'staging'
"""
_COUNT_PART = "UPDATE staged_commits SET parts = parts + 1 WHERE owner = :owner AND id = :id"
_HOLD = "UPDATE staged_commits SET state = 'applying' WHERE owner = :owner AND id = :id AND state = 'staging'"
_GET_PART = "SELECT changes FROM staged_changes WHERE owner = :owner AND id = :id AND number = :number"
_ADVANCE = "UPDATE staged_commits SET state = :state, applied = :applied WHERE owner = :owner AND id = :id"
_STATE = "SELECT state FROM staged_commits WHERE owner = :owner AND id = :id"
_TO_DELETE = """
    SELECT owner, id FROM staged_commits
    WHERE state NOT IN ('applying', 'undoing') AND ((owner = :owner AND id = :id) OR created_at < :before)
    LIMIT 1
"""
_DELETE_PART = """
    DELETE FROM staged_changes WHERE owner = :owner AND id = :id
    AND number = (SELECT max(number) FROM staged_changes WHERE owner = :owner AND id = :id)
"""
_END = "DELETE FROM staged_commits WHERE owner = :owner AND id = :id"


class ChangedMeanwhileError(Exception):
    """The owner's rows were changed after they were copied. Copy them again and repeat the work."""


def check_finished(session: Session, owner: str) -> None:
    """UnfinishedCommitError if the owner is held by a commit."""
    if session.fetch(HELD, {"owner": owner}):
        raise UnfinishedCommitError


def apply_at_once(session: Session, owner: str, guard: list[Row], changes: bytes) -> None:
    """Apply changes that are small. ChangedMeanwhileError if they do not fit any more."""
    check_finished(session, owner)
    _check_guard(session, owner, guard)
    if not _apply(session, changes):
        raise ChangedMeanwhileError


class StagedCommit:
    """One large commit of an owner. Each method is one transaction, to be called in this order."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self._row = {"owner": owner, "id": uuid4().bytes}

    def begin(self, session: Session) -> None:
        """Begin to store parts."""
        session.execute(_BEGIN, {**self._row, "now": _now()})

    def add(self, session: Session, changes: bytes) -> None:
        """Store the next part. ChangedMeanwhileError if the owner was erased."""
        if not session.execute(_ADD_PART, {**self._row, "changes": changes}):
            raise ChangedMeanwhileError
        session.execute(_COUNT_PART, self._row)

    def hold(self, session: Session, guard: list[Row]) -> None:
        """Hold the owner until all parts are applied. ChangedMeanwhileError if they do not fit any more."""
        check_finished(session, self.owner)
        _check_guard(session, self.owner, guard)
        if not session.execute(_HOLD, self._row):
            raise ChangedMeanwhileError

    def check_stored(self, session: Session) -> None:
        """ChangedMeanwhileError if the parts were undone."""
        if session.fetch(_STATE, self._row) == [("undone",)]:
            raise ChangedMeanwhileError

    def delete_part(self, session: Session) -> bool:
        """Delete a part of this commit, or of one whose process was killed. False if there is none left."""
        before = _now() - ABANDONED_MICROSECONDS
        for owner, identity in session.fetch(_TO_DELETE, {**self._row, "before": before}):
            row = {"owner": owner, "id": identity}
            return bool(session.execute(_DELETE_PART, row) or session.execute(_END, row))
        return False


def advance(session: Session, owner: str) -> bool:
    """Apply or undo the next part of the commit that holds the owner. False if it is finished."""
    held = session.fetch(HELD, {"owner": owner})
    if not held:
        return False
    identity, state, parts, applied = held[0]
    row = {"owner": owner, "id": identity}
    if state == "applying":
        fits = _apply(session, session.fetch(_GET_PART, {**row, "number": applied})[0][0])
        applied += fits
        state = "undoing" if not fits else "stored" if applied == parts else state
    elif applied:
        applied -= 1
        part = session.fetch(_GET_PART, {**row, "number": applied})[0][0]
        _apply(session, apsw.Changeset.invert(part), undo=True)
    if state == "undoing" and not applied:
        state = "undone"
    session.execute(_ADVANCE, {**row, "state": state, "applied": applied})
    return state in ("applying", "undoing")


def _now() -> int:
    return time_ns() // 1000


def _check_guard(session: Session, owner: str, guard: list[Row]) -> None:
    if session.fetch(GUARD, {"owner": owner}) != guard:
        raise ChangedMeanwhileError


def _apply(session: Session, changes: bytes, *, undo: bool = False) -> bool:
    """Apply changes as a whole. False if a row is not as it was, and then nothing was changed."""
    conflict = _overwrite if undo else _stop
    try:
        apsw.Changeset.apply(changes, cast(Any, session).connection, conflict=conflict)
    except apsw.AbortError:
        return False
    return True


def _stop(_reason: int, _change: object) -> int:
    return apsw.SQLITE_CHANGESET_ABORT


def _overwrite(reason: int, _change: object) -> int:
    """Undo in any case. Only a worker that claimed a job can have changed a row meanwhile."""
    can_replace = reason in (apsw.SQLITE_CHANGESET_DATA, apsw.SQLITE_CHANGESET_CONFLICT)
    return apsw.SQLITE_CHANGESET_REPLACE if can_replace else apsw.SQLITE_CHANGESET_OMIT
