"""One service for many tests: each has an owner of its own, and owners do not see each other."""

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
    """A client of one owner that expects an answer, and gives back its body."""

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
        """The id of a new persona."""
        return self.post("/personas", {"name": name, **fields}, 201)["persona"]["id"]

    def memory(self, persona: str, summary: str, **fields: Any) -> dict[str, Any]:
        """A new memory."""
        return self.post("/memory/create", {"personaId": persona, "manualSummary": summary, **fields}, 201)[
            "memory"
        ]


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service on a database of each kind, for all tests that need no clock and no model of their own."""
    folder = tmp_path_factory.mktemp("service")
    url = f"sqlite:///{folder / 'data' / 'gieok.db'}"
    if request.param == "postgres":
        postgres: Postgres = request.getfixturevalue("postgres")
        url = postgres.new_database()
    with serving(settings_for(url, folder / "config" / "root.key"), GENEROUS) as running:
        yield running


@pytest.fixture
def api(shared: Server) -> Iterator[Api]:
    """A client of an owner whom nobody knew before, on the free plan."""
    with shared.client(f"owner-{uuid4()}") as client:
        yield Api(client)
