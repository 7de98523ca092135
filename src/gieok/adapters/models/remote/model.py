"""`RemoteModel`: replies are streamed; notes, summaries and hints are requested as structured answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import date
from typing import Any, Generic, Self, TypeVar

from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import ContentFilterError, ModelConnectionError, UnexpectedModelBehavior
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from gieok.adapters.models.prompts import data_block, prompt_text, remember_task, session_task
from gieok.adapters.models.remote.answers import (
    PROBLEMS,
    REMEMBER_SCHEMA,
    Answer,
    HintAnswer,
    Problem,
    SessionAnswer,
    Sides,
    schema_of,
)
from gieok.adapters.models.remote.retries import call_with_retries
from gieok.errors import ModelUnavailable
from gieok.memory.answers import Remembered, parse_remembered
from gieok.memory.blocks import date_with_weekday
from gieok.memory.companion.records import SessionSummary, Spoken
from gieok.memory.conversation.records import Prompt, Reply, ToolCall
from gieok.memory.decisions.compaction import ConversationMessage
from gieok.memory.fields import MAX_MESSAGE_CHARS, Language
from gieok.memory.model_calls import Meter, ModelLimits
from gieok.memory.observations import (
    MAX_KEYWORD_CHARS,
    Conversation,
    TurnNote,
    Understood,
    VerbatimLimit,
)

A = TypeVar("A")
T = TypeVar("T", bound=Answer)
Check = Callable[[A], Problem | None]
"""Returns what is wrong with a well-formed answer, or None."""

_REPAIRS = 1
_TOOL = "answer"
_EMPTY_USER_MESSAGE = "…"


class RemoteModel:
    """A provider's model. One instance serves every cycle; a step calls the view that `metered` returns."""

    def __init__(self, model: Model, name: str, *, native_output: bool) -> None:
        """`native_output`: the server enforces a JSON schema; otherwise the model answers by a tool call."""
        self._model = model
        self._name = name
        output = OutputForm(native=native_output)
        self._remember = StructuredRequest(model, name, REMEMBER_SCHEMA, parse_remembered, output)
        self._session = StructuredRequest(
            model, name, schema_of(SessionAnswer), strictly(SessionAnswer), output
        )
        self._hint = StructuredRequest(model, name, schema_of(HintAnswer), strictly(HintAnswer), output)
        self._current_meter: Meter | None = None

    def metered(self, meter: Meter) -> Self:
        """A view of the model that keeps the meter's limits and reports its usage to it."""
        view = copy(self)
        view._current_meter = meter
        return view

    async def close(self) -> None:
        """Close the connections."""
        async with self._model:
            pass  # the exit closes the client, even if it was never used

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        """Stream the character's reply. The pieces passed to `emit` add up to its text."""
        meter = self._meter
        received: list[str] = []

        async def stream_reply() -> Reply:
            meter.count(1, 0, 0)
            async with model_request_stream(
                self._model,
                _reply_messages(prompt),
                model_settings=_reply_settings(prompt, meter.limits),
                model_request_parameters=_reply_parameters(prompt),
            ) as stream:
                try:
                    async for event in stream:
                        if piece := _text_of(event):
                            received.append(piece)
                            self._check_length(received)
                            emit(piece)
                finally:
                    meter.count(0, stream.usage.input_tokens, stream.usage.output_tokens)
                _check_finish_reason(stream, self._name)
                usage = stream.usage
            return Reply(
                text="".join(received),
                tool_calls=_tool_calls(stream.get()) if prompt.tool_use else (),
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
            )

        return await call_with_retries(self._name, meter.limits, stream_reply, lambda: not received)

    async def remember(
        self, conversation: Conversation, *, summary_chars: int, max_keywords: int, verbatim: VerbatimLimit
    ) -> Understood:
        """Summarise each exchange and propose observations, in one answer.

        Another language than the user's is repaired once and then accepted, since nothing is lost by it.
        """
        exchanges = conversation.exchanges
        sides = Sides.from_lines(
            [(message.role, message.text) for exchange in exchanges for message in exchange.messages]
        )
        task = remember_task(conversation, summary_chars, max_keywords)

        def check(answer: Remembered) -> Problem | None:
            if len(answer.turns) != len(exchanges):
                return "turns"
            for turn, exchange in zip(answer.turns, exchanges, strict=True):
                if not turn.summary:
                    return "format"
                if len(turn.summary) > summary_chars:
                    return "long"
                if any(verbatim.is_copy(turn.summary, message.text) for message in exchange.messages):
                    return "copy"
            return next((problem for turn in answer.turns if (problem := sides.problem(turn.summary))), None)

        answer = await self._remember.run(
            task, conversation.language, check, self._meter, tolerate="language"
        )
        notes = [
            TurnNote(
                summary=turn.summary,
                keywords=tuple(word[:MAX_KEYWORD_CHARS].strip() for word in turn.keywords[:max_keywords]),
            )
            for turn in answer.turns
        ]
        return Understood(
            turns=tuple(notes),
            observations=tuple(answer.observations),
            malformed=tuple(answer.refusals),
        )

    async def summarize_session(self, messages: Sequence[Spoken]) -> SessionSummary | None:
        """Summarise a conversation in one or two sentences, with topics, emotion and importance. None if the
        model finds nothing worth keeping."""
        lines = [(message.role, message.content) for message in messages]
        sides = Sides.from_lines(lines)
        task = session_task(messages, sides.language)

        def check(answer: SessionAnswer) -> Problem | None:
            return sides.problem(answer.summary) if answer.summary is not None else None

        answer = await self._session.run(task, sides.language, check, self._meter)
        return answer.session_summary()

    async def hint_conversation(
        self, messages: Sequence[ConversationMessage], *, hint_tokens: int, today: date
    ) -> str:
        """Describe a part of a conversation in one line."""
        lines = [(message.role, message.content) for message in messages]
        sides = Sides.from_lines(lines)
        task = prompt_text(
            "hint",
            sides.language,
            today=date_with_weekday(today, sides.language),
            conversation=data_block(lines),
            hintTokens=hint_tokens,
        )
        answer = await self._hint.run(
            task, sides.language, lambda answer: sides.problem(answer.hint), self._meter
        )
        return answer.hint

    @property
    def _meter(self) -> Meter:
        if self._current_meter is None:
            raise RuntimeError("a remote model needs the limits of a plan: call metered() first")
        return self._current_meter

    def _check_length(self, received: Sequence[str]) -> None:
        if sum(map(len, received)) > MAX_MESSAGE_CHARS:
            raise ModelUnavailable(
                f"the reply of the model '{self._name}' is longer than {MAX_MESSAGE_CHARS} characters"
            )


