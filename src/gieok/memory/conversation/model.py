"""What a conversation asks of a language model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from gieok.memory.conversation.records import Prompt, Reply


class ChatModel(Protocol):
    """Answers a prompt, piece by piece."""

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        """The pieces given to `emit` add up to `Reply.text`. ModelUnavailable when there is no answer."""
        ...


class ChatServices(Protocol):
    """What the steps of a conversation need from the application."""

    @property
    def model(self) -> ChatModel: ...
