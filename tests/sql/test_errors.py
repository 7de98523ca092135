"""Every error of apsw and psycopg is mapped to one of Gieok's, and no message quotes stored content."""

from __future__ import annotations

import apsw
import psycopg
import pytest

from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.driver.postgres import errors as postgres
from gieok.errors import Conflict, GieokError, SchemaMismatch, StoreDamaged, StoreUnavailable

PLACE = "/data/gieok.db"
FAULT_CLASSES = "02 03 09 0A 0B 0F 0L 0P 0Z 10 20 21 24 25 26 27 2B 2D 2F 34 38 39 3B 3F 42 44 F0 HV P0"
"""Classes of SQLSTATE that only a bug or an unused feature of the server can cause."""


def test_every_error_of_apsw_is_mapped() -> None:
    """A new error class in a later apsw fails here until it is mapped."""
    kinds = [kind for kind in vars(apsw).values() if isinstance(kind, type) and issubclass(kind, apsw.Error)]
    assert apsw.BusyError in kinds
    for kind in kinds:
        translated = sqlite_file.translate_error(kind("the secret text"), PLACE)
        assert isinstance(translated, GieokError)
        assert PLACE in str(translated)
        assert "secret" not in str(translated)
        if type(translated) is GieokError:
            assert kind is apsw.Error or kind in sqlite_file.INTERNAL_ERRORS, f"{kind.__name__} is not mapped"


def test_every_error_of_postgresql_is_mapped() -> None:
    """A new SQLSTATE in a later psycopg fails here until it is mapped."""
    classes = [kind for kind in vars(psycopg.errors).values() if isinstance(kind, type)]
    kinds = [kind for kind in classes if issubclass(kind, psycopg.Error) and kind.sqlstate]
    assert psycopg.errors.UniqueViolation in kinds
    for kind in kinds:
        translated = postgres.translate_error(kind("the secret text"), PLACE)
        assert isinstance(translated, GieokError)
        assert PLACE in str(translated)
        assert "secret" not in str(translated)
        if type(translated) is GieokError:
            assert str(kind.sqlstate)[:2] in FAULT_CLASSES, f"{kind.__name__} is not mapped"


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
def test_errors_of_psycopg_are_mapped_by_class(kind: type[psycopg.Error], expected: type[GieokError]) -> None:
    assert type(postgres.translate_error(kind("text"), PLACE)) is expected


@pytest.mark.parametrize("translate", [sqlite_file.translate_error, postgres.translate_error])
def test_other_errors_are_returned_unchanged(translate: object) -> None:
    error = ValueError("mine")
    assert callable(translate)
    assert translate(error, "here") is error
