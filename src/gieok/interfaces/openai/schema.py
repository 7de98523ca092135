"""Requests and answers of chat completions in OpenAI's form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from gieok.errors import InputRefused
from gieok.interfaces.rest.schema.memory import localised
from gieok.memory.companion.records import Notice
from gieok.memory.conversation.records import Message, Tool, ToolCall, ToolStep, ToolUse
from gieok.memory.fields import Language
from gieok.memory.usage import ModelUsage

MODEL_PREFIX = "gieok/"
"""What the name of a model begins with; the id of a persona follows."""
MAX_MESSAGES = 10_000
MAX_TOOLS = 128


class OpenAIRequest(BaseModel):
    """A request, or part of one. Unknown fields are ignored, because clients send fields of other servers."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class ContentPart(OpenAIRequest):
    """A part of a message. Only text is supported."""

    type: str
    text: str | None = None


class FunctionCall(OpenAIRequest):
    name: str
    arguments: str = "{}"


class CallPart(OpenAIRequest):
    """A call of a tool that the model has asked for."""

    id: str
    function: FunctionCall


class ChatMessage(OpenAIRequest):
    """One message of the window."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None
    tool_calls: list[CallPart] | None = None
    tool_call_id: str | None = None


class FunctionSpec(OpenAIRequest):
    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    description: str | None = None
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    strict: bool | None = None


class ToolSpec(OpenAIRequest):
    type: Literal["function"]
    function: FunctionSpec


class NamedFunction(OpenAIRequest):
    name: str


class NamedChoice(OpenAIRequest):
    function: NamedFunction


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
    tools: Annotated[list[ToolSpec], Field(max_length=MAX_TOOLS)] | None = None
    tool_choice: Literal["none", "auto", "required"] | NamedChoice | None = None


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
    tool_use: ToolUse | None
    """The client's tools, and the calls that were made for `message` so far."""


def to_window(request: ChatCompletionRequest) -> Window:
    """The window of a request. InputRefused for what would be answered wrongly if it were ignored."""
    if request.n not in (None, 1):
        raise InputRefused("must be 1: there is one reply to a message", at="n")
    if request.response_format is not None and request.response_format.type != "text":
        raise InputRefused("must be text: a persona answers in words", at="response_format")
    said: list[Message] = []
    instructions: list[str] = []
    after_reply: list[str] = []
    steps: list[ToolStep] = []
    for number, message in enumerate(request.messages):
        text = _text_of(message, number)
        if message.role == "assistant" and message.tool_calls:
            steps.append(ToolStep(text=text, calls=tuple(map(_to_call, message.tool_calls))))
            continue
        if message.role == "tool":
            steps = _with_result(steps, message.tool_call_id, text, number)
        if not text.strip():
            continue
        if message.role == "user" or message.role == "assistant":  # noqa: PLR1714  narrows the type
            instructions += after_reply
            after_reply, steps = [], []
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
        tool_use=_tool_use(request, steps),
    )


def _to_call(part: CallPart) -> ToolCall:
    return ToolCall(id=part.id, name=part.function.name, arguments=part.function.arguments)


def _with_result(steps: Sequence[ToolStep], call_id: str | None, result: str, number: int) -> list[ToolStep]:
    """The steps with the result of a call. InputRefused if no step has it."""
    if not any(call.id == call_id for step in steps for call in step.calls):
        raise InputRefused("must be the id of a call before it", at=f"messages.{number}.tool_call_id")

    def filled(call: ToolCall) -> ToolCall:
        return call.model_copy(update={"result": result}) if call.id == call_id else call

    return [step.model_copy(update={"calls": tuple(map(filled, step.calls))}) for step in steps]


def _tool_use(request: ChatCompletionRequest, steps: Sequence[ToolStep]) -> ToolUse | None:
    """The tools of a request. None if the model must not use any."""
    if not request.tools or request.tool_choice == "none":
        return None
    tools = tuple(Tool.model_validate(each.function.model_dump()) for each in request.tools)
    choice = request.tool_choice or "auto"
    if isinstance(choice, NamedChoice):
        if choice.function.name not in {tool.name for tool in tools}:
            raise InputRefused("names no tool of this request", at="tool_choice")
        choice = (choice.function.name,)
    return ToolUse(tools=tools, choice=choice, steps=tuple(steps))


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


class Completed(NamedTuple):
    """A reply and what it cost."""

    text: str
    usage: ModelUsage
    tool_calls: tuple[ToolCall, ...] = ()
    notices: tuple[Notice, ...] = ()
    degraded: tuple[str, ...] = ()
    """Parts of recall that failed where the plan allows it."""

    @property
    def finish_reason(self) -> str:
        return "tool_calls" if self.tool_calls else "stop"


def tool_call_parts(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """Calls in OpenAI's form, with their positions for a stream."""
    return [
        {
            "index": number,
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for number, call in enumerate(calls)
    ]


def extras(done: Completed, language: Language) -> dict[str, Any]:
    """What OpenAI's form has no place for, in a field `gieok`: notices for the user, and parts of recall that
    failed. Without any, there is no such field."""
    if not done.notices and not done.degraded:
        return {}
    notices = list(localised(done.notices, language))
    return {"gieok": {"notices": notices, "degraded": list(done.degraded)}}


def completion(head: CompletionHead, done: Completed) -> dict[str, Any]:
    """A whole answer."""
    message: dict[str, Any] = {"role": "assistant", "content": done.text or None, "refusal": None}
    if done.tool_calls:
        parts = tool_call_parts(done.tool_calls)
        message["tool_calls"] = [{name: part[name] for name in part if name != "index"} for part in parts]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": done.finish_reason}
    return {
        "id": head.id,
        "object": "chat.completion",
        "created": head.created,
        "model": head.model,
        "choices": [choice],
        "usage": _usage(done.usage),
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
