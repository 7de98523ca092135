"""What remembering costs beside the reply: tokens with few and many known facts, and model calls per turn.

A part of `python -m bench mind`. The messages are those of a labelled conversation; the replies are its own.
Tokens are estimated by `count_tokens`, of everything that is sent to a model and of its answer. The persona
has about 300 tokens, as the description of a character has.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.table import Row, Table, at_most
from gieok import Gieok, PersonaDraft
from gieok.adapters.models.offline import OfflineModel
from gieok.adapters.models.prompts import prompt_text, remember_task
from gieok.adapters.models.remote.answers import REMEMBER_SCHEMA
from gieok.engine import ExecutionPlan, make_plan
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.fields import Language
from gieok.memory.observations import Conversation, Understood, VerbatimLimit
from gieok.plans import read_plan
from gieok.testing.settings import settings_for
from gieok.text import count_tokens

KNOWN = (20, 100, 500)
TURNS, FEWEST_TURNS = 12, 8
PERSONA_TOKENS = 300
_TRAIT: Mapping[Language, str] = {
    "ko": "너는 하나, 사용자의 오랜 친구다. 다정하게 반말로 말하고, 상대의 하루를 궁금해한다. ",
    "en": "You are Juno, an old friend of the user. You speak warmly and you are curious about their day. ",
}


class CountingModel(OfflineModel):
    """Replies as the conversation did, remembers offline, and counts the tokens of both."""

    def __init__(self, replies: dict[str, str]) -> None:
        self._replies = replies
        self.replying: list[int] = []
        self.remembering: list[int] = []

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        text = self._replies[prompt.messages[-1].content]
        sent = count_tokens(prompt.system) + sum(count_tokens(each.content) for each in prompt.messages)
        self.replying.append(sent + count_tokens(text))
        emit(text)
        return Reply(text=text, input_tokens=sent, output_tokens=count_tokens(text))

    async def remember(
        self, conversation: Conversation, *, summary_chars: int, max_keywords: int, verbatim: VerbatimLimit
    ) -> Understood:
        understood = await super().remember(
            conversation, summary_chars=summary_chars, max_keywords=max_keywords, verbatim=verbatim
        )
        sent = (
            prompt_text("data", conversation.language),
            remember_task(conversation, summary_chars, max_keywords),
            json.dumps(REMEMBER_SCHEMA),
        )
        answer = understood.model_dump_json(by_alias=True, exclude={"malformed"})
        self.remembering.append(sum(map(count_tokens, (*sent, answer))))
        return understood


@dataclass(frozen=True)
class Talk:
    """The first turns of a labelled conversation: what was said, and what was replied."""

    language: Language
    turns: Sequence[tuple[str, str]]

    @classmethod
    def load(cls, file: Path) -> Talk:
        data = json.loads(file.read_text("utf-8"))
        turns = [
            (said["text"], reply["text"])
            for said, reply in pairwise(data["sessions"][0]["messages"])
            if (said["role"], reply["role"]) == ("user", "assistant")
        ]
        return cls(data["language"], turns[:TURNS])


async def table(talks: Sequence[Talk]) -> Table:
    """Tokens of remembering beside those of the reply, by language, and model calls per turn.

    Of each language the last talk is used.
    """
    rows: list[Row] = []
    for talk in {talk.language: talk for talk in talks}.values():
        few = 0.0
        for known in KNOWN:
            replying, remembering, _ = await _run(talk, known, every=1)
            what = f"tokens to remember a turn, {known} known facts, {talk.language}"
            against, its, bound = (f"{KNOWN[0]} facts", few, 1.1) if few else ("the reply", replying, 1.5)
            few = few or remembering
            ratio = remembering / its
            rows.append(
                Row(what, f"{remembering:,.0f}", against, f"{its:,.0f}", ratio, at_most(ratio, bound))
            )
    for every, bound in ((1, 2.0), (4, 1.25)):
        _, _, calls = await _run(talks[-1], KNOWN[0], every=every)
        what = f"model calls per turn, every: {every}"
        rows.append(Row(what, f"{calls:g}", "replies", "1", calls, at_most(calls, bound)))
    return Table("Remembering: tokens and calls", rows)


async def _run(talk: Talk, known: int, *, every: int) -> tuple[float, float, float]:
    """Mean tokens of a reply and of remembering one turn, and calls per turn."""
    turns = talk.turns[: len(talk.turns) // every * every]
    model, trait = CountingModel(dict(turns)), _TRAIT[talk.language]
    prompt = trait * (PERSONA_TOKENS // count_tokens(trait))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = settings_for(f"sqlite:///{folder / 'data' / 'gieok.db'}", folder / "config" / "root.key")
        async with await Gieok.open(settings, model=model) as gieok:
            user = gieok.user("bench")
            persona = PersonaDraft(name="하나", language=talk.language, system_prompt=prompt)
            await user.personas.create(persona, persona_id="hana")
            for number in range(known):
                value = f"{number}: {turns[number % len(turns)][0]}"
                await user.canon.set_fact("hana", "OTHER", f"note {number}", value)
            session: str | None = None
            for said, _ in turns:
                turn = await user.chat.send(
                    "hana", said, session_ref=session, plan=_plan(every), wait_memory=True
                )
                session = turn.session_ref
    calls = (len(model.replying) + len(model.remembering)) / len(turns)
    return sum(model.replying) / len(turns), sum(model.remembering) / len(turns), calls


def _plan(every: int) -> str | ExecutionPlan:
    """The chat plan that remembers so many turns with one call."""
    if every == 1:
        return "chat_turn"
    document: dict[str, Any] = json.loads(read_plan("chat_turn"))
    next(step for step in document["steps"] if step["id"] == "remember")["metadata"]["every"] = every
    return make_plan(document)
