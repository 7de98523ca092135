"""Every error of a driver has a meaning of ours: none is forgotten, none quotes what was being stored."""

from __future__ import annotations

import apsw
import psycopg
import pytest

from gieok.adapters.sql.driver import postgres_errors, sqlite_errors
from gieok.errors import Conflict, GieokError, SchemaMismatch, StoreDamaged, StoreUnavailable

PLACE = "/data/gieok.db"
FAULT_CLASSES = "02 03 09 0A 0B 0F 0L 0P 0Z 10 20 21 24 25 26 27 2B 2D 2F 34 38 39 3B 3F 42 44 F0 HV P0"
"""Classes of SQLSTATE that only a wrong statement or an unused feature of the server can give."""


def test_every_error_of_apsw_has_a_meaning() -> None:
    """A new class in a later apsw fails here until someone has decided what it means."""
    kinds = [kind for kind in vars(apsw).values() if isinstance(kind, type) and issubclass(kind, apsw.Error)]
    assert apsw.BusyError in kinds
    for kind in kinds:
        explained = sqlite_errors.explain(kind("the secret text"), PLACE)
        assert isinstance(explained, GieokError)
        assert PLACE in str(explained)
        assert "secret" not in str(explained)
        if type(explained) is GieokError:
            assert kind is apsw.Error or kind in sqlite_errors.FAULTS, f"{kind.__name__} has no meaning yet"


def test_every_error_of_postgresql_has_a_meaning() -> None:
    """A new class of SQLSTATE in a later psycopg fails here until someone has decided what it means."""
    classes = [kind for kind in vars(psycopg.errors).values() if isinstance(kind, type)]
    kinds = [kind for kind in classes if issubclass(kind, psycopg.Error) and kind.sqlstate]
    assert psycopg.errors.UniqueViolation in kinds
    for kind in kinds:
        explained = postgres_errors.explain(kind("the secret text"), PLACE)
        assert isinstance(explained, GieokError)
        assert PLACE in str(explained)
        assert "secret" not in str(explained)
        if type(explained) is GieokError:
            assert str(kind.sqlstate)[:2] in FAULT_CLASSES, f"{kind.__name__} has no meaning yet"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (psycopg.OperationalError, StoreUnavailable),
        (psycopg.InterfaceError, StoreUnavailable),
        (psycopg.errors.ConnectionTimeout, StoreUnavailable),
        (psycopg.DataError, StoreDamaged),
        (psycopg.IntegrityError, StoreDamaged),
        (psycopg.errors.UniqueViolation, Conflict),
        (psycopg.errors.CheckViolation, StoreDamaged),
        (psycopg.errors.DiskFull, StoreUnavailable),
        (psycopg.errors.AdminShutdown, StoreUnavailable),
        (psycopg.errors.LockNotAvailable, StoreUnavailable),
        (psycopg.errors.DeadlockDetected, StoreUnavailable),
        (psycopg.errors.UndefinedTable, SchemaMismatch),
        (psycopg.errors.DataCorrupted, StoreDamaged),
        (psycopg.ProgrammingError, GieokError),
        (psycopg.NotSupportedError, GieokError),
        (psycopg.InternalError, GieokError),
        (psycopg.DatabaseError, GieokError),
        (psycopg.Error, GieokError),
    ],
)
def test_an_error_of_psycopg_becomes_the_right_one(
    kind: type[psycopg.Error], expected: type[GieokError]
) -> None:
    assert type(postgres_errors.explain(kind("text"), PLACE)) is expected


@pytest.mark.parametrize("explain", [sqlite_errors.explain, postgres_errors.explain])
def test_what_no_driver_raised_is_left_alone(explain: object) -> None:
    error = ValueError("mine")
    assert callable(explain)
    assert explain(error, "here") is error
