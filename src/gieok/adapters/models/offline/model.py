"""The offline language model: rules over morphemes, the same answer every time, no network."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gieok.adapters.models.offline.analysis import read
from gieok.adapters.models.offline.facts import facts_in
from gieok.adapters.models.offline.hint import hint
from gieok.adapters.models.offline.keywords import keywords
from gieok.adapters.models.offline.reply import compose
from gieok.adapters.models.offline.session import summarize_messages
from gieok.adapters.models.offline.summary import summarize
from gieok.memory.canon.records import ExtractedFact, Fact
from gieok.memory.companion.records import SessionSummary, Spoken
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.decisions.compaction import ConversationMessage
from gieok.memory.turns.records import Turn, TurnSummary
from gieok.text import count_tokens

# How many topics a summary names where it cannot retell a message, however few keywords are asked for.
_TOPICS = 3


class OfflineModel:
    """Summarises turns and answers prompts in Korean and English. Stateless, so one serves every thread."""

    async def summarize_turn(self, turn: Turn, *, summary_chars: int, max_keywords: int) -> TurnSummary:
        """One or two sentences about what the user said, in their language, and the keywords of the turn."""
        said = read(turn.user)
        found = keywords(said, turn.assistant, max(max_keywords, _TOPICS))
        summary = summarize(said, turn.assistant, found[:_TOPICS], summary_chars)
        return TurnSummary(summary=summary, keywords=found[:max_keywords])

    async def summarize_session(self, messages: Sequence[Spoken]) -> SessionSummary:
        """One or two sentences about the whole conversation, with topics, emotion and importance."""
        return summarize_messages(messages)

    async def extract_facts(
        self, user: str, assistant: str, known: Sequence[Fact], *, before: str = ""
    ) -> tuple[ExtractedFact, ...]:
        """What the user stated or took back in this turn, and what the assistant promised or settled."""
        return facts_in(user, assistant, known, before)

    async def hint_conversation(self, messages: Sequence[ConversationMessage], *, hint_tokens: int) -> str:
        """One line about what was said. It is short by nature, and whoever asks may cut it."""
        said = "\n".join(message.content for message in messages if message.role == "user")
        answered = "\n".join(message.content for message in messages if message.role != "user")
        return hint(said or answered, answered if said else "")

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        """A short answer in the persona's language. `emit` is called once for each word."""
        text = compose(prompt)
        for piece in _pieces(text):
            emit(piece)
        spent = count_tokens(prompt.system) + sum(
            count_tokens(message.content) for message in prompt.messages
        )
        return Reply(text=text, input_tokens=spent, output_tokens=count_tokens(text))


def _pieces(text: str) -> list[str]:
    words = text.split(" ")
    return [word if index == 0 else f" {word}" for index, word in enumerate(words)]
