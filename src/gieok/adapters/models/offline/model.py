"""The offline language model: rules over morphemes, deterministic, without a network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from gieok.adapters.models.offline.dialogue import observe
from gieok.adapters.models.offline.reply import compose
from gieok.adapters.models.offline.summary import hint, summarize_session, summarize_turn
from gieok.memory.companion.records import SessionSummary, Spoken
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.decisions.compaction import ConversationMessage
from gieok.memory.observations import Conversation, Understood, VerbatimLimit
from gieok.text import count_tokens


class OfflineModel:
    """Answers prompts and remembers exchanges in Korean and English. Stateless and thread-safe."""

    async def remember(
        self, conversation: Conversation, *, summary_chars: int, max_keywords: int, verbatim: VerbatimLimit
    ) -> Understood:
        """The summary and keywords of each exchange, and the observations that the rules find."""
        said = [(exchange.text("user"), exchange.text("assistant")) for exchange in conversation.exchanges]
        notes = [
            summarize_turn(*both, chars=summary_chars, max_keywords=max_keywords, is_copy=verbatim.is_copy)
            for both in said
        ]
        return Understood(turns=tuple(notes), observations=observe(conversation))

    async def summarize_session(self, messages: Sequence[Spoken]) -> SessionSummary:
        """One or two sentences about the whole conversation, with topics, emotion and importance."""
        return summarize_session(messages)

    async def hint_conversation(
        self, messages: Sequence[ConversationMessage], *, hint_tokens: int, today: date
    ) -> str:
        """One line about what was said. The caller may cut it."""
        said = "\n".join(message.content for message in messages if message.role == "user")
        answered = "\n".join(message.content for message in messages if message.role != "user")
        return hint(said or answered, answered if said else "")

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        """Phrases and quotes in the persona's language. `emit` is called once for each word."""
        text = compose(prompt)
        for index, word in enumerate(text.split(" ")):
            emit(word if index == 0 else f" {word}")
        spent = count_tokens(prompt.system) + sum(count_tokens(each.content) for each in prompt.messages)
        return Reply(text=text, input_tokens=spent, output_tokens=count_tokens(text))
