"""Records of one turn of a conversation: context, prompt and reply."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from gieok.engine import Data
from gieok.memory.fields import Language


class Persona(Data, from_attributes=True):
    """The persona that speaks. No conversation changes it."""

    name: str
    language: Language
    system_prompt: str


class StateFact(Data, from_attributes=True):
    """One line of the current state (canon)."""

    category: str
    key: str
    value: str
    when: date | None = None
    until: date | None = None


class ContextMemory(Data, from_attributes=True):
    """A memory in a prompt."""

    summary: str
    timestamp: datetime


class KnownFact(Data, from_attributes=True):
    """A fact about the user that is not state, such as a name or a preference."""

    key: str
    value: str
    valid_from: datetime


class Message(Data, from_attributes=True):
    """One message of the conversation."""

    role: Literal["user", "assistant"]
    content: str


class TimedMessage(Message):
    """A message and when it was said."""

    timestamp: datetime


class Context(Data):
    """Everything that was selected for the prompt of this turn."""

    persona: Persona
    state: tuple[StateFact, ...]
    facts: tuple[KnownFact, ...] = ()
    memories: tuple[ContextMemory, ...]
    recent: tuple[Message, ...]
    timezone: str = "UTC"
    """Whose days are meant."""


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
    now: datetime
    """The time on the user's clock."""


class Reply(Data):
    """The reply of a model, and its tokens."""

    text: str
    input_tokens: int
    output_tokens: int
