"""What a turn of conversation is made of, from the persona to the reply."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from gieok.engine import Data
from gieok.memory.fields import Language


class Persona(Data, from_attributes=True):
    """Who speaks. Fixed by its author; no conversation changes it."""

    name: str
    language: Language
    system_prompt: str


class StateFact(Data, from_attributes=True):
    """One line of the current state (canon)."""

    category: str
    key: str
    value: str


class ContextMemory(Data, from_attributes=True):
    """A memory as the prompt needs it."""

    summary: str
    timestamp: datetime


class KnownFact(Data, from_attributes=True):
    """Something known of the user that is no state: their name, what they like."""

    key: str
    value: str
    valid_from: datetime


class Message(Data, from_attributes=True):
    """One message of the conversation."""

    role: Literal["user", "assistant"]
    content: str


class Context(Data):
    """All that was selected for this turn, before it becomes text."""

    persona: Persona
    state: tuple[StateFact, ...]
    facts: tuple[KnownFact, ...] = ()
    memories: tuple[ContextMemory, ...]
    recent: tuple[Message, ...]


class Prompt(Data):
    """The assembled prompt. `system` and `messages` are what a remote model reads; the parts they
    were made from are kept, because a model that works by rules needs no text to parse."""

    system: str
    messages: tuple[Message, ...]
    persona: Persona
    state: tuple[StateFact, ...]
    facts: tuple[KnownFact, ...] = ()
    memories: tuple[ContextMemory, ...]
    now: datetime


class Reply(Data):
    """What the model said, and what it cost."""

    text: str
    input_tokens: int
    output_tokens: int
