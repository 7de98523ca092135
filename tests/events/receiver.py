"""A receiver of webhooks on this machine: real HTTP, and failures on demand."""

from __future__ import annotations

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self


class Received(NamedTuple):
    """A request that arrived."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        return json.loads(self.body)


class Receiver:
    """Answers with the next of `statuses`, then with 204. `hang` lets it wait instead of answering."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.received: list[Received] = []
        self.statuses: list[int] = []
        self.hang = threading.Event()
        self.released = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.received.append(Received(self.path, headers, body))
                if receiver.hang.is_set():
                    receiver.released.wait(30)
                status = receiver.statuses.pop(0) if receiver.statuses else 204
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", f"{receiver.url}/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  of the base class
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port: int = self._server.server_address[1]
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"http://127.0.0.1:{self.port}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def numbers(self) -> list[int]:
        return [each.event["data"]["number"] for each in self.received]
