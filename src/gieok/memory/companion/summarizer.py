"""What companion memory asks of a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gieok.memory.companion.records import SessionSummary, Spoken


class SessionSummarizer(Protocol):
    """Condenses a conversation, in the language of the conversation."""

    async def summarize_session(self, messages: Sequence[Spoken]) -> SessionSummary:
        """One or two sentences with topics, emotion and importance. ModelUnavailable when it cannot."""
        ...


class SummarizerServices(Protocol):
    """What the steps that summarise sessions need from the application."""

    @property
    def model(self) -> SessionSummarizer: ...
