"""Owners who talk to a service all the time, and what it has promised them so far."""

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

TURNS_A_SESSION = 4
GONE = (httpx.TransportError, httpx.RemoteProtocolError)


@dataclass
class Promises:
    """What was answered with success: all of it has to be there from then on."""

    turns: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """A session, and the word that was said in it."""
    memories: list[str] = field(default_factory=list[str])
    """Their ids."""
    messages: list[str] = field(default_factory=list[str])
    """Their ids."""
    closed: list[str] = field(default_factory=list[str])
    """Sessions."""

    def __len__(self) -> int:
        return len(self.turns) + len(self.memories) + len(self.messages) + len(self.closed)


class Talker:
    """One owner who talks, has things remembered and closes sessions, one after another, for ever."""

    def __init__(self, owner: str, url: str, token: str, promises: Promises, chance: random.Random) -> None:
        self.owner = owner
        self.promises = promises
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"}
        self._chance = chance

    async def talk(self, told: asyncio.Semaphore) -> int:
        """Go on until the service is gone or refuses; its last status, 0 where it is gone.

        Each promise is noted when it was made, and releases `told`.
        """
        async with httpx.AsyncClient(
            base_url=f"{self._url}/api/v1", headers=self._headers, timeout=60, verify=False
        ) as client:
            try:
                while True:
                    await self._a_session(client, told)
            except GONE:
                return 0
            except httpx.HTTPStatusError as refused:
                return refused.response.status_code

    async def _a_session(self, client: httpx.AsyncClient, told: asyncio.Semaphore) -> None:
        session: str | None = None
        for _ in range(self._chance.randint(1, TURNS_A_SESSION)):
            word = new_word(self._chance)
            said = {"personaId": "hana", "message": goal(word), "sessionId": session}
            session = str((await _post(client, "/chat/send", said))["sessionId"])
            self.promises.turns.append((session, word))
            told.release()
            kept = {"personaId": "hana", "manualSummary": f"{new_word(self._chance)} 이야기를 나눔."}
            self.promises.memories.append((await _post(client, "/memory/create", kept))["memory"]["id"])
            told.release()
        messages = [{"id": str(uuid4()), "role": role, "content": "그래"} for role in ("user", "assistant")]
        await _post(client, f"/sessions/{session}/messages", {"messages": messages})
        self.promises.messages.extend(str(each["id"]) for each in messages)
        told.release()
        if self._chance.random() < 0.5:
            await _post(client, f"/sessions/{session}/close", {})
            self.promises.closed.append(str(session))
            told.release()


def new_word(chance: random.Random) -> str:
    """A word that nobody else says."""
    return "q" + "".join(chance.choices(string.ascii_lowercase, k=11))


def goal(word: str) -> str:
    """A message that makes a fact and a memory, both with this word."""
    return f"내 목표는 {word} 합격이야"


@contextmanager
def ended(tasks: list[asyncio.Task[int]]) -> Generator[None]:
    """No talker outlives the block, whatever happens in it."""
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


async def _post(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = await client.post(path, json=body)
    answer.raise_for_status()
    return answer.json()
