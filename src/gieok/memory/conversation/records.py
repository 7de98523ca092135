"""Records of one turn of a conversation: context, prompt and reply."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AliasChoices, Field

from gieok.engine import Data
from gieok.memory.fields import Language


class Persona(Data, from_attributes=True):
    """The persona that speaks. No conversation changes it."""

    name: str
    language: Language
    system_prompt: str


class StateFact(Data, from_attributes=True):
    """One line of the current state (canon)."""

    root_id: UUID | None = None
    subject: str = "user"
    category: str
    key: str
    value: str
    when: date | None = None
    until: date | None = None
    valid_from: datetime | None = None
    """When it was said."""


class KnownFact(StateFact):
    """A fact about the user that is not state, such as a name or a preference."""

    category: str = ""


class ContextMemory(Data, from_attributes=True):
    """Something remembered: a summary, a message of the log word for word, or a fact."""

    kind: Literal["memory", "message", "fact"] = "memory"
    id: UUID | str | None = None
    summary: Annotated[str, Field(validation_alias=AliasChoices("summary", "text"))]
    timestamp: datetime
    role: Literal["user", "assistant"] | None = None
    """Which side said a message."""
    speaker: str | None = None
    """The name of who said it, if it is known."""


class Message(Data, from_attributes=True):
    """One message of the conversation."""

    role: Literal["user", "assistant"]
    content: str


class TimedMessage(Message):
    """A message and when it was said. `id` is its id in the log."""

    id: str | None = None
    timestamp: datetime


class Context(Data):
    """Everything that was selected for the prompt of this turn."""

    persona: Persona
    state: tuple[StateFact, ...]
    state_left_out: int = 0
    """Facts of the state that its own limit left out."""
    facts: tuple[KnownFact, ...] = ()
    opening: tuple[ContextMemory, ...] = ()
    """The most important memories, at the start of a conversation."""
    memories: tuple[ContextMemory, ...]
    """What was recalled: notes of this conversation, then memories, messages and facts, best first."""
    lore: tuple[str, ...] = ()
    """Entries of the lorebook whose keys were said."""
    lore_left_out: int = 0
    """Entries that the lorebook's own limit left out."""
    earlier: tuple[ContextMemory, ...] = ()
    """Summaries of the earlier part of this conversation, oldest first."""
    recent: tuple[Message, ...]
    user_name: str | None = None
    timezone: str = "UTC"
    """Whose days are meant."""


class Tool(Data):
    """A function of the client that the model may call."""

    name: str
    description: str | None = None
    parameters: dict[str, Any]
    """The JSON schema of its arguments, as the client wrote it."""
    strict: bool | None = None


class ToolCall(Data):
    """A call that the model asks for. The client makes it and sends the result with its next request."""

    id: str
    name: str
    arguments: str
    """A JSON document, as the model wrote it."""
    result: str | None = None
    """None until the client has made the call."""


class ToolStep(Data):
    """Calls that the model asked for at once, in the turn that is going on."""

    text: str = ""
    """What it said with them."""
    calls: tuple[ToolCall, ...]


class ToolUse(Data):
    """The tools of a request, and what was called in its turn so far."""

    tools: tuple[Tool, ...]
    choice: Literal["auto", "required"] | tuple[str, ...] = "auto"
    """Whether the model must call one of them, or one of those with these names."""
    steps: tuple[ToolStep, ...] = ()


class Prompt(Data):
    """The assembled prompt.

    A remote model reads `system` and `messages`. The offline model reads the other fields, which are the
    parts of the text.
    """

    system: str
    messages: tuple[Message, ...]
    persona: Persona
    state: tuple[StateFact, ...]
    facts: tuple[KnownFact, ...] = ()
    memories: tuple[ContextMemory, ...]
    """Those that the conversation begins with, then those that were recalled."""
    earlier: tuple[ContextMemory, ...] = ()
    user_name: str | None = None
    now: datetime
    """The time on the user's clock."""
    tool_use: ToolUse | None = None
    """For a model that knows tools."""


PartKind = Literal["persona", "today", "state", "facts", "memories", "lore", "earlier", "window"]


class PromptPart(Data):
    """One part of a prompt: its tokens, how many items it has, and how many were left out."""

    kind: PartKind
    tokens: int
    count: int
    left_out: int


class Reply(Data):
    """The reply of a model, and its tokens."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    """Only where the prompt has tools. The text may then be empty."""
    input_tokens: int
    output_tokens: int
