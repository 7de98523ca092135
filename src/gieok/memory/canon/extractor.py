"""What canon asks of a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gieok.memory.canon.records import ExtractedFact, Fact


class FactExtractor(Protocol):
    """Finds the facts that a turn states. What the prompt held beside the turn is not its business."""

    async def extract_facts(
        self, user: str, assistant: str, known: Sequence[Fact]
    ) -> tuple[ExtractedFact, ...]:
        """The facts of this turn; `known` are the active ones, to supersede or retract by their keys."""
        ...
