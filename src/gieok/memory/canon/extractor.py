"""What canon asks of a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gieok.memory.canon.records import ExtractedFact, Fact


class FactExtractor(Protocol):
    """Finds the facts that a turn states. What the prompt held beside the turn is not its business."""

    async def extract_facts(
        self, user: str, assistant: str, known: Sequence[Fact], *, before: str = ""
    ) -> tuple[ExtractedFact, ...]:
        """The facts of this turn; `known` are the active ones, to supersede or retract by their keys.

        `before` is what the user said before this, in the same session: no news, and what a message may take
        back (아니 농담이야).
        """
        ...
