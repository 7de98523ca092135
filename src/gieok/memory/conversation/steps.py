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
    PromptPart,
    Reply,
    StateFact,
    TimedMessage,
    ToolCall,
    ToolUse,
)
from gieok.memory.conversation.rules import PromptLimits, assemble, not_shown
from gieok.memory.fields import MAX_MESSAGE_CHARS, Timestamp, storable
from gieok.memory.model_calls import ModelLimits, metered_model
from gieok.memory.observations import Exchange, SpokenMessage
from gieok.memory.profile import Timezone, local
from gieok.memory.usage import ModelUsage

MAX_BUDGET = 10_000_000


class SelectMetadata(Data):
    recent_messages: Annotated[int, Field(ge=0, le=1_000)]


class SelectInputs(Data):
    persona: Persona
    state: tuple[StateFact, ...] = ()
    state_left_out: int = 0
    """How many facts of the state its own limit left out."""
    recent_messages: tuple[Message, ...] = ()
    client_messages: tuple[Message, ...] = ()
    """The window of a client that keeps its own; it replaces the stored messages."""
    facts: tuple[KnownFact, ...] = ()
    """Facts about the user that are not state."""
    opening: tuple[ContextMemory, ...] = ()
    """The memories that a conversation begins with."""
    recalled: tuple[ContextMemory, ...] = ()
    """Memories, messages and facts, best first. What another part of the prompt shows is left out."""
    earlier: tuple[ContextMemory, ...] = ()
    """Summaries of the earlier part of this conversation, oldest first."""
    memories: tuple[ContextMemory, ...] = ()
    """Notes of earlier turns of this conversation. They precede what was recalled."""
    lore: tuple[str, ...] = ()
    """Entries of the lorebook whose keys were said."""
    lore_left_out: int = 0
    user_name: str | None = None
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
        recalled = (*inputs.memories, *inputs.recalled)
        chosen = Context(
            persona=inputs.persona,
            state=inputs.state,
            state_left_out=inputs.state_left_out,
            facts=inputs.facts,
            memories=(),
            lore=inputs.lore,
            lore_left_out=inputs.lore_left_out,
            earlier=inputs.earlier,
            recent=window[max(len(window) - metadata.recent_messages, 0) :],
            user_name=inputs.user_name,
            timezone=inputs.timezone,
        )
        chosen = chosen.model_copy(update={"opening": not_shown(inputs.opening, chosen)})
        chosen = chosen.model_copy(update={"memories": not_shown(recalled, chosen)})
        context.note("memories", len(chosen.opening) + len(chosen.memories))
        context.note("recentMessages", len(chosen.recent))
        return Selected(context=chosen)


class AssembleMetadata(Data):
    token_budget: Annotated[int, Field(ge=1, le=MAX_BUDGET)]
    window_share: Annotated[float, Field(ge=0, le=1)]
    """The share of the room beside persona and message that recent messages may use in any case."""
    quote_chars: Annotated[int, Field(ge=1, le=MAX_MESSAGE_CHARS)]
    """How much of a recalled message is quoted."""


class AssembleInputs(Data):
    context: Context
    message: str
    """Empty for a prompt that ends with the recent messages."""
    instructions: str | None = None
    """What the client tells the model besides the persona."""
    tool_use: ToolUse | None = None
    """The client's tools. They do not count towards the budget."""
    budget: Annotated[int, Field(ge=1, le=MAX_BUDGET)] | None = None
    """The token budget of this request; None for the plan's."""


class AssembledPrompt(Data):
    prompt: Prompt
    parts: tuple[PromptPart, ...]
    """What the prompt has of each part, and how much was left out."""
    tokens: int
    budget: int


class PromptAssemble(ActStep[AssembleMetadata, AssembleInputs, AssembledPrompt]):
    """Turn the context into the text that the model reads, within the token budget.

    InputRefused if persona and message do not fit into it.
    """

    type = "PromptAssemble"
    stages = frozenset({Stage.PROMPT_ASSEMBLE})

    async def run(
        self, metadata: AssembleMetadata, inputs: AssembleInputs, context: StepContext
    ) -> AssembledPrompt:
        budget = inputs.budget or metadata.token_budget
        limits = PromptLimits(budget, metadata.window_share, metadata.quote_chars)
        now = local(context.now, inputs.context.timezone)
        made = assemble(inputs.context, inputs.message, now, limits, inputs.instructions or "")
        context.note("tokens", made.tokens)
        for part in made.parts:
            if part.left_out:
                context.note(f"{part.kind}LeftOut", part.left_out)
        prompt = made.prompt.model_copy(update={"tool_use": inputs.tool_use})
        return AssembledPrompt(prompt=prompt, parts=made.parts, tokens=made.tokens, budget=budget)


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
    tool_calls: tuple[ToolCall, ...] = ()


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
        if not reply.tool_calls:
            _check_reply(reply.text)
        return Answer(text=reply.text, usage=meter.usage, tool_calls=reply.tool_calls)


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
            SpokenMessage(id=message.id, role=message.role, text=message.content, at=message.timestamp)
            for message in inputs.recent_messages
        )
        return CurrentTurn(
            exchanges=(Exchange(messages=(said, answered)),),
            before=before,
            timestamps=(context.now,),
            message_ids=(inputs.reply_id,),
        )


STEPS: tuple[type[AnyStep], ...] = (ContextSelect, PromptAssemble, LLMCall, CurrentExchange)
