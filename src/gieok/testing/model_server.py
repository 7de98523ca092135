"""A provider of language models on this machine: real HTTP, real streams, and failures on demand.

It speaks the protocols of OpenAI, Anthropic and Gemini, so that a test goes through the real libraries.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self, cast

Wire = Literal["openai", "anthropic", "google"]
Task = Literal["reply", "turn", "session", "facts", "hint"]
INPUT_TOKENS, OUTPUT_TOKENS = 11, 7
"""What every answer costs."""

_FIELD_OF_TASK: Mapping[str, Task] = {
    "keywords": "turn",
    "topics": "session",
    "facts": "facts",
    "hint": "hint",
}


@dataclass(frozen=True)
class Request:
    """What a provider was asked."""

    wire: Wire
    path: str
    key: str
    """The key that came with it, in the header of its provider."""
    body: Mapping[str, Any]

    @property
    def is_stream(self) -> bool:
        return "streamGenerateContent" in self.path or self.body.get("stream") is True

    @property
    def tool(self) -> str | None:
        """The tool by which the answer is to be given; None for an answer in text."""
        tools = cast("list[Any]", self.body.get("tools") or [])
        if not tools:
            return None
        if self.wire == "openai":
            return tools[0]["function"]["name"]
        return tools[0]["name"] if self.wire == "anthropic" else tools[0]["functionDeclarations"][0]["name"]

    @property
    def task(self) -> Task:
        """What is wanted, by the fields of the form that was sent along."""
        form = json.dumps([self.body.get("tools"), self.body.get("response_format")])
        for field, task in _FIELD_OF_TASK.items():
            if f'"{field}"' in form:
                return task
        return "reply"


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


def whole(request: Request, text: str) -> Mapping[str, Any]:
    """The answer as one document: by the tool where there is one, otherwise as text."""
    return _WHOLE[request.wire](text, request.tool)


def pieces(request: Request, text: str) -> Iterator[str]:
    """The answer as server-sent events, a few characters at a time."""
    parts = [text[at : at + 5] for at in range(0, len(text), 5)]
    return _STREAMED[request.wire](parts)


def empty(request: Request) -> Mapping[str, Any]:
    """An answer in which there is none."""
    full = dict(whole(request, ""))
    return full | {{"openai": "choices", "anthropic": "content", "google": "candidates"}[request.wire]: []}


def _openai(text: str, tool: str | None) -> Mapping[str, Any]:
    call = {"id": "call_1", "type": "function", "function": {"name": tool, "arguments": text}}
    message = {"content": text} if tool is None else {"content": None, "tool_calls": [call]}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "test",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant"} | message,
                "finish_reason": "stop" if tool is None else "tool_calls",
            }
        ],
        "usage": _OPENAI_USAGE,
    }


_OPENAI_USAGE = {
    "prompt_tokens": INPUT_TOKENS,
    "completion_tokens": OUTPUT_TOKENS,
    "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
}


def _openai_stream(parts: list[str]) -> Iterator[str]:
    frame = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "test"}
    for part in parts:
        choice = {"index": 0, "delta": {"role": "assistant", "content": part}, "finish_reason": None}
        yield _event(frame | {"choices": [choice]})
    yield _event(frame | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    yield _event(frame | {"choices": [], "usage": _OPENAI_USAGE})
    yield "data: [DONE]\n\n"


def _anthropic(text: str, tool: str | None) -> Mapping[str, Any]:
    block = (
        {"type": "text", "text": text}
        if tool is None
        else {"type": "tool_use", "id": "toolu_1", "name": tool, "input": _parsed(text)}
    )
    return _message([block], "end_turn" if tool is None else "tool_use")


def _message(content: list[Mapping[str, Any]], stop_reason: str | None) -> Mapping[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "test",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS},
    }


def _anthropic_stream(parts: list[str]) -> Iterator[str]:
    block = {"type": "text", "text": ""}
    yield _named({"type": "message_start", "message": _message([], None)})
    yield _named({"type": "content_block_start", "index": 0, "content_block": block})
    for part in parts:
        delta = {"type": "text_delta", "text": part}
        yield _named({"type": "content_block_delta", "index": 0, "delta": delta})
    yield _named({"type": "content_block_stop", "index": 0})
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    yield _named({"type": "message_delta", "delta": ended, "usage": {"output_tokens": OUTPUT_TOKENS}})
    yield _named({"type": "message_stop"})


def _google(text: str, tool: str | None, finish: str | None = "STOP") -> Mapping[str, Any]:
    part = {"text": text} if tool is None else {"functionCall": {"name": tool, "args": _parsed(text)}}
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": [part]}}
    return {
        "candidates": [candidate | ({"finishReason": finish} if finish else {})],
        "usageMetadata": {
            "promptTokenCount": INPUT_TOKENS,
            "candidatesTokenCount": OUTPUT_TOKENS,
            "totalTokenCount": INPUT_TOKENS + OUTPUT_TOKENS,
        },
        "modelVersion": "test",
        "responseId": "r1",
    }


def _google_stream(parts: list[str]) -> Iterator[str]:
    for number, part in enumerate(parts, start=1):
        yield _event(_google(part, None, "STOP" if number == len(parts) else None))


def _parsed(text: str) -> Any:
    """Arguments that are an object on the wire. What is none is sent as a field of no form."""
    try:
        found = json.loads(text)
    except ValueError:
        return {"text": text}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {"value": found}


def _event(document: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(document)}\n\n"


def _named(document: Mapping[str, Any]) -> str:
    return f"event: {document['type']}\n{_event(document)}"


_WHOLE = {"openai": _openai, "anthropic": _anthropic, "google": _google}
_STREAMED = {"openai": _openai_stream, "anthropic": _anthropic_stream, "google": _google_stream}
