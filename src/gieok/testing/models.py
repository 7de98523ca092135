"""A deterministic language model for tests, without a network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from gieok.memory.companion.records import Emotion, SessionSummary, Spoken
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.decisions.compaction import ConversationMessage
from gieok.memory.observations import Conversation, TurnNote, Understood, VerbatimLimit
from gieok.text import words


class CountingModel:
    """Answers with word counts, in almost no time.

    Its keywords are the first words of the user's message, so a memory is found by any of them.
    """

    async def remember(
        self, conversation: Conversation, *, summary_chars: int, max_keywords: int, verbatim: VerbatimLimit
    ) -> Understood:
        notes: list[TurnNote] = []
        for exchange in conversation.exchanges:
            distinct = list(dict.fromkeys(words(exchange.text("user"))))
            summary = f"The user said {len(distinct)} different words."
            notes.append(TurnNote(summary=summary[:summary_chars], keywords=tuple(distinct[:max_keywords])))
        return Understood(turns=tuple(notes), observations=())

    async def summarize_session(self, messages: Sequence[Spoken]) -> SessionSummary:
        distinct = list(dict.fromkeys(word for message in messages for word in words(message.content)))
        summary = f"{len(messages)} messages with {len(distinct)} different words."
        return SessionSummary(summary=summary, topics=tuple(distinct[:3]), emotion=Emotion.CALM, importance=5)

    async def hint_conversation(
        self, messages: Sequence[ConversationMessage], *, hint_tokens: int, today: date
    ) -> str:
        return f"{len(messages)} messages, {sum(len(message.content.split()) for message in messages)} words"

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        heard = len(prompt.messages[-1].content.split())
        text = f"I heard {heard} words."
        emit(text)
        return Reply(text=text, input_tokens=heard, output_tokens=len(text.split()))
