"""How an extractor does on `sentences.toml`, judged by meaning: found rightly, found wrongly, missed."""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from gieok.memory.canon.extractor import FactExtractor
from gieok.memory.canon.records import Category, ExtractedFact

_TABLE = Path(__file__).with_name("sentences.toml")
_SPLIT_SEED = 20251116

Half = Literal["tuning", "held out"]


@dataclass(frozen=True, slots=True)
class Expected:
    """A fact that a sentence states; `sentences.toml` says how it is written."""

    categories: tuple[Category, ...]
    words: tuple[tuple[str, ...], ...]
    never: tuple[str, ...]
    retracts: bool | None
    """None where either will do."""
    required: bool

    def is_met_by(self, fact: ExtractedFact) -> bool:
        said = f"{fact.key} {fact.value}".casefold()
        return (
            fact.category in self.categories
            and self.retracts in (None, fact.retracts)
            and all(any(word in said for word in one_of) for one_of in self.words)
            and not any(word in said for word in self.never)
        )


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the table. Rules are tuned on one half and measured on both."""

    said: str
    language: str
    kind: str
    facts: tuple[Expected, ...]
    half: Half


@dataclass(frozen=True, slots=True)
class Score:
    """Facts by category. What was missed counts for the category that was expected first."""

    right: Counter[Category] = field(default_factory=Counter[Category])
    wrong: Counter[Category] = field(default_factory=Counter[Category])
    missed: Counter[Category] = field(default_factory=Counter[Category])

    def precision(self, *of: Category) -> float:
        """Of the facts that were found, in these categories or in all, how many are right."""
        return _share(self.right, self.wrong, of)

    def recall(self, *of: Category) -> float:
        """Of the facts that were stated, how many were found."""
        return _share(self.right, self.missed, of)


def sentences() -> list[Sentence]:
    """The whole table, in its order; each language and kind is split into halves by a fixed seed."""
    chance, made = random.Random(_SPLIT_SEED), list[Sentence]()
    for language, kinds in tomllib.loads(_TABLE.read_text("utf-8")).items():
        for kind, table in kinds.items():
            held_out = set(chance.sample(range(len(table)), len(table) // 2))
            made += [
                Sentence(
                    said,
                    language,
                    kind,
                    tuple(map(_expected, facts)),
                    "held out" if number in held_out else "tuning",
                )
                for number, (said, facts) in enumerate(table.items())
            ]
    return made


async def score(extractor: FactExtractor, table: Iterable[Sentence]) -> Score:
    """Each sentence is a turn of its own, of a user of whom nothing is known."""
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
    """The categories of what is right, wrong and missed; an expected fact is met once."""
    missing = [each for each in expected if each.required]
    right, wrong = list[Category](), list[Category]()
    for fact in found:
        met = next((each for each in missing if each.is_met_by(fact)), None)
        if met is not None:
            missing.remove(met)
            right.append(met.categories[0])
        elif not any(each.is_met_by(fact) for each in expected if not each.required):
            wrong.append(fact.category)
    return right, wrong, [each.categories[0] for each in missing]


def _share(part: Counter[Category], rest: Counter[Category], of: Sequence[Category]) -> float:
    """Of nothing, all."""
    chosen = of or tuple(Category)
    count = sum(part[category] for category in chosen)
    whole = count + sum(rest[category] for category in chosen)
    return count / whole if whole else 1.0


def _expected(notation: str) -> Expected:
    names, *words = notation.lstrip("-~?").split(" ")
    return Expected(
        categories=tuple(map(Category, names.split("|"))),
        words=tuple(tuple(word.casefold().split("|")) for word in words if not word.startswith("!")),
        never=tuple(word.removeprefix("!").casefold() for word in words if word.startswith("!")),
        retracts=None if notation.startswith("~") else "-" in notation[:2],
        required=not notation.startswith("?"),
    )
