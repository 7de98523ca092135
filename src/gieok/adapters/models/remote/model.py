"""`RemoteModel`: replies are streamed; summaries, facts and hints are requested as structured answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Generic, Self, TypeVar, cast

from pydantic_ai import Agent, ModelRetry, NativeOutput, RunContext
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
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage, UsageLimits

from gieok.adapters.models.prompts import data_block, prompt_text
from gieok.adapters.models.remote.answers import (
    Answer,
    Conversation,
    FactsAnswer,
    HintAnswer,
    SessionAnswer,
    TurnAnswer,
)
from gieok.adapters.models.remote.retries import call_with_retries
from gieok.errors import ModelUnavailable
from gieok.memory.blocks import state_line
from gieok.memory.canon.records import ExtractedFact, Fact
from gieok.memory.companion.records import SessionSummary, Spoken
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.decisions.compaction import ConversationMessage
from gieok.memory.fields import MAX_MESSAGE_CHARS, Language
from gieok.memory.model_calls import Meter, ModelLimits
from gieok.memory.turns.records import Turn, TurnSummary
from gieok.text import language

A = TypeVar("A", bound=Answer)
Check = Callable[[A], str | None]
"""Returns what is wrong with a well-formed answer, or None."""

_REPAIRS = 1
_EMPTY_USER_MESSAGE = "…"


class RemoteModel:
    """A provider's model. One instance serves every cycle; a step calls the view that `metered` returns."""

    def __init__(self, model: Model, name: str, *, native_output: bool) -> None:
        """`native_output`: the server enforces a JSON schema; otherwise the model answers by a tool call."""
        self._model = model
        self._name = name
        self._turn = StructuredRequest(model, name, TurnAnswer, native_output=native_output)
        self._session = StructuredRequest(model, name, SessionAnswer, native_output=native_output)
        self._facts = StructuredRequest(model, name, FactsAnswer, native_output=native_output)
        self._hint = StructuredRequest(model, name, HintAnswer, native_output=native_output)
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
                self._model, _reply_messages(prompt), model_settings=_model_settings(meter.limits)
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
                text="".join(received), input_tokens=usage.input_tokens, output_tokens=usage.output_tokens
            )

        return await call_with_retries(self._name, meter.limits, stream_reply, lambda: not received)

    async def summarize_turn(self, turn: Turn, *, summary_chars: int, max_keywords: int) -> TurnSummary:
        """Summarise one turn in one or two sentences, with keywords."""
        lines = (("user", turn.user), ("assistant", turn.assistant))
        conversation = Conversation.from_lines(lines)
        task = prompt_text(
            "turn",
            conversation.language,
            turn=data_block(lines),
            summaryChars=summary_chars,
            maxKeywords=max_keywords,
        )
        answer = await self._turn.run(
            task,
            conversation.language,
            lambda answer: answer.problem(turn, summary_chars) or conversation.problem(answer.summary),
            self._meter,
        )
        return answer.turn_summary(max_keywords)

    async def summarize_session(self, messages: Sequence[Spoken]) -> SessionSummary:
        """Summarise a conversation in one or two sentences, with topics, emotion and importance."""
        lines = [(message.role, message.content) for message in messages]
        conversation = Conversation.from_lines(lines)
        task = prompt_text("session", conversation.language, conversationHistory=data_block(lines))
        answer = await self._session.run(
            task, conversation.language, lambda answer: conversation.problem(answer.summary), self._meter
        )
        return answer.session_summary()

    async def extract_facts(
        self, user: str, assistant: str, known: Sequence[Fact], *, before: str = ""
    ) -> tuple[ExtractedFact, ...]:
        """Extract the facts that a turn states. The step checks that they were really said."""
        lines = [(role, content) for role, content in (("user", user), ("assistant", assistant)) if content]
        conversation = Conversation.from_lines(lines)
        task = prompt_text(
            "facts",
            conversation.language,
            turn=data_block(lines),
            known="\n".join(("<data>", *map(state_line, known), "</data>")),
            before=data_block([("user", before)] if before else []),
        )
        answer = await self._facts.run(task, conversation.language, lambda _: None, self._meter)
        return tuple(fact.extracted_fact() for fact in answer.facts)

    async def hint_conversation(self, messages: Sequence[ConversationMessage], *, hint_tokens: int) -> str:
        """Describe a part of a conversation in one line."""
        lines = [(message.role, message.content) for message in messages]
        conversation = Conversation.from_lines(lines)
        task = prompt_text(
            "hint", conversation.language, conversation=data_block(lines), hintTokens=hint_tokens
        )
        answer = await self._hint.run(
            task, conversation.language, lambda answer: conversation.problem(answer.hint), self._meter
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


class StructuredRequest(Generic[A]):
    """Requests one kind of structured answer. An invalid answer is sent back once with the reason."""

    def __init__(self, model: Model, name: str, answer_type: type[A], *, native_output: bool) -> None:
        def check(context: RunContext[Check[A]], answer: A) -> A:
            problem = context.deps(answer)
            if problem is not None:
                raise ModelRetry(problem)
            return answer

        output_type = NativeOutput(answer_type) if native_output else answer_type
        self._name = name
        self._agent = cast(
            "Agent[Check[A], A]",
            Agent(model, output_type=output_type, retries={"output": _REPAIRS, "tools": 0}),
        )
        self._agent.output_validator(check)

    async def run(self, task: str, language: Language, check: Check[A], meter: Meter) -> A:
        """The answer to a task. ModelUnavailable where there is no valid one."""

        async def request() -> A:
            usage = RunUsage()
            try:
                result = await self._agent.run(
                    task,
                    deps=check,
                    instructions=prompt_text("data", language),
                    model_settings=_model_settings(meter.limits),
                    usage=usage,
                    usage_limits=UsageLimits(request_limit=1 + _REPAIRS),
                )
            finally:
                meter.count(max(usage.requests, 1), usage.input_tokens, usage.output_tokens)
            return result.output

        return await call_with_retries(self._name, meter.limits, request)


def _model_settings(limits: ModelLimits) -> ModelSettings:
    """The provider's library must not retry: the plan limits the attempts."""
    return ModelSettings(max_tokens=limits.max_output_tokens, max_retries=0)


def _reply_messages(prompt: Prompt) -> list[ModelMessage]:
    last = prompt.messages[-1].content
    rules = prompt_text("reply", language(last, default=prompt.persona.language))
    messages: list[ModelMessage] = []
    if prompt.messages[0].role == "assistant":  # providers require that the user begins
        messages.append(ModelRequest(parts=[UserPromptPart(_EMPTY_USER_MESSAGE)]))
    for message in prompt.messages[:-1]:
        if message.role == "user":
            messages.append(ModelRequest(parts=[UserPromptPart(message.content)]))
        else:
            messages.append(ModelResponse(parts=[TextPart(message.content)]))
    system = "\n\n".join(part for part in (prompt.system, rules) if part)
    return [*messages, ModelRequest(parts=[UserPromptPart(last)], instructions=system)]


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
