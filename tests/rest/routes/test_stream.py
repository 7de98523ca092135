"""A turn as server-sent events: its pieces, its end, its failures, and a client that goes away."""

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

LINES = "하나\n둘\u2028셋\u2029넷\x85다섯"


class Speaker(CountingModel):
    """Says what it is told to, piece by piece, and waits or fails in between where a test wants it to."""

    def __init__(self) -> None:
        self.pieces: tuple[str, ...] = ("안녕, ", "반가워")
        self.failure: Exception | None = None
        self.gate: asyncio.Event | None = None
        self.cancelled = asyncio.Event()

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        for piece in self.pieces:
            emit(piece)
        try:
            if self.gate is not None:
                await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        if self.failure is not None:
            raise self.failure
        return Reply(text="".join(self.pieces), input_tokens=1, output_tokens=2)


@pytest.fixture
def speaker() -> Speaker:
    return Speaker()


@pytest.fixture
def service(settings: Settings, speaker: Speaker) -> Iterator[Server]:
    with serving(settings, GENEROUS, model=speaker) as running:
        yield running


@pytest.fixture
def talking(service: Server) -> Iterator[Api]:
    with service.client("ana") as client:
        yield Api(client)


def events(answer: httpx.Response) -> list[tuple[str, dict[str, Any]]]:
    """The events of a stream, each with its data, which is one line of JSON."""
    assert answer.headers["content-type"].startswith("text/event-stream")
    found: list[tuple[str, dict[str, Any]]] = []
    for block in answer.text.removesuffix("\n\n").split("\n\n"):
        name, data = block.splitlines()
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def send(api: Api, **fields: Any) -> httpx.Response:
    persona = fields.pop("personaId", None) or api.persona()
    body = {"personaId": persona, "message": "안녕", "stream": True} | fields
    return api.http.post("/api/v1/chat/send", json=body)


def test_a_stream_ends_with_the_plain_answer(talking: Api, speaker: Speaker) -> None:
    """Every piece is an event with one line of JSON, whatever is in it; `done` is the whole answer."""
    speaker.pieces = ("안녕, ", LINES)
    first, second, (name, done) = events(send(talking))
    assert (first, second) == (("token", {"text": "안녕, "}), ("token", {"text": LINES}))
    assert (name, done["success"], done["reply"]) == ("done", True, f"안녕, {LINES}")
    plain = talking.post("/chat/send", {"personaId": talking.persona(), "message": "안녕"})
    assert set(done) == set(plain)
    assert talking.get(f"/sessions/{done['sessionId']}")["session"]["messageCount"] == 2


def test_a_failure_before_the_first_piece_is_an_ordinary_answer(talking: Api, speaker: Speaker) -> None:
    assert send(talking, personaId="nobody").status_code == 404
    assert send(talking, sessionId="nobody").status_code == 404
    assert send(talking, message=" ").status_code == 422


@pytest.mark.req("ENG-6")
def test_a_failure_after_the_first_piece_is_an_event(talking: Api, speaker: Speaker) -> None:
    """The body of the error, and nothing of the turn is stored."""
    speaker.failure = ModelUnavailable("away")
    session = talking.post("/sessions", {"personaId": (persona := talking.persona())}, 201)["sessionId"]
    *_, (name, error) = events(send(talking, personaId=persona, sessionId=session))
    assert (name, error["success"], error["error"]) == ("error", False, "MODEL_UNAVAILABLE")
    assert talking.get(f"/sessions/{session}")["session"]["messageCount"] == 0


@pytest.mark.req("ENG-6")
def test_a_client_that_goes_away_takes_its_turn_along(
    service: Server, talking: Api, speaker: Speaker
) -> None:
    """The cycle is cancelled while the model speaks: nothing of it is stored, and the session is free."""
    persona = talking.persona()
    session = talking.post("/sessions", {"personaId": persona}, 201)["sessionId"]
    speaker.gate = asyncio.Event()
    body = json.dumps(
        {"personaId": persona, "message": "안녕", "sessionId": session, "stream": True}
    ).encode()
    head = (
        f"POST /api/v1/chat/send HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Authorization: {talking.http.headers['Authorization']}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", service.port)) as line:
        line.sendall(head.encode() + body)
        received = b""
        while b"event: token" not in received:
            received += line.recv(4096)
    service.run(asyncio.wait_for(speaker.cancelled.wait(), 10))
    speaker.gate = None
    answer = talking.post("/chat/send", {"personaId": persona, "message": "다시", "sessionId": session})
    assert answer["reply"] == "안녕, 반가워"
    assert talking.get(f"/sessions/{session}")["session"]["messageCount"] == 2