@dataclass(frozen=True)
class OutputForm:
    """How a model gives a structured answer: by the server's own JSON schema, or by a tool call."""

    native: bool

    def parameters(self, schema: dict[str, Any]) -> ModelRequestParameters:
        """The parameters of a request for an answer with this schema."""
        if self.native:
            wanted = OutputObjectDefinition(json_schema=schema, name=_TOOL)
            return ModelRequestParameters(output_mode="native", output_object=wanted)
        tool = ToolDefinition(name=_TOOL, parameters_json_schema=schema, kind="output")
        return ModelRequestParameters(output_mode="tool", output_tools=[tool])


class StructuredRequest(Generic[A]):
    """Requests one kind of structured answer. An invalid answer is sent back once with the reason."""

    def __init__(
        self,
        model: Model,
        name: str,
        schema: dict[str, Any],
        parse: Callable[[str | Mapping[str, Any]], A],
        form: OutputForm,
    ) -> None:
        """`parse` reads the text or the arguments of the answer. ValueError if it cannot be read."""
        self._model = model
        self._name = name
        self._parse = parse
        self._parameters = form.parameters(schema)

    async def run(
        self, task: str, language: Language, check: Check[A], meter: Meter, *, tolerate: Problem | None = None
    ) -> A:
        """The answer to a task. ModelUnavailable where there is no valid one.

        An answer whose only problem is `tolerate` is accepted after the repair request.
        """

        async def request() -> A:
            instructions = prompt_text("data", language)
            messages: list[ModelMessage] = [
                ModelRequest(parts=[UserPromptPart(task)], instructions=instructions)
            ]
            for repairs_left in range(_REPAIRS, -1, -1):
                response = await self._ask(messages, meter)
                answer, problem = self._read(response, check)
                if answer is not None and (problem is None or (problem == tolerate and not repairs_left)):
                    return answer
                repair = prompt_text("repair", language, problem=PROBLEMS[problem or "format"][language])
                parts = _replies(response, repair)
                messages += [response, ModelRequest(parts=parts, instructions=instructions)]
            raise UnexpectedModelBehavior("no valid answer")

        return await call_with_retries(self._name, meter.limits, request)

    async def _ask(self, messages: Sequence[ModelMessage], meter: Meter) -> ModelResponse:
        meter.count(1, 0, 0)
        response = await model_request(
            self._model,
            messages,
            model_settings=_model_settings(meter.limits),
            model_request_parameters=self._parameters,
        )
        meter.count(0, response.usage.input_tokens, response.usage.output_tokens)
        if response.finish_reason == "content_filter":
            raise ContentFilterError("stopped")
        return response

    def _read(self, response: ModelResponse, check: Check[A]) -> tuple[A | None, Problem | None]:
        calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
        text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        try:
            answer = self._parse((calls[0].args or "") if calls else text)
        except ValueError:
            return None, "format"
        return answer, check(answer)


