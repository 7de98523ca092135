"""How well an extractor does on a table of sentences: found rightly, found wrongly, missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gieok.memory.canon.extractor import FactExtractor
from gieok.memory.canon.records import Category, ExtractedFact


class Expected(NamedTuple):
    """A fact of a table; an empty value accepts any."""

    category: str
    key: str
    retracts: bool
    value: str


class Score(NamedTuple):
    """Facts by category: found rightly, found wrongly, missed."""

    right: Counter[Category]
    wrong: Counter[Category]
    missed: Counter[Category]

    @property
    def precision(self) -> float:
        return self.right.total() / (self.right.total() + self.wrong.total())

    @property
    def recall(self) -> float:
        return self.right.total() / (self.right.total() + self.missed.total())


def expected(notation: str) -> list[Expected]:
    """`CATEGORY key=value; -CATEGORY key` as a list."""
    facts: list[Expected] = []
    for part in filter(None, (part.strip() for part in notation.split(";"))):
        head, _, value = part.removeprefix("-").partition("=")
        category, _, key = head.partition(" ")
        facts.append(Expected(category, key, part.startswith("-"), value))
    return facts


async def score(extractor: FactExtractor, table: Iterable[tuple[str, str]]) -> Score:
    """Each sentence is a turn of its own, of a user of whom nothing is known."""
    total = Score(Counter(), Counter(), Counter())
    for said, notation in table:
        missing = expected(notation)
        for fact in await extractor.extract_facts(said, "", ()):
            match = _match(fact, missing)
            if match:
                missing.remove(match)
            (total.right if match else total.wrong)[fact.category] += 1
        total.missed.update(Category(each.category) for each in missing)
    return total


def _match(fact: ExtractedFact, missing: Sequence[Expected]) -> Expected | None:
    for each in missing:
        same = (each.category, each.key, each.retracts) == (fact.category, fact.key, fact.retracts)
        if same and each.value in ("", fact.value):
            return each
    return None
