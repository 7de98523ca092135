"""A local server with the embedding APIs of OpenAI and Gemini, and failures on demand."""

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
    """The vector of a text."""
    return [float(len(text)), float(text.count("e")), float(text.count("a")), 1.0]


@dataclass
class Request:
    """A request that the server received."""

    path: str
    key: str | None
    body: dict[str, Any]


@dataclass
class EmbeddingServer:
    """Answers correctly, except that each request first uses up one of `failures`."""

    url: str
    released: Event = field(default_factory=Event)
    """Set when the test ends, to end slow answers."""
    requests: list[Request] = field(default_factory=list[Request])
    failures: list[Failure] = field(default_factory=list["Failure"])


class _Handler(BaseHTTPRequestHandler):
    """Answers for the `EmbeddingServer` in the attribute `embedding_server` of the HTTP server."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server = cast(EmbeddingServer, vars(self.server)["embedding_server"])
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        key = self.headers.get("authorization") or self.headers.get("x-goog-api-key")
        server.requests.append(Request(self.path, key, body))
        fail = server.failures.pop(0) if server.failures else None
        if fail is None:
            self.respond(200, json.dumps(correct_response(self.path, body)).encode())
        else:
            fail(self, server, body)

    def respond(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name in the base class
        """Do not log."""


Failure = Callable[[_Handler, EmbeddingServer, dict[str, Any]], None]


def texts_of(body: dict[str, Any]) -> list[str]:
    """The texts of a request of either API."""
    if "input" in body:
        return list(body["input"])
    return [request["content"]["parts"][0]["text"] for request in body["requests"]]


def correct_response(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The correct response. OpenAI's is in another order, which its API allows."""
    return as_response(path, [vector(text) for text in texts_of(body)])


def as_response(path: str, vectors: Sequence[Any]) -> dict[str, Any]:
    """Vectors in the format of the API that the path belongs to."""
    if "batchEmbedContents" in path:
        return {"embeddings": [{"values": each} for each in vectors]}
    rows = [{"object": "embedding", "index": n, "embedding": each} for n, each in enumerate(vectors)]
    return {"object": "list", "data": rows[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def status(code: int, **headers: str) -> Failure:
    """An error status. The body repeats the request, as some servers do."""
    return lambda handler, _, body: handler.respond(code, json.dumps(body).encode(), **headers)


def with_content(content: bytes) -> Failure:
    """A response with this body."""
    return lambda handler, _, __: handler.respond(200, content)


def with_vectors(make: Callable[[list[list[float]]], Sequence[Any]]) -> Failure:
    """A well-formed response with other vectors."""

    def answer(handler: _Handler, _: EmbeddingServer, body: dict[str, Any]) -> None:
        vectors = make([vector(text) for text in texts_of(body)])
        handler.respond(200, json.dumps(as_response(handler.path, vectors)).encode())

    return answer


def slow(handler: _Handler, server: EmbeddingServer, body: dict[str, Any]) -> None:
    """No response until the test ends."""
    server.released.wait(60)
    handler.close_connection = True


def disconnect(handler: _Handler, _: EmbeddingServer, body: dict[str, Any]) -> None:
    """Close the connection in the middle of the response."""
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.close_connection = True


@contextmanager
def run_server() -> Generator[EmbeddingServer]:
    """Run the server."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    http.daemon_threads = True
    server = EmbeddingServer(f"http://127.0.0.1:{http.server_address[1]}/v1")
    vars(http)["embedding_server"] = server
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        http.shutdown()
        http.server_close()
        thread.join()
