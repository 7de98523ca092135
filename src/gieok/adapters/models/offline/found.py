"""A fact as the rules of either language make it, and the known fact that a sentence speaks of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gieok.memory.canon.records import ExtractedFact, Fact, Provenance
from gieok.memory.observations import Category

MAX_KEY_CHARS = 60
MAX_VALUE_CHARS = 200
AHEAD = ("앞두고 있음", " ahead")
"""How the value of an occasion ends that is still to come, in Korean and in English."""

_IMPORTANCE = {
    Category.RELATIONSHIP: 8,
    Category.GOAL: 7,
    Category.EVENT: 6,
    Category.HABIT: 5,
    Category.OPINION: 4,
    Category.PERSONAL_INFO: 7,
    Category.PREFERENCE: 4,
    Category.OTHER: 3,
}


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule found. `extra` raises or lowers the importance of its category."""

    category: Category
    key: str
    value: str
    retracts: bool = False
    extra: int = 0

    def said_by(self, provenance: Provenance) -> ExtractedFact | None:
        """The fact as a record; None when its key or its value came out empty or too long for one."""
        key, value = " ".join(self.key.split()), " ".join(self.value.split())
        if not 0 < len(key) <= MAX_KEY_CHARS or not 0 < len(value) <= MAX_VALUE_CHARS:
            return None
        return ExtractedFact(
            category=self.category,
            key=key,
            value=value,
            importance=max(1, min(10, _IMPORTANCE[self.category] + self.extra)),
            provenance=provenance,
            retracts=self.retracts,
        )


def named_in(text: str, known: Sequence[Fact], category: Category) -> Fact | None:
    """The newest known fact of this category whose key the text names."""
    said = text.casefold()
    return newest([fact for fact in known if _names(said, fact.key.casefold())], category)


def newest(known: Sequence[Fact], category: Category) -> Fact | None:
    """The fact of this category that was stated last: what "that goal" means."""
    return max(
        (fact for fact in known if fact.category == category), key=lambda fact: fact.valid_from, default=None
    )


def awaited(what: str, known: Sequence[Fact]) -> Fact | None:
    """The known occasion that lies ahead and may be this one.

    면접 may be 입사 면접, and the other way round; 대학 면접 is another.
    """
    ahead = [fact for fact in known if fact.value.endswith(AHEAD) and _may_be_one(fact.key, what)]
    return newest(ahead, Category.EVENT)


def come_to_pass(found: Sequence[Found], known: Sequence[Fact]) -> list[Found]:
    """What happened takes the place of what lay ahead: an event gets the key under which it was awaited."""
    return [
        replace(fact, key=before.key)
        if fact.category == Category.EVENT and (before := awaited(fact.key, known))
        else fact
        for fact in found
    ]


def bond(known: Sequence[Fact]) -> str:
    """The key for a bare "we": the bond that was spoken of last, or the one with the persona."""
    bonds = [fact for fact in known if fact.key in ("partner", "us")]
    last = newest(bonds, Category.RELATIONSHIP)
    return last.key if last else "us"


def _may_be_one(one: str, other: str) -> bool:
    """Whether one is the other, or the other with more words in front. Interviews may be one interview."""
    shorter, longer = sorted((one.casefold().removesuffix("s"), other.casefold().removesuffix("s")), key=len)
    front = longer.removesuffix(shorter)
    return longer.endswith(shorter) and (not front or front.endswith(" ") or not shorter.isascii())


def _names(said: str, key: str) -> bool:
    """Whether the key is said, or the first word of one of several words."""
    first = key.split(" ", maxsplit=1)[0]
    return _is_said(key, said) or (len(first) > 1 and _is_said(first, said))


def _is_said(word: str, said: str) -> bool:
    """책 is in 책을 but not in 책임, and house not in household; a longer Korean word may be part of one."""
    if len(word) > 1 and not word.isascii():
        return word in said
    return re.search(rf"(?<!\w){re.escape(word)}(?=\W|$|[이가을를은는도에의]\b)", said) is not None
