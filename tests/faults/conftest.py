"""Gieok on drivers that can be made to fail."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import cast

import psycopg
import pytest

from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.driver.database import Limits
from gieok.adapters.sql.driver.open import open_database
from gieok.app import Gieok, open_vault
from gieok.testing.models import CountingModel
from tests.crash.conftest import NewPlace, new_place
from tests.crash.place import Place
from tests.faults.injector import Faults, SqliteConnection, failing_postgres

__all__ = ["new_place"]


@dataclass(frozen=True)
class Fragile:
    """An open Gieok, where it is, and the faults of its drivers."""

    gieok: Gieok
    place: Place
    faults: Faults


@pytest.fixture
async def fragile(new_place: NewPlace, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Fragile]:
    """One thread reads and one writes, so that the calls of a turn come in the same order each time."""
    faults, place = Faults(), new_place()
    connect = sqlite_file.connect

    def connect_sqlite(*args: object, **options: object) -> sqlite_file.Connection:
        return cast(sqlite_file.Connection, SqliteConnection(connect(*args, **options), faults))  # pyright: ignore[reportArgumentType] - passed on as they came

    monkeypatch.setattr(sqlite_file, "connect", connect_sqlite)
    monkeypatch.setattr(psycopg, "connect", failing_postgres(faults).connect)
    database = open_database(place.url, limits=Limits(readers=1, connections=1))
    gieok = Gieok(database, open_vault(place.settings), CountingModel())
    yield Fragile(gieok, place, faults)
    faults.watch()
    await gieok.close()
