"""The gateway: bodies, queries, paths, headers and limits."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.types import Message

from gieok import Settings
from gieok.interfaces.rest.gateway.body import RequestBody
from gieok.interfaces.rest.gateway.caller import Reader
from gieok.interfaces.rest.gateway.gateway import ResponseSender
from gieok.interfaces.rest.gateway.limits import ServiceOptions, Slots
from tests.rest.conftest import GENEROUS, Server, serving

JSON = {"Content-Type": "application/json"}
SMALL = replace(GENEROUS, body_bytes=1000, upload_bytes=2000, body_seconds=1.0)


def add_echo(app: FastAPI) -> None:
    async def echo(caller: Reader, body: dict[str, Any]) -> dict[str, Any]:
        return body

    async def korean(caller: Reader) -> bool:
        return caller.language == "ko"

    app.add_api_route("/api/v1/test/echo", echo, methods=["POST"])
    app.add_api_route("/api/v1/test/korean", korean)


@pytest.fixture(scope="module")
def server(embedded: Settings) -> Iterator[Server]:
    """A service with small limits and an echo route."""
    with serving(embedded, SMALL, extend=add_echo) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as made:
        yield made


def refused(answer: httpx.Response, status: int, code: str) -> str:
    """Check the status and the code of an error. Returns its message."""
    body = answer.json()
    assert (answer.status_code, body["success"], body["error"]) == (status, False, code)
    return body["message"]


def test_a_json_body_reaches_its_route(client: httpx.Client) -> None:
    body: dict[str, Any] = {"text": "안녕 😀", "numbers": [1, 2.5, None, True], "inner": {}}
    assert client.post("/api/v1/test/echo", json=body).json() == body


def test_a_chunked_body_reaches_its_route(client: httpx.Client) -> None:
    pieces = (piece for piece in (b'{"a"', b": ", b"1}"))
    assert client.post("/api/v1/test/echo", content=pieces, headers=JSON).json() == {"a": 1}


def test_a_content_length_above_the_limit_is_refused(client: httpx.Client) -> None:
    answer = client.post("/api/v1/test/echo", content=b"x" * 1001, headers=JSON)
    assert "at most 1000 bytes" in refused(answer, 413, "PAYLOAD_TOO_LARGE")


def test_a_chunked_body_above_the_limit_is_refused(client: httpx.Client) -> None:
    answer = client.post("/api/v1/test/echo", content=(b"x" * 100 for _ in range(11)), headers=JSON)
    assert "send it in parts" in refused(answer, 413, "PAYLOAD_TOO_LARGE")


@pytest.mark.parametrize("chunked", [True, False])
def test_the_error_of_a_large_import_names_the_command(client: httpx.Client, chunked: bool) -> None:
    """An import cannot be split, because it is imported completely or not at all."""
    line = b'{"kind":"gieok","format":1,"exportedAt":"2026-01-01T00:00:00Z"}\n'
    content = (line for _ in range(100)) if chunked else line * 100
    message = refused(client.post("/api/v1/me/import", content=content), 413, "PAYLOAD_TOO_LARGE")
    assert "at most 2000 bytes here" in message
    assert "`gieok memory import`" in message


@pytest.mark.parametrize(
    ("headers", "at", "message"),
    [
        ({}, "Content-Type", "application/json"),
        ({"Content-Type": "text/plain"}, "Content-Type", "application/json"),
        ({"Content-Type": "application/x-www-form-urlencoded"}, "Content-Type", "application/json"),
        ({"Content-Type": "application/json; charset=euc-kr"}, "Content-Type", "UTF-8"),
        ({**JSON, "Content-Encoding": "gzip"}, "Content-Encoding", "compressed"),
    ],
)
def test_a_body_of_another_type_is_refused(
    client: httpx.Client, headers: dict[str, str], at: str, message: str
) -> None:
    answer = client.post("/api/v1/test/echo", content=b"{}", headers=headers)
    assert message in refused(answer, 422, "VALIDATION_FAILED")
    assert answer.json()["at"] == at


def test_the_content_type_may_name_utf_8(client: httpx.Client) -> None:
    headers = {"Content-Type": 'Application/JSON; charset="UTF-8"'}
    assert client.post("/api/v1/test/echo", content=b"{}", headers=headers).status_code == 200


def test_ambiguous_json_is_refused_with_its_place(client: httpx.Client) -> None:
    answer = client.post("/api/v1/test/echo", content=b'{"a": {"b": 1, "b": 2}}', headers=JSON)
    assert "twice" in refused(answer, 422, "VALIDATION_FAILED")
    assert answer.json()["at"] == "a"


def test_a_body_that_does_not_arrive_times_out(server: Server) -> None:
    head = (
        f"POST /api/v1/test/echo HTTP/1.1\r\nHost: gieok\r\nAuthorization: Bearer {server.token()}\r\n"
        "Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as slow:
        slow.sendall(head.encode())
        answer = b"".join(iter(lambda: slow.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 422")
    assert b"did not arrive" in answer


@pytest.mark.parametrize("query", ["q=%", "q=%zz", "q=%f", "q=%00", "q=%ff", "q=%ed%a0%80"])
def test_a_malformed_query_is_refused(client: httpx.Client, query: str) -> None:
    answer = client.get(httpx.URL("/api/v1/test/korean", query=query.encode()))
    assert "query string" in refused(answer, 422, "VALIDATION_FAILED")


def test_a_korean_query_is_accepted(client: httpx.Client) -> None:
    assert client.get("/api/v1/test/korean", params={"q": "면접 100%"}).status_code == 200


@pytest.mark.parametrize("path", ["/api/v1/%00", "/api/v1/test/%ff", "/nothing", "/api/v1/test/korean/"])
def test_an_unknown_path_is_not_found(client: httpx.Client, path: str) -> None:
    refused(client.get(path), 404, "NOT_FOUND")


def test_an_unsupported_method_is_not_found(client: httpx.Client) -> None:
    refused(client.delete("/api/v1/test/korean"), 404, "NOT_FOUND")
    refused(client.request("PROPFIND", "/api/v1/test/korean"), 404, "NOT_FOUND")


@pytest.mark.parametrize("path", ["/healthz", "/docs", "/api/v1/test/korean", "/nothing"])
def test_every_answer_has_the_common_headers(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.headers["x-request-id"]
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "server" not in answer.headers


def test_a_client_may_set_the_request_id(client: httpx.Client) -> None:
    named = client.get("/healthz", headers={"X-Request-Id": "order-66.a_b"})
    assert named.headers["x-request-id"] == "order-66.a_b"


@pytest.mark.parametrize("name", ["", "a b", "a\tb", "한".encode().decode("latin-1"), "x" * 65])
def test_a_request_id_that_is_unsafe_to_log_is_replaced(client: httpx.Client, name: str) -> None:
    answer = client.get("/healthz", headers={b"X-Request-Id": name.encode("latin-1")})
    assert answer.headers["x-request-id"] not in ("", name)


def test_the_language_of_the_client(client: httpx.Client) -> None:
    assert client.get("/api/v1/test/korean").json() is True
    assert client.get("/api/v1/test/korean", headers={"Accept-Language": "en-US"}).json() is False


def test_the_rate_limit_is_per_owner(embedded: Settings) -> None:
    with (
        serving(embedded, replace(GENEROUS, rate_per_second=0.01, rate_burst=2)) as server,
        server.client("ana") as ana,
        server.client("ben") as ben,
    ):
        assert [ana.get("/api/v1/memory/list").status_code for _ in range(3)] == [200, 200, 429]
        late = ana.get("/api/v1/memory/list")
        refused(late, 429, "RATE_LIMITED")
        assert 0 < int(late.headers["retry-after"]) <= 100
        assert ben.get("/api/v1/memory/list").status_code == 200
        assert ana.get("/healthz").status_code == 200


def test_a_request_above_the_concurrency_limit_is_refused(embedded: Settings) -> None:
    """With one slot and no queue, a second request is refused while the first runs. Health checks are not."""
    inside, leave = threading.Event(), threading.Event()

    def add_slow(app: FastAPI) -> None:
        async def slow(caller: Reader) -> bool:
            inside.set()
            return await asyncio.to_thread(leave.wait, 30)

        app.add_api_route("/api/v1/test/slow", slow)

    options = replace(GENEROUS, requests=Slots(1, per_owner=1, waiting=0))
    with serving(embedded, options, extend=add_slow) as server, server.client() as client:
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(client.get, "/api/v1/test/slow")
            assert inside.wait(30)
            busy = client.get("/api/v1/memory/list")
            assert client.get("/healthz").status_code == 200
            leave.set()
            assert first.result().json() is True
        refused(busy, 429, "RATE_LIMITED")
        assert "retry-after" in busy.headers
        assert client.get("/api/v1/memory/list").status_code == 200


def test_a_request_that_takes_too_long_is_cancelled(embedded: Settings) -> None:
    def add_endless(app: FastAPI) -> None:
        async def endless(caller: Reader) -> None:
            await asyncio.Event().wait()

        app.add_api_route("/api/v1/test/endless", endless)

    options = replace(GENEROUS, request_seconds=0.2)
    with serving(embedded, options, extend=add_endless) as server, server.client() as client:
        answer = client.get("/api/v1/test/endless")
        assert "longer than 0.2 s" in refused(answer, 500, "STEP_FAILED")
        assert answer.json()["step"] == "request"


@pytest.mark.parametrize(("headers", "is_stream"), [([(b"content-length", b"2")], False), ([], True)])
async def test_only_a_stream_gets_more_time_after_it_has_started(
    headers: list[tuple[bytes, bytes]], is_stream: bool
) -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    body = RequestBody({}, receive)
    answer = ResponseSender(send, body, "an-id", ServiceOptions(stream_seconds=1_000))
    async with asyncio.timeout(10) as answer.timer:
        before = answer.timer.when()
        await answer({"type": "http.response.start", "status": 200, "headers": headers})
        assert before
        assert answer.timer.when() is not None
        assert ((answer.timer.when() or 0) > before + 900) == is_stream
    assert (b"x-request-id", b"an-id") in sent[0]["headers"]
