"""A local model server for tests: real HTTP, real streams, and failures on demand.

It implements the APIs of OpenAI, Anthropic and Gemini, so that a test uses their real client libraries.
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

Api = Literal["openai", "anthropic", "google"]
Task = Literal["reply", "remember", "session", "hint"]
INPUT_TOKENS, OUTPUT_TOKENS = 11, 7
"""Reported with every answer."""

_TASK_BY_FIELD: Mapping[str, Task] = {
    "observations": "remember",
    "topics": "session",
    "hint": "hint",
}


@dataclass(frozen=True)
class Request:
    """A request that the server received."""

    api: Api
    path: str
    key: str
    """The API key, from the header that the API uses for it."""
    body: Mapping[str, Any]

    @property
    def is_stream(self) -> bool:
        return "streamGenerateContent" in self.path or self.body.get("stream") is True

    @property
    def tool(self) -> str | None:
        """The tool that the model must answer with; None for a text answer."""
        tools = cast("list[Any]", self.body.get("tools") or [])
        if not tools:
            return None
        if self.api == "openai":
            return tools[0]["function"]["name"]
        return tools[0]["name"] if self.api == "anthropic" else tools[0]["functionDeclarations"][0]["name"]

    @property
    def task(self) -> Task:
        """The task, recognised by the fields of the requested schema."""
        schema = json.dumps([self.body.get("tools"), self.body.get("response_format")])
        for field, task in _TASK_BY_FIELD.items():
            if f'"{field}"' in schema:
                return task
        return "reply"


Failure = Literal[
    "rate_limited",
    "server_error",
    "unauthorized",
    "slow",
    "paused",
    "disconnected",
    "truncated",
    "malformed",
    "empty",
]
"""`disconnected` breaks the connection during an answer; `truncated` ends a stream early but cleanly;
`paused` waits for `released` in the middle of a stream."""
_STATUS: Mapping[Failure, int] = {"rate_limited": 429, "server_error": 500, "unauthorized": 401}

VALID_ANSWERS: Mapping[Task, str] = {
    "reply": "면접 잘 보고 와! 응원할게.",
    "remember": json.dumps(
        {
            "turns": [{"summary": "사용자가 내일 중요한 면접을 앞두고 있음.", "keywords": ["면접", "내일"]}],
            "observations": [
                {
                    "turn": 1,
                    "op": "add",
                    "id": None,
                    "subject": "user",
                    "category": "EVENT",
                    "key": "면접",
                    "value": "내일 면접이 있음",
                    "quote": "내일 중요한 면접이 있어",
                    "says": "user",
                    "when": None,
                    "until": None,
                    "importance": 8,
                }
            ],
        }
    ),
    "session": json.dumps(
        {
            "summary": "사용자가 면접을 앞두고 긴장함.",
            "topics": ["면접"],
            "emotion": "스트레스",
            "importance": 8,
        }
    ),
    "hint": json.dumps({"hint": "면접 준비 이야기"}),
}
"""Valid answers to a user who says that they have an interview tomorrow."""


def valid_answer(request: Request) -> str:
    """The valid answer to a request's task."""
    return VALID_ANSWERS[request.task]


class ModelServer:
    """Listens on 127.0.0.1 inside a `with` block. Each request first uses up one of `failures`."""

    def __init__(self, answer: Callable[[Request], str] = valid_answer, *, retry_after: str = "0") -> None:
        self.requests: list[Request] = []
        self.failures: deque[Failure] = deque()
        self.answer = answer
        self.retry_after = retry_after
        self.released = threading.Event()
        """Slow and paused answers wait for this event."""
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def url(self, api: Api) -> str:
        """The base URL for clients of this API."""
        root = f"http://127.0.0.1:{self._server.server_address[1]}"
        return f"{root}/v1" if api == "openai" else root

    def fail(self, failure: Failure, times: int = 1) -> None:
        """Make the next requests fail."""
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


