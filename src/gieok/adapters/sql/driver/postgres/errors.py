"""The mapping of psycopg's errors to `gieok.errors`.

A few SQLSTATE codes are mapped one by one, the others by their class (the first two characters). An error
without a SQLSTATE did not come from the server: it is mapped by psycopg's class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import psycopg

from gieok.errors import Conflict, GieokError, SchemaMismatch, StoreDamaged, StoreUnavailable

_ErrorClass = Callable[[str], GieokError]

_UNREACHABLE = "{place} cannot be reached; start PostgreSQL or correct the database URL, then try again"
_REFUSED = "{place} refuses this login; correct the user, the password or pg_hba.conf"
_NOT_ALLOWED = (
    "the login role lacks a permission in {place}; grant it the schema gieok, or CREATE on the database"
)
_RESTARTING = "{place} is being stopped or started; try again in a moment"
_TIMED_OUT = "{place} took too long, because of a lock or high load; nothing was stored, so try again"
_DEADLOCK = "this transaction of {place} was aborted because of a deadlock; nothing was stored, so try again"
_FULL = "{place} has no resources left (disk, memory or connections); free some, then try again"
_READ_ONLY = "{place} is read-only, perhaps a replica; give Gieok the primary server"
_SERVER_ERROR = "{place} reported an internal error; read the log of the server"
_SAME_KEY = "a row with the same key was stored in {place} in the meantime; read it and try again"
_CONSTRAINT = "a row violates a constraint of {place}, so nothing was stored; please report this"
_WRONG_TABLES = "the tables of {place} are not those of its schema version; restore a backup"
_CORRUPT = "{place} reports damaged data; stop writing to it and restore the newest backup"
_BUG = "Gieok used PostgreSQL wrongly on {place}; please report this"

_BY_CODE: Mapping[str, tuple[_ErrorClass, str]] = {
    "23505": (Conflict, _SAME_KEY),
    "23P01": (Conflict, _SAME_KEY),
    "25006": (StoreUnavailable, _READ_ONLY),
    "40P01": (StoreUnavailable, _DEADLOCK),
    "40001": (StoreUnavailable, _DEADLOCK),
    "42501": (StoreUnavailable, _NOT_ALLOWED),
    "42P01": (SchemaMismatch, _WRONG_TABLES),
    "42703": (SchemaMismatch, _WRONG_TABLES),
    "42883": (SchemaMismatch, _WRONG_TABLES),
    "3F000": (SchemaMismatch, _WRONG_TABLES),
    "55P03": (StoreUnavailable, _TIMED_OUT),
    "57014": (StoreUnavailable, _TIMED_OUT),
    "25P03": (StoreUnavailable, _TIMED_OUT),
    "25P04": (StoreUnavailable, _TIMED_OUT),
    "XX001": (StoreDamaged, _CORRUPT),
    "XX002": (StoreDamaged, _CORRUPT),
}

_BY_CODE_CLASS: Mapping[str, tuple[_ErrorClass, str]] = {
    "08": (StoreUnavailable, _UNREACHABLE),
    "22": (StoreDamaged, _CONSTRAINT),
    "23": (StoreDamaged, _CONSTRAINT),
    "28": (StoreUnavailable, _REFUSED),
    "3D": (StoreUnavailable, _UNREACHABLE),
    "40": (StoreUnavailable, _DEADLOCK),
    "53": (StoreUnavailable, _FULL),
    "54": (StoreUnavailable, _FULL),
    "55": (StoreUnavailable, _TIMED_OUT),
    "57": (StoreUnavailable, _RESTARTING),
    "58": (StoreUnavailable, _SERVER_ERROR),
    "72": (StoreUnavailable, _TIMED_OUT),
    "XX": (StoreUnavailable, _SERVER_ERROR),
}

_BY_KIND: tuple[tuple[type[psycopg.Error], _ErrorClass, str], ...] = (
    (psycopg.OperationalError, StoreUnavailable, _UNREACHABLE),
    (psycopg.InterfaceError, StoreUnavailable, _UNREACHABLE),
    (psycopg.IntegrityError, StoreDamaged, _CONSTRAINT),
    (psycopg.DataError, StoreDamaged, _CONSTRAINT),
)


def translate_error(error: BaseException, place: str) -> BaseException:
    """Map an error of psycopg to one of `gieok.errors`. Returns any other error unchanged."""
    if not isinstance(error, psycopg.Error):
        return error
    code = error.sqlstate
    make, text = _find_mapping(error, code)
    return make(f"{text.format(place=place)} (PostgreSQL {code or type(error).__name__})")


def _find_mapping(error: psycopg.Error, code: str | None) -> tuple[_ErrorClass, str]:
    if code is not None:
        return _BY_CODE.get(code) or _BY_CODE_CLASS.get(code[:2]) or (GieokError, _BUG)
    for kind, make, text in _BY_KIND:
        if isinstance(error, kind):
            return make, text
    return GieokError, _BUG
