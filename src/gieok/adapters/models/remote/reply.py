"""A reply of the character, piece by piece as the provider sends it."""

from __future__ import annotations

from collections.abc import Callable

from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import ContentFilterError, ModelConnectionError, UnexpectedModelBehavior
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    UserPromptPart,
)
from pydantic_ai.models import Model, StreamedResponse

from gieok.adapters.models.prompts import prompt as text_of
from gieok.adapters.models.remote.attempts import attempted
from gieok.adapters.models.remote.settings import settings_for
from gieok.errors import ModelUnavailable
from gieok.memory.asking import Meter
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.fields import MAX_MESSAGE_CHARS
from gieok.text import language

_SILENCE = "…"


async def reply(model: Model, name: str, prompt: Prompt, emit: Callable[[str], None], meter: Meter) -> Reply:
    """The pieces given to `emit` add up to the text. What somebody heard the beginning of is not repeated."""
    heard: list[str] = []

    async def call() -> Reply:
        async with model_request_stream(
            model, _messages(prompt), model_settings=settings_for(meter.terms)
        ) as stream:
            try:
                async for event in stream:
                    _hear(_piece(event), heard, emit, name)
            finally:
                meter.count(0, stream.usage.input_tokens, stream.usage.output_tokens)
            _check_end(stream, name)
            usage = stream.usage
        return Reply(text="".join(heard), input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)

    async def counted() -> Reply:
        meter.count(1, 0, 0)
        return await call()

    return await attempted(name, meter.terms, counted, lambda: not heard)


def _hear(piece: str, heard: list[str], emit: Callable[[str], None], name: str) -> None:
    if not piece:
        return
    heard.append(piece)
    if sum(map(len, heard)) > MAX_MESSAGE_CHARS:
        raise ModelUnavailable(
            f"the model '{name}' did not end its reply after {MAX_MESSAGE_CHARS} characters"
        )
    emit(piece)


def _piece(event: ModelResponseStreamEvent) -> str:
    """The text of an event. Thoughts and calls of tools that nobody offered are no part of a reply."""
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""


def _check_end(stream: StreamedResponse, name: str) -> None:
    """A stream that stops without saying why was cut off, however politely the connection was closed."""
    reason = stream.finish_reason
    if reason is None:
        raise ModelConnectionError(name, "cut off")
    if reason == "content_filter":
        raise ContentFilterError("stopped")
    if reason == "error":
        raise UnexpectedModelBehavior("ended by an error")


def _messages(prompt: Prompt) -> list[ModelMessage]:
    said = prompt.messages[-1].content
    spoken = language(said, default=prompt.persona.language)
    system = "\n\n".join(part for part in (prompt.system, text_of("reply", spoken)) if part)
    messages: list[ModelMessage] = []
    if prompt.messages[0].role == "assistant":  # providers want the user to begin
        messages.append(ModelRequest(parts=[UserPromptPart(_SILENCE)]))
    for message in prompt.messages[:-1]:
        if message.role == "user":
            messages.append(ModelRequest(parts=[UserPromptPart(message.content)]))
        else:
            messages.append(ModelResponse(parts=[TextPart(message.content)]))
    return [*messages, ModelRequest(parts=[UserPromptPart(said)], instructions=system)]
