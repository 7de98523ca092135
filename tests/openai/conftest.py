"""A service with a model that records its prompts, and a client that keeps its own conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from gieok import Settings
from gieok.memory.conversation.records import Prompt, Reply
from gieok.testing.clock import Clock
from tests.rest.conftest import GENEROUS, Server, embedded, serving
from tests.sessions.test_withdrawal import Gated

__all__ = ["embedded"]


class Numbered(Gated):
    """Numbers its replies and records the prompts."""

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        made = await super().reply(prompt, emit)
        text = f"{made.text} {len(self.prompts)}"
        for piece in (text[:3], text[3:]):
            emit(piece)
        return made.model_copy(update={"text": text})


class Chat:
    """A client that resends its whole conversation, as every client of chat completions does."""

    def __init__(self, server: Server, http: httpx.Client, persona: str) -> None:
        self.server = server
        self.http = http
        self.persona = persona
        self.messages: list[dict[str, Any]] = []

    def post(self, *, headers: dict[str, str] | None = None, **fields: Any) -> httpx.Response:
        body = {"model": f"gieok/{self.persona}", "messages": self.messages, **fields}
        return self.http.post("/v1/chat/completions", json=body, headers=headers)

    def say(self, text: str, **headers: str) -> httpx.Response:
        """Send a message, and keep it with its reply."""
        self.messages.append({"role": "user", "content": text})
        return self.again(**headers)

    def again(self, **headers: str) -> httpx.Response:
        """Send the conversation up to the last message of the user, and keep the reply."""
        while self.messages[-1]["role"] != "user":
            self.messages.pop()
        answer = self.post(headers=headers)
        assert answer.status_code == 200, answer.text
        self.messages.append(answer.json()["choices"][0]["message"])
        return answer


@pytest.fixture
def model() -> Numbered:
    return Numbered()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server(settings: Settings, model: Numbered, clock: Clock) -> Iterator[Server]:
    """The service on each kind of database, with this model and this clock."""
    with serving(settings, GENEROUS, model=model, clock=clock) as running:
        yield running


@pytest.fixture
def http(server: Server) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


@pytest.fixture
def chat(server: Server, http: httpx.Client) -> Chat:
    """A conversation with a new persona."""
    made = http.post("/api/v1/personas", json={"name": "하나", "systemPrompt": "너는 하나야."}).json()
    return Chat(server, http, made["persona"]["id"])
