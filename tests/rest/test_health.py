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


@pytest.mark.usefixtures("no_cache")
def test_a_service_without_its_keystore_is_not_ready(server: Server, settings: Settings) -> None:
    """Its keys are cached, so that requests of known owners would not notice."""
    path = sqlite_path(settings.keystore_url)
    if path is None:
        pytest.skip("the keystore is in the same server as the database")
    assert httpx.get(server.url + "/readyz").status_code == 200
    path.rename(f"{path}.away")
    answer = httpx.get(server.url + "/readyz")
    assert (answer.status_code, answer.json()["error"]) == (503, "STORE_UNAVAILABLE")
    Path(f"{path}.away").rename(path)
    assert httpx.get(server.url + "/readyz").status_code == 200


def test_a_write_to_a_file_that_was_moved_away_is_refused(server: Server, settings: Settings) -> None:
    path = sqlite_path(settings.database_url)
    if path is None:
        pytest.skip("PostgreSQL has its own files")
    body = {"personaId": "mina", "manualSummary": "면접을 앞두고 있다"}
    with server.client() as client:
        assert client.post("/api/v1/memory/create", json=body).status_code == 201
        path.rename(f"{path}.away")
        refused = client.post("/api/v1/memory/create", json=body)
        assert (refused.status_code, refused.json()["error"]) == (503, "STORE_UNAVAILABLE")
        Path(f"{path}.away").rename(path)
        assert client.post("/api/v1/memory/create", json=body).status_code == 201
        assert client.get("/api/v1/memory/list").json()["total"] == 2
