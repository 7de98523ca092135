"""One service for many tests. Each test has its own owner, so they do not affect each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from gieok.testing.settings import settings_for
from tests.postgres import Postgres
from tests.rest.conftest import GENEROUS, Server, serving


class Api:
    """A client of one owner. Checks the status of an answer and returns its body."""

    def __init__(self, client: httpx.Client) -> None:
        self.http = client

    def call(self, method: str, path: str, status: int = 200, **options: Any) -> dict[str, Any]:
        """The body of an answer with this status."""
        answer = self.http.request(method, f"/api/v1{path}", **options)
        assert answer.status_code == status, answer.text
        return answer.json()

    def get(self, path: str, status: int = 200, **query: Any) -> dict[str, Any]:
        return self.call("GET", path, status, params=query)

    def post(self, path: str, body: Any, status: int = 200, **headers: str) -> dict[str, Any]:
        return self.call("POST", path, status, json=body, headers=headers)

    def persona(self, name: str = "하나", **fields: Any) -> str:
        """Create a persona. Returns its id."""
        return self.post("/personas", {"name": name, **fields}, 201)["persona"]["id"]

    def memory(self, persona: str, summary: str, **fields: Any) -> dict[str, Any]:
        """Create a memory."""
        return self.post("/memory/create", {"personaId": persona, "manualSummary": summary, **fields}, 201)[
            "memory"
        ]


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service on each kind of database, for tests without their own clock or model."""
    folder = tmp_path_factory.mktemp("service")
    url = f"sqlite:///{folder / 'data' / 'gieok.db'}"
    if request.param == "postgres":
        postgres: Postgres = request.getfixturevalue("postgres")
        url = postgres.new_database()
    with serving(settings_for(url, folder / "config" / "root.key"), GENEROUS) as running:
        yield running


@pytest.fixture
def api(shared: Server) -> Iterator[Api]:
    """A client of a new owner on the free plan."""
    with shared.client(f"owner-{uuid4()}") as client:
        yield Api(client)
