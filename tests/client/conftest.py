"""Clients of a real service: each test has an owner of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import httpx
import pytest

from gieok import Settings
from gieok.client import GieokClient, Retries
from tests.client.speaker import Speaker
from tests.rest.conftest import GENEROUS, Server, embedded, serving
from tests.rest.routes.conftest import shared

__all__ = ["embedded", "shared"]


@pytest.fixture
async def client(shared: Server) -> AsyncIterator[GieokClient]:
    """A client of an owner whom nobody knew before."""
    async with GieokClient(shared.url, shared.token(f"owner-{uuid4()}")) as made:
        yield made


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[httpx.Response]:
    """Every answer that a client got, as it came."""
    heard: list[httpx.Response] = []
    send = httpx.AsyncClient.send

    async def listening(
        self: httpx.AsyncClient, request: httpx.Request, *, stream: bool = False
    ) -> httpx.Response:
        answer = await send(self, request, stream=stream)
        heard.append(answer)
        return answer

    monkeypatch.setattr(httpx.AsyncClient, "send", listening)
    return heard


@pytest.fixture(scope="module")
def speaker() -> Speaker:
    return Speaker()


@pytest.fixture(scope="module")
def service(embedded: Settings, speaker: Speaker) -> Iterator[Server]:
    with serving(embedded, GENEROUS, model=speaker) as running:
        yield running


@pytest.fixture
async def talking(service: Server) -> AsyncIterator[GieokClient]:
    async with GieokClient(
        service.url, service.token(f"owner-{uuid4()}"), retries=Retries(first_wait=0.001)
    ) as made:
        yield made
