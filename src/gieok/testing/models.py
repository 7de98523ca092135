"""A language model for tests: no network, no rules of any language, the same answer every time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gieok.memory.canon.records import ExtractedFact, Fact
from gieok.memory.companion.records import Emotion, SessionSummary, Spoken
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.decisions.compaction import Said
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

    async def extract_facts(
        self, user: str, assistant: str, known: Sequence[Fact], *, before: str = ""
    ) -> tuple[ExtractedFact, ...]:
        return ()

    async def summarize_session(self, messages: Sequence[Spoken]) -> SessionSummary:
        said = list(dict.fromkeys(word for message in messages for word in words(message.content)))
        summary = f"{len(messages)} messages with {len(said)} different words."
        return SessionSummary(summary=summary, topics=tuple(said[:3]), emotion=Emotion.CALM, importance=5)

    async def hint_conversation(self, messages: Sequence[Said], *, hint_tokens: int) -> str:
        return f"{len(messages)} messages, {sum(len(message.content.split()) for message in messages)} words"

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        heard = len(prompt.messages[-1].content.split())
        text = f"I heard {heard} words."
        emit(text)
        return Reply(text=text, input_tokens=heard, output_tokens=len(text.split()))
