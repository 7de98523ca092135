"""A provider of language models on this machine: real HTTP, real streams, and failures on demand.

It speaks the protocols of OpenAI, Anthropic and Gemini, so that a test goes through the real libraries.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self, cast

from gieok.testing.model_server_wires import Request, Task, Wire, empty, pieces, whole

Failure = Literal["limited", "broken", "refused", "slow", "cut", "hushed", "malformed", "empty"]
"""`cut` breaks the connection in the middle of an answer; `hushed` closes a stream politely there."""
_STATUS: Mapping[Failure, int] = {"limited": 429, "broken": 500, "refused": 401}

GOOD: Mapping[Task, str] = {
    "reply": "면접 잘 보고 와! 응원할게.",
    "turn": json.dumps({"summary": "사용자가 내일 중요한 면접을 앞두고 있음.", "keywords": ["면접", "내일"]}),
    "session": json.dumps(
        {
            "summary": "사용자가 면접을 앞두고 긴장함.",
            "topics": ["면접"],
            "emotion": "스트레스",
            "importance": 8,
        }
    ),
    "facts": json.dumps(
        {
            "facts": [
                {
                    "category": "GOAL",
                    "key": "면접",
                    "value": "내일 면접이 있음",
                    "importance": 8,
                    "saidBy": "user",
                    "retracts": False,
                }
            ]
        }
    ),
    "hint": json.dumps({"hint": "면접 준비 이야기"}),
}
"""What a good model answers to somebody who has an interview tomorrow."""


def good(request: Request) -> str:
    """The good answer to whatever was asked."""
    return GOOD[request.task]


class ModelServer:
    """Listens on loopback while it is entered. `failures` are used up first, one for each request."""

    def __init__(self, answer: Callable[[Request], str] = good, *, retry_after: str = "0") -> None:
        self.requests: list[Request] = []
        self.failures: deque[Failure] = deque()
        self.answer = answer
        self.retry_after = retry_after
        self.released = threading.Event()
        """Slow answers wait for it."""
        self._server = _Loopback(self)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def url(self, wire: Wire) -> str:
        """The base URL that a client of this protocol is given."""
        root = f"http://127.0.0.1:{self._server.server_address[1]}"
        return f"{root}/v1" if wire == "openai" else root

    def fail(self, failure: Failure, times: int = 1) -> None:
        """Let the next requests fail."""
        self.failures.extend(failure for _ in range(times))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Loopback(ThreadingHTTPServer):
    def __init__(self, served: ModelServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.served = served


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _served(self) -> ModelServer:
        return cast(_Loopback, self.server).served

    def do_POST(self) -> None:
        request = self._read()
        self._served.requests.append(request)
        failure = self._served.failures.popleft() if self._served.failures else None
        if failure == "slow":
            self._served.released.wait()
            self.close_connection = True
        elif failure is not None and failure in _STATUS:
            self._whole(_STATUS[failure], {"error": {"message": "no", "type": "error"}})
        elif failure == "malformed":
            self._send(200, b'{"choices": [', "application/json")
        elif failure == "empty":
            self._whole(200, empty(request))
        elif request.is_stream:
            self._stream(request, half=failure in ("cut", "hushed"), broken=failure == "cut")
        else:
            self._whole(200, whole(request, self._served.answer(request)), cut=failure == "cut")

    def _read(self) -> Request:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        wire: Wire = "google"
        if "/chat/completions" in self.path:
            wire = "openai"
        elif "/v1/messages" in self.path:
            wire = "anthropic"
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        return Request(wire, self.path, key or self.headers.get("x-goog-api-key", ""), body)

    def _whole(self, status: int, document: Mapping[str, Any], *, cut: bool = False) -> None:
        self._send(status, json.dumps(document).encode(), "application/json", cut=cut)

    def _send(self, status: int, body: bytes, kind: str, *, cut: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if status == _STATUS["limited"]:
            self.send_header("Retry-After", self._served.retry_after)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        self.close_connection = cut

    def _stream(self, request: Request, *, half: bool, broken: bool) -> None:
        events = list(pieces(request, self._served.answer(request)))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events[: len(events) // 2] if half else events:
            part = event.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.flush()
        if broken:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name that the library gives it
        """Say nothing: a test reads what was asked in `requests`."""
