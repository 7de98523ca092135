"""New databases for crash tests, of both kinds."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.crash.place import Place
from tests.postgres import Postgres

NewPlace = Callable[[], Place]


@pytest.fixture(params=["sqlite", "postgres"])
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> NewPlace:
    """Creates an empty database, keystore and root key."""
    numbers = itertools.count()

    def on_sqlite() -> Place:
        folder = tmp_path / str(next(numbers))
        return Place(f"sqlite:///{folder / 'data' / 'gieok.db'}", folder / "config" / "root.key", None)

    def on_postgres() -> Place:
        return postgres_place(request.getfixturevalue("postgres"), tmp_path / str(next(numbers)))

    return on_sqlite if request.param == "sqlite" else on_postgres


def postgres_place(server: Postgres, folder: Path) -> Place:
    url = server.new_database()
    admin_url = server.admin_url(str(conninfo_to_dict(url)["dbname"]))
    return Place(url, folder / "config" / "root.key", admin_url)
