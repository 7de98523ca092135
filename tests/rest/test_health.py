"""Whether the service lives, and whether it can write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from gieok import Settings
from gieok.interfaces.rest.server import health
from gieok.settings import sqlite_path
from tests.postgres import Postgres
from tests.rest.conftest import Server


@pytest.fixture
def always_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The database is asked each time."""
    monkeypatch.setattr(health, "CACHE_SECONDS", 0.0)


@pytest.fixture
def broken(settings: Settings, request: pytest.FixtureRequest) -> Iterator[None]:
    """The database cannot be written from here on: its file is moved away, or its server stopped."""
    path = sqlite_path(settings.database_url)
    if path is not None:
        path.rename(Path(f"{path}.away"))
        yield
        return
    server: Postgres = request.getfixturevalue("postgres")
    server.stop()
    yield
    server.start()


def test_a_service_that_can_write_is_ready(server: Server) -> None:
    assert httpx.get(server.url + "/healthz").json() == {"success": True, "status": "alive"}
    assert httpx.get(server.url + "/readyz").json() == {"success": True, "status": "ready"}


@pytest.mark.usefixtures("always_asked", "server", "broken")
def test_a_service_that_cannot_write_lives_and_is_not_ready(server: Server) -> None:
    answer = httpx.get(server.url + "/readyz", timeout=30)
    assert (answer.status_code, answer.json()["error"]) == (503, "STORE_UNAVAILABLE")
    assert "gieok.db" not in answer.text
    assert httpx.get(server.url + "/healthz").status_code == 200


def test_many_who_ask_share_one_check(
    server: Server, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer of a moment ago still stands when the database has gone meanwhile."""
    monkeypatch.setattr(health, "CACHE_SECONDS", 3600.0)
    assert httpx.get(server.url + "/readyz").status_code == 200
    request.getfixturevalue("broken")
    assert httpx.get(server.url + "/readyz").status_code == 200
