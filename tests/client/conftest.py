"""Clients of a real service. Each test has its own owner."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import httpx
import pytest

from gieok import Settings
from gieok.client import GieokClient, Retries
from tests.client.scripted_model import ScriptedModel
from tests.rest.conftest import GENEROUS, Server, embedded, serving
from tests.rest.routes.conftest import shared

__all__ = ["embedded", "shared"]


@pytest.fixture
async def client(shared: Server) -> AsyncIterator[GieokClient]:
    """A client of a new owner."""
    async with GieokClient(shared.url, shared.token(f"owner-{uuid4()}")) as made:
        yield made


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[httpx.Response]:
    """Every HTTP response that a client receives."""
    received: list[httpx.Response] = []
    send = httpx.AsyncClient.send

    async def recording_send(
        self: httpx.AsyncClient, request: httpx.Request, *, stream: bool = False
    ) -> httpx.Response:
        answer = await send(self, request, stream=stream)
        received.append(answer)
        return answer

    monkeypatch.setattr(httpx.AsyncClient, "send", recording_send)
    return received


@pytest.fixture(scope="module")
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture(scope="module")
def service(embedded: Settings, model: ScriptedModel) -> Iterator[Server]:
    with serving(embedded, GENEROUS, model=model) as running:
        yield running


@pytest.fixture
async def scripted(service: Server) -> AsyncIterator[GieokClient]:
    """A client of a new owner, on a service with the scripted model."""
    async with GieokClient(
        service.url, service.token(f"owner-{uuid4()}"), retries=Retries(first_wait=0.001)
    ) as made:
        yield made
