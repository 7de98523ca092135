"""A language model for tests: no network, no rules of any language, the same answer every time."""

from __future__ import annotations

from collections.abc import Callable

from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.turns.records import Turn, TurnSummary
from gieok.text import words


class CountingModel:
    """Counts words instead of understanding them, so that a test spends its time on what it tests.

    Its keywords are the first words of what the user said: a memory is found by any of them.
    """

    async def summarize_turn(self, turn: Turn, *, summary_chars: int, max_keywords: int) -> TurnSummary:
        said = list(dict.fromkeys(words(turn.user)))
        summary = f"The user said {len(said)} different words."
        return TurnSummary(summary=summary[:summary_chars], keywords=tuple(said[:max_keywords]))

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        heard = len(prompt.messages[-1].content.split())
        text = f"I heard {heard} words."
        emit(text)
        return Reply(text=text, input_tokens=heard, output_tokens=len(text.split()))
