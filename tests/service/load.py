"""Load: owners who use a service continuously, and a record of what it has acknowledged."""

from __future__ import annotations

import asyncio
import random
import string
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx

TURNS_PER_SESSION = 4
UNREACHABLE = (httpx.TransportError, httpx.RemoteProtocolError)


@dataclass
class Acknowledged:
    """What the service has answered with success. All of it must be stored from then on."""

    turns: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Session ids, each with the unique word of a turn."""
    memories: list[str] = field(default_factory=list[str])
    """Their ids."""
    messages: list[str] = field(default_factory=list[str])
    """Their ids."""
    closed: list[str] = field(default_factory=list[str])
    """Sessions."""

    def __len__(self) -> int:
        return len(self.turns) + len(self.memories) + len(self.messages) + len(self.closed)


class LoadClient:
    """One owner who chats, creates memories and closes sessions, in an endless loop.

    Each client starts its own sessions, because it closes them. A message without a session goes to any open
    one of the owner, perhaps of another client, which may close it at the same time.
    """

    def __init__(
        self, owner: str, url: str, token: str, acknowledged: Acknowledged, chance: random.Random
    ) -> None:
        self.owner = owner
        self.acknowledged = acknowledged
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"}
        self._chance = chance

    async def run(self, progress: asyncio.Semaphore) -> int:
        """Run until the service is unreachable or refuses. Returns its last status, 0 if it is unreachable.

        Each acknowledgement is recorded and releases `progress`.
        """
        async with httpx.AsyncClient(
            base_url=f"{self._url}/api/v1", headers=self._headers, timeout=60, verify=False
        ) as client:
            try:
                while True:
                    await self._one_session(client, progress)
            except UNREACHABLE:
                return 0
            except httpx.HTTPStatusError as refused:
                return refused.response.status_code

    async def _one_session(self, client: httpx.AsyncClient, progress: asyncio.Semaphore) -> None:
        session: str | None = None
        for _ in range(self._chance.randint(1, TURNS_PER_SESSION)):
            place = {"newSession": True} if session is None else {"sessionId": session}
            session = await self._turn(client, progress, **place)
            memory = {"personaId": "hana", "manualSummary": f"{new_word(self._chance)} 이야기를 나눔."}
            self.acknowledged.memories.append((await _post(client, "/memory/create", memory))["memory"]["id"])
            progress.release()
            await self._turn(client, progress)
        messages = [{"id": str(uuid4()), "role": role, "content": "그래"} for role in ("user", "assistant")]
        await _post(client, f"/sessions/{session}/messages", {"messages": messages})
        self.acknowledged.messages.extend(str(each["id"]) for each in messages)
        progress.release()
        if self._chance.random() < 0.5:
            await _post(client, f"/sessions/{session}/close", {})
            self.acknowledged.closed.append(str(session))
            progress.release()

    async def _turn(self, client: httpx.AsyncClient, progress: asyncio.Semaphore, **place: object) -> str:
        """Send a message. Returns the session that it is stored in."""
        word = new_word(self._chance)
        message = {"personaId": "hana", "message": goal(word), **place}
        session = str((await _post(client, "/chat/send", message))["sessionId"])
        self.acknowledged.turns.append((session, word))
        progress.release()
        return session


def new_word(chance: random.Random) -> str:
    """A unique word."""
    return "q" + "".join(chance.choices(string.ascii_lowercase, k=11))


def goal(word: str) -> str:
    """A message that creates a fact and a memory, both with this word."""
    return f"내 목표는 {word} 합격이야"


@contextmanager
def cancelled_on_exit(tasks: list[asyncio.Task[int]]) -> Generator[None]:
    """Cancel the tasks when the block ends, also with an error."""
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


async def _post(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = await client.post(path, json=body)
    answer.raise_for_status()
    return answer.json()
