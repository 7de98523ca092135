"""The table of sentences and facts in `sentences.toml`, and the score of an extractor on it."""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, cast

from gieok.memory.observations import (
    Category,
    Conversation,
    Exchange,
    ListedFact,
    Observation,
    Rememberer,
    SpokenMessage,
    VerbatimLimit,
)
from gieok.text import language

_TABLE = Path(__file__).with_name("sentences.toml")
_SPLIT_SEED = 20251116
AT = datetime(2026, 3, 2, 12, tzinfo=UTC)
"""The moment of every message: a Monday."""
VERBATIM = VerbatimLimit(chars=20, share=0.7)

Half = Literal["tuning", "held out"]
Group = Literal["tuning", "held out", "rules", "unseen"]
BLIND: tuple[Half, ...] = ("tuning", "held out")


@dataclass(frozen=True, slots=True)
class Expected:
    """A fact that a sentence states; `sentences.toml` describes the notation."""

    categories: tuple[Category, ...]
    retracts: bool | None
    """None where both are accepted."""
    required: bool = True
    words: tuple[tuple[str, ...], ...] = ()
    never: tuple[str, ...] = ()

    def matches(self, fact: Observation) -> bool:
        text = f"{fact.subject} {fact.key} {fact.value}".casefold()
        return (
            fact.category in self.categories
            and self.retracts in (None, fact.op == "retire")
            and all(any(word in text for word in one_of) for one_of in self.words)
            and not any(word in text for word in self.never)
        )


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the table."""

    said: str
    language: str
    kind: str
    facts: tuple[Expected, ...]
    group: Group


@dataclass(frozen=True, slots=True)
class Score:
    """Facts by category. A missed fact counts for its first category."""

    right: Counter[Category] = field(default_factory=Counter[Category])
    wrong: Counter[Category] = field(default_factory=Counter[Category])
    missed: Counter[Category] = field(default_factory=Counter[Category])

    def precision(self, *of: Category) -> float:
        """The share of the found facts that are right, in these categories or in all."""
        return _share(self.right, self.wrong, of)

    def recall(self, *of: Category) -> float:
        """The share of the stated facts that are found."""
        return _share(self.right, self.missed, of)


def sentences(*groups: Group) -> list[Sentence]:
    """The sentences of these groups, or all of them, in the order of the table."""
    chance, table = random.Random(_SPLIT_SEED), list[Sentence]()
    for section, kinds in tomllib.loads(_TABLE.read_text("utf-8")).items():
        for kind, rows in kinds.items():
            # The blind table is split into halves by a fixed seed.
            is_blind = section in ("ko", "en")
            held_out = set(chance.sample(range(len(rows)), len(rows) // 2)) if is_blind else set[int]()
            table += [
                Sentence(
                    said,
                    section if is_blind else language(said),
                    kind,
                    tuple(map(_expected, facts)),
                    BLIND[number in held_out] if is_blind else cast(Group, section),
                )
                for number, (said, facts) in enumerate(rows.items())
            ]
    return [each for each in table if not groups or each.group in groups]


async def observe(
    model: Rememberer, said: str, *known: ListedFact, asked: str = ""
) -> tuple[Observation, ...]:
    """The observations of one message, after the character's message `asked`."""
    before = (SpokenMessage(role="assistant", text=asked, at=AT),) if asked else ()
    conversation = Conversation(
        language=language(said),
        character="하나",
        timezone="Asia/Seoul",
        before=before,
        exchanges=(Exchange(messages=(SpokenMessage(role="user", text=said, at=AT),)),),
        known=known,
    )
    made = await model.remember(conversation, summary_chars=300, max_keywords=8, verbatim=VERBATIM)
    return made.observations


async def score(model: Rememberer, table: Iterable[Sentence]) -> Score:
    """Observe each sentence, as a turn of a user about whom nothing is known."""
    total = Score()
    for sentence in table:
        found = await observe(model, sentence.said)
        right, wrong, missed = judge(sentence.facts, found)
        total.right.update(right)
        total.wrong.update(wrong)
        total.missed.update(missed)
    return total


def judge(
    expected: Sequence[Expected], found: Sequence[Observation]
) -> tuple[list[Category], list[Category], list[Category]]:
    """The categories of right, wrong and missed facts. An expected fact is matched once."""
    missing = [each for each in expected if each.required]
    right, wrong = list[Category](), list[Category]()
    for fact in found:
        match = next((each for each in missing if each.matches(fact)), None)
        if match is not None:
            missing.remove(match)
            right.append(match.categories[0])
        elif not any(each.matches(fact) for each in expected if not each.required):
            wrong.append(fact.category)
    return right, wrong, [each.categories[0] for each in missing]


def _share(part: Counter[Category], rest: Counter[Category], of: Sequence[Category]) -> float:
    """1.0 where there is nothing to count."""
    categories = of or tuple(Category)
    count = sum(part[category] for category in categories)
    total = count + sum(rest[category] for category in categories)
    return count / total if total else 1.0


def _expected(notation: str) -> Expected:
    if notation.startswith("="):
        head, _, value = notation.removeprefix("=").partition("=")
        category, _, key = head.removeprefix("-").partition(" ")
        thing = {"us": "character"}.get(key, key.rpartition(":")[2].casefold())
        start = value.split(" ")[0].casefold()[:2]
        words = tuple((word,) for word in (thing, start) if word)
        return Expected((Category(category),), head.startswith("-"), words=words)
    names, *words = notation.lstrip("-~?").split(" ")
    return Expected(
        categories=tuple(map(Category, names.split("|"))),
        retracts=None if notation.startswith("~") else "-" in notation[:2],
        required=not notation.startswith("?"),
        words=tuple(tuple(word.casefold().split("|")) for word in words if not word.startswith("!")),
        never=tuple(word.removeprefix("!").casefold() for word in words if word.startswith("!")),
    )