class _Server(ThreadingHTTPServer):
    def __init__(self, model_server: ModelServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model_server = model_server


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _model_server(self) -> ModelServer:
        return cast(_Server, self.server).model_server

    def do_POST(self) -> None:
        request = self._read()
        self._model_server.requests.append(request)
        failure = self._model_server.failures.popleft() if self._model_server.failures else None
        if failure == "slow":
            self._model_server.released.wait()
            self.close_connection = True
        elif failure is not None and failure in _STATUS:
            self._send_json(_STATUS[failure], {"error": {"message": "no", "type": "error"}})
        elif failure == "malformed":
            self._send(200, b'{"choices": [', "application/json")
        elif failure == "empty":
            self._send_json(200, empty_response(request))
        elif request.is_stream:
            self._stream(request, failure)
        else:
            self._send_json(
                200,
                full_response(request, self._model_server.answer(request)),
                disconnect=failure == "disconnected",
            )

    def _read(self) -> Request:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        api: Api = "google"
        if "/chat/completions" in self.path:
            api = "openai"
        elif "/v1/messages" in self.path:
            api = "anthropic"
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        return Request(api, self.path, key or self.headers.get("x-goog-api-key", ""), body)

    def _send_json(self, status: int, document: Mapping[str, Any], *, disconnect: bool = False) -> None:
        self._send(status, json.dumps(document).encode(), "application/json", disconnect=disconnect)

    def _send(self, status: int, body: bytes, kind: str, *, disconnect: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if status == _STATUS["rate_limited"]:
            self.send_header("Retry-After", self._model_server.retry_after)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if disconnect else body)
        self.close_connection = disconnect

    def _stream(self, request: Request, failure: Failure | None) -> None:
        events = list(stream_events(request, self._model_server.answer(request)))
        half = events[: len(events) // 2]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, event in enumerate(half if failure in ("disconnected", "truncated") else events):
            if failure == "paused" and number == len(half):
                self._model_server.released.wait()
            part = event.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.flush()
        if failure == "disconnected":
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name in the base class
        """Do not log: a test reads `requests`."""


def full_response(request: Request, text: str) -> Mapping[str, Any]:
    """The answer as one JSON document: a tool call if the request has a tool, otherwise text."""
    return _FULL[request.api](text, request.tool)


def stream_events(request: Request, text: str) -> Iterator[str]:
    """The answer as server-sent events, a few characters at a time."""
    parts = [text[at : at + 5] for at in range(0, len(text), 5)]
    return _STREAMED[request.api](parts)


def empty_response(request: Request) -> Mapping[str, Any]:
    """A response without an answer."""
    response = dict(full_response(request, ""))
    return response | {{"openai": "choices", "anthropic": "content", "google": "candidates"}[request.api]: []}


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
    yield _typed_event({"type": "message_start", "message": _message([], None)})
    yield _typed_event({"type": "content_block_start", "index": 0, "content_block": block})
    for part in parts:
        delta = {"type": "text_delta", "text": part}
        yield _typed_event({"type": "content_block_delta", "index": 0, "delta": delta})
    yield _typed_event({"type": "content_block_stop", "index": 0})
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    yield _typed_event({"type": "message_delta", "delta": ended, "usage": {"output_tokens": OUTPUT_TOKENS}})
    yield _typed_event({"type": "message_stop"})


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
    """Tool arguments, which these APIs send as an object. Anything else is wrapped in one."""
    try:
        arguments = json.loads(text)
    except ValueError:
        return {"text": text}
    return cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else {"value": arguments}


def _event(document: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(document)}\n\n"


def _typed_event(document: Mapping[str, Any]) -> str:
    return f"event: {document['type']}\n{_event(document)}"


_FULL = {"openai": _openai, "anthropic": _anthropic, "google": _google}
_STREAMED = {"openai": _openai_stream, "anthropic": _anthropic_stream, "google": _google_stream}