def strictly(answer: type[T]) -> Callable[[str | Mapping[str, Any]], T]:
    """A parser of exactly this answer. ValueError for anything else."""

    def parse(content: str | Mapping[str, Any]) -> T:
        if isinstance(content, str):
            return answer.model_validate_json(content)
        return answer.model_validate(content)

    return parse


def _replies(response: ModelResponse, text: str) -> list[ModelRequestPart]:
    """A reply to every tool call of a response, or a message of the user where there is none."""
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    replies = [ToolReturnPart(call.tool_name, text, tool_call_id=call.tool_call_id) for call in calls]
    return list(replies) or [UserPromptPart(text)]


def _model_settings(limits: ModelLimits) -> ModelSettings:
    """The provider's library must not retry: the plan limits the attempts."""
    return ModelSettings(max_tokens=limits.max_output_tokens, max_retries=0)


def _reply_messages(prompt: Prompt) -> list[ModelMessage]:
    last = prompt.messages[-1].content
    messages: list[ModelMessage] = []
    if prompt.messages[0].role == "assistant":  # providers require that the user begins
        messages.append(ModelRequest(parts=[UserPromptPart(_EMPTY_USER_MESSAGE)]))
    for message in prompt.messages[:-1]:
        if message.role == "user":
            messages.append(ModelRequest(parts=[UserPromptPart(message.content)]))
        else:
            messages.append(ModelResponse(parts=[TextPart(message.content)]))
    messages.append(ModelRequest(parts=[UserPromptPart(last)], instructions=prompt.system))
    for step in prompt.tool_use.steps if prompt.tool_use else ():
        text = [TextPart(step.text)] if step.text else []
        calls = [ToolCallPart(call.name, call.arguments, tool_call_id=call.id) for call in step.calls]
        results = [ToolReturnPart(call.name, call.result or "", tool_call_id=call.id) for call in step.calls]
        messages.append(ModelResponse(parts=[*text, *calls]))
        messages.append(ModelRequest(parts=results, instructions=prompt.system))
    return messages


def _reply_parameters(prompt: Prompt) -> ModelRequestParameters:
    """The client's tools, untouched."""
    tools = prompt.tool_use.tools if prompt.tool_use else ()
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=tool.parameters,
                strict=tool.strict,
            )
            for tool in tools
        ]
    )


def _reply_settings(prompt: Prompt, limits: ModelLimits) -> ModelSettings:
    settings = _model_settings(limits)
    if prompt.tool_use is not None and prompt.tool_use.choice != "auto":
        choice = prompt.tool_use.choice
        settings["tool_choice"] = choice if isinstance(choice, str) else list(choice)
    return settings


def _tool_calls(response: ModelResponse) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(
            id=part.tool_call_id,
            name=part.tool_name,
            arguments=part.args if isinstance(part.args, str) else part.args_as_json_str(),
        )
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )


def _text_of(event: ModelResponseStreamEvent) -> str:
    """The text of a stream event. Reasoning and tool calls are not part of a reply."""
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""


def _check_finish_reason(stream: StreamedResponse, name: str) -> None:
    """A stream without a finish reason was cut off, even if the connection was closed cleanly."""
    reason = stream.finish_reason
    if reason is None:
        raise ModelConnectionError(name, "cut off")
    if reason == "content_filter":
        raise ContentFilterError("stopped")
    if reason == "error":
        raise UnexpectedModelBehavior("ended by an error")
