"""The steps of a conversation: select the context, assemble the prompt, call the model. No store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Protocol

from pydantic import Field

from gieok.engine import ActStep, AnyStep, Data, NoData, Stage, StepContext
from gieok.errors import ModelUnavailable
from gieok.memory.conversation.records import (
    Context,
    ContextMemory,
    KnownFact,
    Message,
    Persona,
    Prompt,
    Reply,
    StateFact,
    TimedMessage,
)
from gieok.memory.conversation.rules import assemble, prompt_tokens
from gieok.memory.fields import MAX_MESSAGE_CHARS, Timestamp, storable
from gieok.memory.model_calls import ModelLimits, metered_model
from gieok.memory.observations import Exchange, SpokenMessage
from gieok.memory.profile import Timezone, local
from gieok.memory.usage import ModelUsage


class SelectMetadata(Data):
    recent_messages: Annotated[int, Field(ge=0, le=1_000)]


class SelectInputs(Data):
    persona: Persona
    state: tuple[StateFact, ...] = ()
    recent_messages: tuple[Message, ...] = ()
    client_messages: tuple[Message, ...] = ()
    """The window of a client that keeps its own; it replaces the stored messages."""
    facts: tuple[KnownFact, ...] = ()
    """Facts about the user that are not state."""
    memories: tuple[ContextMemory, ...] = ()
    recalled: tuple[ContextMemory, ...] = ()
    """Memories of other sessions; they follow those of this session."""
    timezone: Timezone = "UTC"
    """Whose days are meant."""


class Selected(Data):
    context: Context


class ContextSelect(ActStep[SelectMetadata, SelectInputs, Selected]):
    """Combine the outputs of the earlier steps into one context."""

    type = "ContextSelect"
    stages = frozenset({Stage.CONTEXT_SELECT})

    async def run(self, metadata: SelectMetadata, inputs: SelectInputs, context: StepContext) -> Selected:
        window = inputs.client_messages or inputs.recent_messages
        recent = window[max(len(window) - metadata.recent_messages, 0) :]
        memories = inputs.memories + tuple(each for each in inputs.recalled if each not in inputs.memories)
        chosen = Context(
            persona=inputs.persona,
            state=inputs.state,
            facts=inputs.facts,
            memories=memories,
            recent=recent,
            timezone=inputs.timezone,
        )
        context.note("memories", len(memories))
        context.note("recentMessages", len(recent))
        return Selected(context=chosen)


class AssembleMetadata(Data):
    token_budget: Annotated[int, Field(ge=1, le=10_000_000)]


class AssembleInputs(Data):
    context: Context
    message: str


class AssembledPrompt(Data):
    prompt: Prompt


class PromptAssemble(ActStep[AssembleMetadata, AssembleInputs, AssembledPrompt]):
    """Turn the context into the text that the model reads, within the plan's token budget."""

    type = "PromptAssemble"
    stages = frozenset({Stage.PROMPT_ASSEMBLE})

    async def run(
        self, metadata: AssembleMetadata, inputs: AssembleInputs, context: StepContext
    ) -> AssembledPrompt:
        now = local(context.now, inputs.context.timezone)
        made = assemble(inputs.context, inputs.message, now, metadata.token_budget)
        context.note("tokens", prompt_tokens(made.prompt))
        context.note("factsLeftOut", made.facts_left_out)
        context.note("memoriesLeftOut", made.memories_left_out)
        context.note("messagesLeftOut", made.messages_left_out)
        return AssembledPrompt(prompt=made.prompt)


class ChatModel(Protocol):
    """The part of a language model that replies to prompts."""

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        """Stream the reply through `emit` and return it whole. Raises ModelUnavailable without an answer."""
        ...


class ChatServices(Protocol):
    """What the steps of a conversation need from the application."""

    @property
    def model(self) -> ChatModel: ...


class CallInputs(Data):
    prompt: Prompt


class Answer(Data):
    text: str
    usage: ModelUsage


class LLMCall(ActStep[ModelLimits, CallInputs, Answer]):
    """Call the model and stream its reply as events of the kind `token`.

    ModelUnavailable if the reply is empty, too long, or cannot be stored.
    """

    type = "LLMCall"
    stages = frozenset({Stage.LLM_CALL})

    def __init__(self, services: ChatServices) -> None:
        self._model = services.model

    async def run(self, metadata: ModelLimits, inputs: CallInputs, context: StepContext) -> Answer:
        with metered_model(self._model, metadata, context) as (model, meter):
            reply = await model.reply(inputs.prompt, lambda piece: context.emit("token", piece))
            if not meter.calls:  # a model without a meter reports the tokens in its reply
                meter.count(1, reply.input_tokens, reply.output_tokens)
        _check_reply(reply.text)
        return Answer(text=reply.text, usage=meter.usage)


def _check_reply(text: str) -> None:
    if not text.strip():
        raise ModelUnavailable("the model gave an empty reply")
    if len(text) > MAX_MESSAGE_CHARS:
        raise ModelUnavailable(f"the model's reply has more than {MAX_MESSAGE_CHARS} characters")
    try:
        storable(text)
    except ValueError as error:
        raise ModelUnavailable(f"the model's reply {error}") from None


class CurrentInputs(Data):
    message_id: str | None = None
    reply_id: str | None = None
    message: str
    reply: str
    recent_messages: tuple[TimedMessage, ...] = ()
    """The messages before this turn."""


class CurrentTurn(Data):
    exchanges: tuple[Exchange, ...]
    before: tuple[SpokenMessage, ...]
    timestamps: tuple[Timestamp, ...]
    message_ids: tuple[str | None, ...]


class CurrentExchange(ActStep[NoData, CurrentInputs, CurrentTurn]):
    """This turn as an exchange, for a plan that remembers it in its own cycle."""

    type = "CurrentExchange"
    stages = frozenset({Stage.POST_PROCESS})

    async def run(self, metadata: NoData, inputs: CurrentInputs, context: StepContext) -> CurrentTurn:
        said = SpokenMessage(id=inputs.message_id, role="user", text=inputs.message, at=context.now)
        answered = SpokenMessage(id=inputs.reply_id, role="assistant", text=inputs.reply, at=context.now)
        before = tuple(
            SpokenMessage(role=message.role, text=message.content, at=message.timestamp)
            for message in inputs.recent_messages
        )
        return CurrentTurn(
            exchanges=(Exchange(messages=(said, answered)),),
            before=before,
            timestamps=(context.now,),
            message_ids=(inputs.reply_id,),
        )


STEPS: tuple[type[AnyStep], ...] = (ContextSelect, PromptAssemble, LLMCall, CurrentExchange)
