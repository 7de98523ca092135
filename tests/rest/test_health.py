"""Health checks: liveness and readiness."""

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
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """The database is checked on every request."""
    monkeypatch.setattr(health, "CACHE_SECONDS", 0.0)


@pytest.fixture
def broken(settings: Settings, request: pytest.FixtureRequest) -> Iterator[None]:
    """Makes the database unavailable: moves its file away, or stops its server."""
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


@pytest.mark.usefixtures("no_cache", "server", "broken")
def test_a_service_that_cannot_write_is_alive_but_not_ready(server: Server) -> None:
    answer = httpx.get(server.url + "/readyz", timeout=30)
    assert (answer.status_code, answer.json()["error"]) == (503, "STORE_UNAVAILABLE")
    assert "gieok.db" not in answer.text
    assert httpx.get(server.url + "/healthz").status_code == 200


def test_the_result_of_a_check_is_cached(
    server: Server, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cached result is returned although the database is unavailable now."""
    monkeypatch.setattr(health, "CACHE_SECONDS", 3600.0)
    assert httpx.get(server.url + "/readyz").status_code == 200
    request.getfixturevalue("broken")
    assert httpx.get(server.url + "/readyz").status_code == 200
