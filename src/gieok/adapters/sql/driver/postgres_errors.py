"""psycopg's errors as ours: the one place where SQLSTATE codes mean something.

The class of a SQLSTATE (its first two characters) decides, with a few single codes before it. An error
without one did not come from the server, so psycopg's own class decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import psycopg

from gieok.errors import Conflict, GieokError, SchemaMismatch, StoreDamaged, StoreUnavailable

_Made = Callable[[str], GieokError]

_GONE = "{place} cannot be reached; start PostgreSQL or correct the database URL, then try again"
_REFUSED = "{place} refuses this login; correct the user, the password or pg_hba.conf"
_NOT_ALLOWED = (
    "the login role may not do this in {place}; grant it the schema gieok, or CREATE on the database"
)
_STOPPED = "{place} is being stopped or started; try again in a moment"
_WAITED = "{place} took too long, because of a lock or of load; nothing was stored, so try again"
_CROSSED = (
    "two writers of {place} waited for each other and this one gave way; nothing was stored, so try again"
)
_FULL = "{place} has no resources left (disk, memory or connections); free some, then try again"
_READ_ONLY = "{place} is read-only, perhaps a replica; give Gieok the primary server"
_SERVER = "{place} reported an error of its own; read the log of the server"
_SAME_KEY = "a row with the same key was stored in {place} meanwhile; read again and decide anew"
_RULES = "a row does not keep the rules of the schema of {place}, so nothing was stored; please report this"
_OTHER_SCHEMA = (
    "a query does not fit the tables of {place}, which are not what its ledger says; restore a backup"
)
_CORRUPT = "{place} reports damaged data; stop writing to it and restore the newest backup"
_FAULT = "Gieok used PostgreSQL wrongly on {place}; please report this"

_BY_CODE: Mapping[str, tuple[_Made, str]] = {
    "23505": (Conflict, _SAME_KEY),
    "23P01": (Conflict, _SAME_KEY),
    "25006": (StoreUnavailable, _READ_ONLY),
    "40P01": (StoreUnavailable, _CROSSED),
    "40001": (StoreUnavailable, _CROSSED),
    "42501": (StoreUnavailable, _NOT_ALLOWED),
    "42P01": (SchemaMismatch, _OTHER_SCHEMA),
    "42703": (SchemaMismatch, _OTHER_SCHEMA),
    "42883": (SchemaMismatch, _OTHER_SCHEMA),
    "3F000": (SchemaMismatch, _OTHER_SCHEMA),
    "55P03": (StoreUnavailable, _WAITED),
    "57014": (StoreUnavailable, _WAITED),
    "25P03": (StoreUnavailable, _WAITED),
    "25P04": (StoreUnavailable, _WAITED),
    "XX001": (StoreDamaged, _CORRUPT),
    "XX002": (StoreDamaged, _CORRUPT),
}

_BY_CODE_CLASS: Mapping[str, tuple[_Made, str]] = {
    "08": (StoreUnavailable, _GONE),
    "22": (StoreDamaged, _RULES),
    "23": (StoreDamaged, _RULES),
    "28": (StoreUnavailable, _REFUSED),
    "3D": (StoreUnavailable, _GONE),
    "40": (StoreUnavailable, _CROSSED),
    "53": (StoreUnavailable, _FULL),
    "54": (StoreUnavailable, _FULL),
    "55": (StoreUnavailable, _WAITED),
    "57": (StoreUnavailable, _STOPPED),
    "58": (StoreUnavailable, _SERVER),
    "72": (StoreUnavailable, _WAITED),
    "XX": (StoreUnavailable, _SERVER),
}

_BY_KIND: tuple[tuple[type[psycopg.Error], _Made, str], ...] = (
    (psycopg.OperationalError, StoreUnavailable, _GONE),
    (psycopg.InterfaceError, StoreUnavailable, _GONE),
    (psycopg.IntegrityError, StoreDamaged, _RULES),
    (psycopg.DataError, StoreDamaged, _RULES),
)


def explain(error: BaseException, place: str) -> BaseException:
    """The error for the caller. What is not psycopg's comes back as it is."""
    if not isinstance(error, psycopg.Error):
        return error
    code = error.sqlstate
    make, text = _meaning(error, code)
    return make(f"{text.format(place=place)} (PostgreSQL {code or type(error).__name__})")


def _meaning(error: psycopg.Error, code: str | None) -> tuple[_Made, str]:
    if code is not None:
        return _BY_CODE.get(code) or _BY_CODE_CLASS.get(code[:2]) or (GieokError, _FAULT)
    for kind, make, text in _BY_KIND:
        if isinstance(error, kind):
            return make, text
    return GieokError, _FAULT
