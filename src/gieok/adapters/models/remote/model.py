"""A remote language model behind the questions that the rooms ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Self

from pydantic_ai.models import Model

from gieok.adapters.models.prompts import data, prompt
from gieok.adapters.models.remote.answers import FactsAnswer, HintAnswer, SessionAnswer, TurnAnswer
from gieok.adapters.models.remote.records import Asked
from gieok.adapters.models.remote.reply import reply
from gieok.adapters.models.remote.speech import spoken
from gieok.memory.asking import Meter
from gieok.memory.blocks import state_line
from gieok.memory.canon.records import ExtractedFact, Fact
from gieok.memory.companion.records import SessionSummary, Spoken
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.decisions.compaction import Said
from gieok.memory.turns.records import Turn, TurnSummary


class RemoteModel:
    """Asks a provider through pydantic-ai. One serves every cycle; each step counts on a meter of its own,
    and is answered by the view that `metered` gives.
    """

    def __init__(self, model: Model, name: str, *, by_schema: bool) -> None:
        self._model = model
        self._name = name
        self._turn = Asked(model, name, TurnAnswer, by_schema=by_schema)
        self._session = Asked(model, name, SessionAnswer, by_schema=by_schema)
        self._facts = Asked(model, name, FactsAnswer, by_schema=by_schema)
        self._hint = Asked(model, name, HintAnswer, by_schema=by_schema)
        self._meter: Meter | None = None

    def metered(self, meter: Meter) -> Self:
        """The same model, held to the terms of this meter and counted by it."""
        view = copy(self)
        view._meter = meter
        return view

    async def close(self) -> None:
        """Let go of the connections."""
        async with self._model:
            pass  # leaving it closes the client, also where nothing was ever asked

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        """The character's answer, told piece by piece."""
        return await reply(self._model, self._name, prompt, emit, self._on())

    async def summarize_turn(self, turn: Turn, *, summary_chars: int, max_keywords: int) -> TurnSummary:
        """One or two sentences about an exchange, and its keywords."""
        lines = (("user", turn.user), ("assistant", turn.assistant))
        said = spoken(lines)
        task = prompt(
            "turn", said.language, turn=data(lines), summaryChars=summary_chars, maxKeywords=max_keywords
        )
        made = await self._turn.ask(
            task,
            said.language,
            lambda answer: answer.problem(turn, summary_chars) or said.problem(answer.summary),
            self._on(),
        )
        return made.turn_summary(max_keywords)

    async def summarize_session(self, messages: Sequence[Spoken]) -> SessionSummary:
        """One or two sentences about a conversation, with topics, emotion and importance."""
        lines = [(message.role, message.content) for message in messages]
        said = spoken(lines)
        task = prompt("session", said.language, conversationHistory=data(lines))
        made = await self._session.ask(
            task, said.language, lambda answer: said.problem(answer.summary), self._on()
        )
        return made.session_summary()

    async def extract_facts(
        self, user: str, assistant: str, known: Sequence[Fact], *, before: str = ""
    ) -> tuple[ExtractedFact, ...]:
        """What a turn states. Whether it was really said is for the step to decide."""
        lines = [(who, said) for who, said in (("user", user), ("assistant", assistant)) if said]
        language = spoken(lines).language
        facts = "\n".join(("<data>", *map(state_line, known), "</data>"))
        earlier = data([("user", before)] if before else [])
        task = prompt("facts", language, turn=data(lines), known=facts, before=earlier)
        made = await self._facts.ask(task, language, lambda _: None, self._on())
        return tuple(fact.extracted() for fact in made.facts)

    async def hint_conversation(self, messages: Sequence[Said], *, hint_tokens: int) -> str:
        """One line about a stretch of conversation."""
        lines = [(message.role, message.content) for message in messages]
        said = spoken(lines)
        task = prompt("hint", said.language, conversation=data(lines), hintTokens=hint_tokens)
        made = await self._hint.ask(task, said.language, lambda answer: said.problem(answer.hint), self._on())
        return made.hint

    def _on(self) -> Meter:
        if self._meter is None:
            raise RuntimeError("a remote model is asked on the terms of a plan: call metered() first")
        return self._meter
