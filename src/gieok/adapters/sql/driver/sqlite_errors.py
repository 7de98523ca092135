"""apsw's errors as ours: the one place where SQLite's result codes mean something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import apsw

from gieok.errors import Conflict, GieokError, SchemaMismatch, StoreDamaged, StoreUnavailable

_LOCKED = "another process holds the write lock of {place}; end it or wait for it, then try again"
_NO_ENTRY = (
    "{place} cannot be opened; check that its folder exists and that this user may read and write there"
)
_READ_ONLY = "{place} is read-only; let this user write to the file and to its folder"
_FULL = "the disk of {place} is full; free some space, then try again"
_DISK = "the disk of {place} reported an error; check the disk, its quota and its log before you go on"
_MEMORY = "there was not enough memory to use {place}; give the process more"
_CLOSED = "{place} was closed meanwhile; open it again"
_CORRUPT = "{place} is damaged; stop writing to it and restore the newest backup"
_NOT_A_DATABASE = "{place} is not a SQLite database; move it away or choose another path"

_UNAVAILABLE: Mapping[type[apsw.Error], str] = {
    apsw.BusyError: _LOCKED,
    apsw.LockedError: _LOCKED,
    apsw.ProtocolError: _LOCKED,
    apsw.CantOpenError: _NO_ENTRY,
    apsw.PermissionsError: _NO_ENTRY,
    apsw.AuthError: _NO_ENTRY,
    apsw.ReadOnlyError: _READ_ONLY,
    apsw.FullError: _FULL,
    apsw.NoLFSError: _FULL,
    apsw.IOError: _DISK,
    apsw.NoMemError: _MEMORY,
    apsw.AbortError: _CLOSED,
    apsw.InterruptError: _CLOSED,
    apsw.ConnectionClosedError: _CLOSED,
    apsw.CursorClosedError: _CLOSED,
    apsw.VFSFileClosedError: _CLOSED,
}

_DAMAGED: Mapping[type[apsw.Error], str] = {
    apsw.CorruptError: _CORRUPT,
    apsw.FormatError: _CORRUPT,
    apsw.EmptyError: _CORRUPT,
    apsw.MismatchError: _CORRUPT,
    apsw.NotADBError: _NOT_A_DATABASE,
}

_SAME_KEY = frozenset(
    (apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY, apsw.SQLITE_CONSTRAINT_ROWID)
)

FAULTS = frozenset(
    (
        apsw.BindingsError,
        apsw.ConnectionNotClosedError,
        apsw.ExecTraceAbort,
        apsw.ExecutionCompleteError,
        apsw.ExtensionLoadingError,
        apsw.ForkingViolationError,
        apsw.IncompleteExecutionError,
        apsw.InternalError,
        apsw.InvalidContextError,
        apsw.MisuseError,
        apsw.NoFTS5Error,
        apsw.NotFoundError,
        apsw.RangeError,
        apsw.ThreadingViolationError,
        apsw.TooBigError,
        apsw.VFSNotImplementedError,
    )
)
"""What only a mistake in Gieok itself can cause."""


def explain(error: BaseException, place: str) -> BaseException:
    """The error for the caller. What is not apsw's comes back as it is."""
    if not isinstance(error, apsw.Error):
        return error
    kind = type(error)
    number = cast(int, getattr(error, "extendedresult", 0))
    code = f"SQLite {kind.__name__} {number}"
    if kind in _UNAVAILABLE:
        return StoreUnavailable(f"{_UNAVAILABLE[kind].format(place=place)} ({code})")
    if kind in _DAMAGED:
        return StoreDamaged(f"{_DAMAGED[kind].format(place=place)} ({code})")
    if kind is apsw.ConstraintError:
        return _explain_constraint(number, place, code)
    if kind in (apsw.SQLError, apsw.SchemaChangeError):
        return SchemaMismatch(
            f"a query does not fit the tables of {place}, which are not what its ledger says; "
            f"restore the newest backup ({code})"
        )
    return GieokError(f"Gieok used SQLite wrongly on {place}; please report this ({code})")


def _explain_constraint(number: int, place: str, code: str) -> GieokError:
    if number in _SAME_KEY:
        return Conflict(
            f"a row with the same key was stored in {place} meanwhile; read again and decide anew ({code})"
        )
    return StoreDamaged(
        f"a row does not keep the rules of the schema of {place}, so nothing was stored; "
        f"please report this ({code})"
    )
