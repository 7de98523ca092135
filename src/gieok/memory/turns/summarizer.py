"""What turn memory asks of a language model."""

from __future__ import annotations

from typing import Protocol

from gieok.memory.turns.records import Turn, TurnSummary


class TurnSummarizer(Protocol):
    """Condenses a turn. Its answer is in the language of the user's words."""

    async def summarize_turn(self, turn: Turn, *, summary_chars: int, max_keywords: int) -> TurnSummary:
        """At most `summary_chars` characters and `max_keywords` keywords; ModelUnavailable when it cannot."""
        ...


class SummarizerServices(Protocol):
    """What the steps of turn memory need from the application."""

    @property
    def model(self) -> TurnSummarizer: ...
