"""How OpenAI, Anthropic and Gemini say the same answer on the wire, whole and as a stream of events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

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
