"""Requests and answers of chat completions in OpenAI's form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from gieok.errors import InputRefused
from gieok.memory.conversation.records import Message
from gieok.memory.usage import ModelUsage

MODEL_PREFIX = "gieok/"
"""What the name of a model begins with; the id of a persona follows."""
MAX_MESSAGES = 10_000
SHOWN = 10
"""How many messages of the client's window the model is shown. The chat plan shows no more."""


class OpenAIRequest(BaseModel):
    """A request, or part of one. Unknown fields are ignored, because clients send fields of other servers."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class ContentPart(OpenAIRequest):
    """A part of a message. Only text is supported."""

    type: str
    text: str | None = None


class ChatMessage(OpenAIRequest):
    """One message of the window."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None


class StreamOptions(OpenAIRequest):
    include_usage: bool = False


class ResponseFormat(OpenAIRequest):
    type: str


class ChatCompletionRequest(OpenAIRequest):
    """A request for a completion. Sampling parameters are ignored: the plan and the model decide them."""

    model: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=MAX_MESSAGES)]
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = 1
    response_format: ResponseFormat | None = None


class Window(NamedTuple):
    """The conversation as the client sent it."""

    messages: tuple[Message, ...]
    """What both sides said, before `message`."""
    message: str
    """What the reply is to."""
    instructions: str
    """The system messages of the client, wherever they stand."""
    is_spoken: bool
    """Whether the user said `message`. If not, it is an instruction after the last reply."""


def to_window(request: ChatCompletionRequest) -> Window:
    """The window of a request. InputRefused for what would be answered wrongly if it were ignored."""
    if request.n not in (None, 1):
        raise InputRefused("must be 1: there is one reply to a message", at="n")
    if request.response_format is not None and request.response_format.type != "text":
        raise InputRefused("must be text: a persona answers in words", at="response_format")
    said: list[Message] = []
    instructions: list[str] = []
    after_reply: list[str] = []
    for number, message in enumerate(request.messages):
        text = _text_of(message, number)
        if not text.strip():
            continue
        if message.role == "user" or message.role == "assistant":  # noqa: PLR1714  narrows the type
            instructions += after_reply
            after_reply = []
            said.append(Message(role=message.role, content=text))
        elif message.role in ("system", "developer"):
            is_after_reply = bool(said) and said[-1].role == "assistant"
            (after_reply if is_after_reply else instructions).append(text)
    last = len(said)
    while last and said[last - 1].role == "user":
        last -= 1
    spoken = [message.content for message in said[last:]]
    if not spoken and not after_reply:
        raise InputRefused("must end with a message of the user", at="messages")
    return Window(
        messages=tuple(said[:last]),
        message="\n".join(spoken or after_reply),
        instructions="\n\n".join(instructions),
        is_spoken=bool(spoken),
    )


def _text_of(message: ChatMessage, number: int) -> str:
    if not isinstance(message.content, list):
        return message.content or ""
    for position, part in enumerate(message.content):
        if part.type not in ("text", "refusal"):
            raise InputRefused("must be text", at=f"messages.{number}.content.{position}")
    return "\n".join(part.text or "" for part in message.content)


class CompletionHead(NamedTuple):
    """What every part of an answer repeats."""

    id: str
    created: int
    model: str


def completion(head: CompletionHead, text: str, usage: ModelUsage) -> dict[str, Any]:
    """A whole answer."""
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return {
        "id": head.id,
        "object": "chat.completion",
        "created": head.created,
        "model": head.model,
        "choices": [choice],
        "usage": _usage(usage),
    }


def delta_chunk(head: CompletionHead, delta: dict[str, Any], finish_reason: str | None) -> dict[str, Any]:
    """A piece of a streamed answer."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return _chunk(head, [choice])


def usage_chunk(head: CompletionHead, usage: ModelUsage) -> dict[str, Any]:
    """The last piece of a stream with `include_usage`."""
    return {**_chunk(head, []), "usage": _usage(usage)}


def model_entry(persona_id: str, created: int) -> dict[str, Any]:
    """A persona as a model."""
    return {"id": f"{MODEL_PREFIX}{persona_id}", "object": "model", "created": created, "owned_by": "gieok"}


def _chunk(head: CompletionHead, choices: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": head.id,
        "object": "chat.completion.chunk",
        "created": head.created,
        "model": head.model,
        "choices": choices,
    }


def _usage(usage: ModelUsage) -> dict[str, int]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.tokens,
    }
