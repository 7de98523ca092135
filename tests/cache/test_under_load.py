"""Two services on one database while their Redis fails in every way: nothing is lost, nothing is doubled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.redis_server import RedisServer
from tests.service.process import Place, Service

OWNERS = ("ana", "ben", "cem")
TURNS = 24


class CachedPlace(Place):
    cache_url = ""

    @property
    def environ(self) -> dict[str, str]:
        return super().environ | {"GIEOK_CACHE_URL": self.cache_url}


class Conversation:
    """One owner who talks to both services in turn."""

    def __init__(self, owner: str, token: str, services: tuple[Service, Service]) -> None:
        self.owner = owner
        self._urls = [service.url for service in services]
        self._session = ""
        self._client = httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)

    async def talk(self, done: Callable[[], None]) -> None:
        created = await self._client.post(f"{self._urls[0]}/api/v1/personas", json={"name": "Hana"})
        body: dict[str, Any] = {"personaId": created.json()["persona"]["id"]}
        for number in range(TURNS):
            sent = {**body, "message": self.text(number), "messageId": f"m{number}"}
            answer = await self._client.post(f"{self._urls[number % 2]}/api/v1/chat/send", json=sent)
            assert answer.status_code == 200, answer.text
            body["sessionId"] = self._session = answer.json()["sessionId"]
            done()

    def text(self, number: int) -> str:
        return f"{self.owner} says number {number}"

    async def said(self) -> list[str]:
        """What the log has of the owner, from the service that did not answer last."""
        url = f"{self._urls[0]}/api/v1/sessions/{self._session}/messages?limit=100"
        page = (await self._client.get(url)).json()
        return [each["content"] for each in page["messages"] if each["role"] == "user"]

    async def close(self) -> None:
        await self._client.aclose()


async def fail_in_every_way(server: RedisServer, progress: asyncio.Semaphore) -> None:
    """One failure after the other, each for some turns of the conversations."""

    async def some_turns() -> None:
        for _ in range(6):
            await progress.acquire()

    for begin, end in (
        (server.kill, server.start),
        (server.pause, server.resume),
        (server.fill_up, server.make_room),
        (server.clear, server.clear),
        (server.kill, server.start),
    ):
        await some_turns()
        await asyncio.to_thread(begin)
        await some_turns()
        await asyncio.to_thread(end)


@pytest.mark.timeout(300)
async def test_nothing_is_lost_and_nothing_is_doubled(
    redis_server: RedisServer, database_url: str, tmp_path: Path
) -> None:
    place = CachedPlace(tmp_path, database_url)
    place.cache_url = redis_server.url
    tokens = await place.tokens(*OWNERS, plan="premium")
    progress = asyncio.Semaphore(0)
    with Service(place) as one, Service(place) as two:
        talks = [Conversation(owner, tokens[owner], (one, two)) for owner in OWNERS]
        async with asyncio.TaskGroup() as group:
            failing = group.create_task(fail_in_every_way(redis_server, progress))
            for talk in talks:
                group.create_task(talk.talk(progress.release))
        assert failing.done()
        for talk in talks:
            assert await talk.said() == [talk.text(number) for number in range(TURNS)]
            await talk.close()
