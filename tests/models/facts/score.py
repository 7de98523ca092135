"""The table of sentences and facts in `sentences.toml`, and the score of an extractor on it."""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, cast

from gieok.adapters.models.offline.facts import facts_in
from gieok.memory.canon.records import ExtractedFact, Fact
from gieok.memory.observations import Category
from gieok.text import language

_TABLE = Path(__file__).with_name("sentences.toml")
_SPLIT_SEED = 20251116

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
    key: str | None = None
    """The exact key; None for a fact that is described by words."""
    value: str | None = None
    """The exact value; None accepts any."""

    def matches(self, fact: ExtractedFact) -> bool:
        text = f"{fact.key} {fact.value}".casefold()
        return (
            fact.category in self.categories
            and self.retracts in (None, fact.retracts)
            and self.key in (None, fact.key)
            and self.value in (None, fact.value)
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


class FactExtractor(Protocol):
    """Finds facts in what the user and the character said."""

    async def extract_facts(
        self, user: str, assistant: str, known: Sequence[Fact], *, before: str = ""
    ) -> tuple[ExtractedFact, ...]: ...


class OfflineRules:
    """The rules of the offline model."""

    async def extract_facts(
        self, user: str, assistant: str, known: Sequence[Fact], *, before: str = ""
    ) -> tuple[ExtractedFact, ...]:
        return facts_in(user, assistant, known, before)


async def score(extractor: FactExtractor, table: Iterable[Sentence]) -> Score:
    """Extract the facts of each sentence, as a turn of a user about whom nothing is known."""
    total = Score()
    for sentence in table:
        found = await extractor.extract_facts(sentence.said, "", ())
        right, wrong, missed = judge(sentence.facts, found)
        total.right.update(right)
        total.wrong.update(wrong)
        total.missed.update(missed)
    return total


def judge(
    expected: Sequence[Expected], found: Sequence[ExtractedFact]
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
        return Expected((Category(category),), head.startswith("-"), key=key, value=value or None)
    names, *words = notation.lstrip("-~?").split(" ")
    return Expected(
        categories=tuple(map(Category, names.split("|"))),
        retracts=None if notation.startswith("~") else "-" in notation[:2],
        required=not notation.startswith("?"),
        words=tuple(tuple(word.casefold().split("|")) for word in words if not word.startswith("!")),
        never=tuple(word.removeprefix("!").casefold() for word in words if word.startswith("!")),
    )
