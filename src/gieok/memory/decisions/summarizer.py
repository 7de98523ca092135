"""What decision memory asks of a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gieok.memory.decisions.compaction import Said


class ConversationSummarizer(Protocol):
    """Says in a line what a stretch of conversation was about, in its own language."""

    async def hint_conversation(self, messages: Sequence[Said], *, hint_tokens: int) -> str:
        """About `hint_tokens` tokens, and never empty; ModelUnavailable when it cannot."""
        ...
