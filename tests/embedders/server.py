"""A server on this machine that speaks the embedding wires of OpenAI and Gemini, and fails as it is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, cast

DIMENSION = 4


def vector(text: str) -> list[float]:
    """What the server's model makes of a text."""
    return [float(len(text)), float(text.count("e")), float(text.count("a")), 1.0]


@dataclass
class Heard:
    """One request."""

    path: str
    key: str | None
    body: dict[str, Any]


@dataclass
class EmbeddingServer:
    """Answers well, unless `failures` says what to do with the next requests."""

    url: str
    released: Event = field(default_factory=Event)
    """Set when the test is over: a slow answer ends then."""
    heard: list[Heard] = field(default_factory=list[Heard])
    failures: list[Failure] = field(default_factory=list["Failure"])


class _Handler(BaseHTTPRequestHandler):
    """Answers for the server whose attribute `told` is set."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        told = cast(EmbeddingServer, vars(self.server)["told"])
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        key = self.headers.get("authorization") or self.headers.get("x-goog-api-key")
        told.heard.append(Heard(self.path, key, body))
        fail = told.failures.pop(0) if told.failures else None
        if fail is None:
            self.answer(200, json.dumps(answer_to(self.path, body)).encode())
        else:
            fail(self, told, body)

    def answer(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  its name there
        """Tests are quiet."""


Failure = Callable[[_Handler, EmbeddingServer, dict[str, Any]], None]


def texts_of(body: dict[str, Any]) -> list[str]:
    """The texts of a request on either wire."""
    if "input" in body:
        return list(body["input"])
    return [request["content"]["parts"][0]["text"] for request in body["requests"]]


def answer_to(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The right answer. OpenAI's comes in another order, as it may."""
    return wire(path, [vector(text) for text in texts_of(body)])


def wire(path: str, vectors: Sequence[Any]) -> dict[str, Any]:
    """Vectors in the form of the wire that the path belongs to."""
    if "batchEmbedContents" in path:
        return {"embeddings": [{"values": each} for each in vectors]}
    rows = [{"object": "embedding", "index": n, "embedding": each} for n, each in enumerate(vectors)]
    return {"object": "list", "data": rows[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def status(code: int, **headers: str) -> Failure:
    """An error. Its body repeats the question, as some servers do."""
    return lambda handler, _, body: handler.answer(code, json.dumps(body).encode(), **headers)


def saying(content: bytes) -> Failure:
    """An answer that is not the right one."""
    return lambda handler, _, __: handler.answer(200, content)


def with_vectors(make: Callable[[list[list[float]]], Sequence[Any]]) -> Failure:
    """The right form, with other vectors in it."""

    def answer(handler: _Handler, _: EmbeddingServer, body: dict[str, Any]) -> None:
        vectors = make([vector(text) for text in texts_of(body)])
        handler.answer(200, json.dumps(wire(handler.path, vectors)).encode())

    return answer


def slow(handler: _Handler, told: EmbeddingServer, body: dict[str, Any]) -> None:
    """No answer while the test lasts."""
    told.released.wait(60)
    handler.close_connection = True


def cut(handler: _Handler, _: EmbeddingServer, body: dict[str, Any]) -> None:
    """The connection ends in the middle of the answer."""
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.close_connection = True


@contextmanager
def serving() -> Generator[EmbeddingServer]:
    """A running server."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    http.daemon_threads = True
    told = EmbeddingServer(f"http://127.0.0.1:{http.server_address[1]}/v1")
    vars(http)["told"] = told
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        told.released.set()
        http.shutdown()
        http.server_close()
        thread.join()
