"""A turn as server-sent events: tokens, the final event, errors, and a client that disconnects."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from gieok import Settings
from gieok.errors import ModelUnavailable
from gieok.memory.conversation.records import Prompt, Reply
from gieok.testing.models import CountingModel
from tests.rest.conftest import GENEROUS, Server, serving
from tests.rest.routes.conftest import Api

LINE_ENDS = "하나\n둘\u2028셋\u2029넷\x85다섯"


class ScriptedModel(CountingModel):
    """Emits given tokens, then waits or fails if a test asks for it."""

    def __init__(self) -> None:
        self.tokens: tuple[str, ...] = ("안녕, ", "반가워")
        self.failure: Exception | None = None
        self.gate: asyncio.Event | None = None
        self.cancelled = asyncio.Event()

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        for token in self.tokens:
            emit(token)
        try:
            if self.gate is not None:
                await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        if self.failure is not None:
            raise self.failure
        return Reply(text="".join(self.tokens), input_tokens=1, output_tokens=2)


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def service(settings: Settings, model: ScriptedModel) -> Iterator[Server]:
    with serving(settings, GENEROUS, model=model) as running:
        yield running


@pytest.fixture
def api(service: Server) -> Iterator[Api]:
    with service.client("ana") as client:
        yield Api(client)


def events(answer: httpx.Response) -> list[tuple[str, dict[str, Any]]]:
    """The events of a stream, each with its data, one line of JSON."""
    assert answer.headers["content-type"].startswith("text/event-stream")
    found: list[tuple[str, dict[str, Any]]] = []
    for block in answer.text.removesuffix("\n\n").split("\n\n"):
        name, data = block.splitlines()
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def send(api: Api, **fields: Any) -> httpx.Response:
    persona, headers = fields.pop("personaId", None) or api.persona(), fields.pop("headers", None)
    body = {"personaId": persona, "message": "안녕", "stream": True} | fields
    return api.http.post("/api/v1/chat/send", json=body, headers=headers)


def test_a_repeated_stream_has_the_same_answer(api: Api) -> None:
    """The reply is one token then."""
    persona = api.persona()
    first, again = (events(send(api, personaId=persona, headers={"Idempotency-Key": "k1"})) for _ in range(2))
    assert again == [("token", {"text": first[-1][1]["reply"]}), first[-1]]


def test_a_stream_ends_with_the_plain_answer(api: Api, model: ScriptedModel) -> None:
    """Every token is an event with one line of JSON, whatever it contains. `done` is the complete answer."""
    model.tokens = ("안녕, ", LINE_ENDS)
    first, second, (name, done) = events(send(api))
    assert (first, second) == (("token", {"text": "안녕, "}), ("token", {"text": LINE_ENDS}))
    assert (name, done["success"], done["reply"]) == ("done", True, f"안녕, {LINE_ENDS}")
    plain = api.post("/chat/send", {"personaId": api.persona(), "message": "안녕"})
    assert set(done) == set(plain)
    assert api.get(f"/sessions/{done['sessionId']}")["session"]["messageCount"] == 2


def test_an_error_before_the_first_token_is_an_ordinary_response(api: Api, model: ScriptedModel) -> None:
    assert send(api, personaId="nobody").status_code == 404
    assert send(api, sessionId="nobody").status_code == 404
    assert send(api, message=" ").status_code == 422


@pytest.mark.req("ENG-6")
def test_an_error_after_the_first_token_is_an_event(api: Api, model: ScriptedModel) -> None:
    """With the error body. Nothing of the turn is stored."""
    model.failure = ModelUnavailable("away")
    session = api.post("/sessions", {"personaId": (persona := api.persona())}, 201)["sessionId"]
    *_, (name, error) = events(send(api, personaId=persona, sessionId=session))
    assert (name, error["success"], error["error"]) == ("error", False, "MODEL_UNAVAILABLE")
    assert api.get(f"/sessions/{session}")["session"]["messageCount"] == 0


@pytest.mark.req("ENG-6")
def test_a_client_that_disconnects_cancels_its_turn(service: Server, api: Api, model: ScriptedModel) -> None:
    """The cycle is cancelled while the model replies: nothing is stored, and the session can be used."""
    persona = api.persona()
    session = api.post("/sessions", {"personaId": persona}, 201)["sessionId"]
    model.gate = asyncio.Event()
    body = json.dumps(
        {"personaId": persona, "message": "안녕", "sessionId": session, "stream": True}
    ).encode()
    head = (
        f"POST /api/v1/chat/send HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Authorization: {api.http.headers['Authorization']}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.sendall(head.encode() + body)
        received = b""
        while b"event: token" not in received:
            received += connection.recv(4096)
    service.run(asyncio.wait_for(model.cancelled.wait(), 10))
    model.gate = None
    answer = api.post("/chat/send", {"personaId": persona, "message": "다시", "sessionId": session})
    assert answer["reply"] == "안녕, 반가워"
    assert api.get(f"/sessions/{session}")["session"]["messageCount"] == 2
