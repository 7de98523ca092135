"""Facts that a message states: asserted clauses, matched with the rules of the two languages.

The rules (`korean_facts.toml`, `english_facts.toml`) are few, because a wrong fact costs more than a missed
one. `gieok.text.modality` tells how a clause is meant: only what the user claims counts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from gieok.adapters.models.offline.days import day_in
from gieok.adapters.models.offline.reading import Spoken
from gieok.memory.observations import (
    Category,
    Speaker,
)
from gieok.text import language
from gieok.text.hangul import particle
from gieok.text.modality import Clause, Modality, clauses, opens_role_play

MAX_VALUE_CHARS = 200
_NUMBERS = {
    "열": 10, "스물": 20, "스무": 20, "서른": 30, "마흔": 40, "쉰": 50, "예순": 60,
    "한": 1, "하나": 1, "두": 2, "둘": 2,
    "세": 3, "셋": 3, "네": 4, "넷": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9,
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "one": 1,
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
}  # fmt: skip
_NUMBER = re.compile("|".join(sorted(_NUMBERS, key=len, reverse=True)))


@dataclass(frozen=True, slots=True)
class _Rule:
    category: Category
    key: str
    pattern: re.Pattern[str]
    value: str
    kind: Literal["", "ahead", "held"]
    """`ahead`: only with a day that has not passed. `held`: only of a test, not of a concert."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule found in a clause."""

    category: Category
    key: str
    value: str
    quote: str
    subject: str = "user"
    says: Speaker = "user"
    when: date | None = None
    op: Literal["add", "update", "retire"] = "add"
    id: str | None = None


class _Slot(str):
    """A group of a pattern in a value: `{x:을/를}` adds a particle, `{x:n}` makes a number of it."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        if spec == "n" and not self.isdigit():
            return str(sum(_NUMBERS[part] for part in _NUMBER.findall(self.lower())))
        return f"{self!s}{particle(self, spec)}" if "/" in spec and self else str(self)


def stated(text: str, said_on: date) -> list[Found]:
    """What the user states in a message: of themselves, and the news of people close to them."""
    if opens_role_play(text):
        return []
    found: list[Found] = []
    for clause in clauses(text):
        spoken = language(clause.text)
        kin = _KIN.match(clause.text)
        if _SHOULD.search(clause.text):
            continue
        if kin is not None:
            news = _matches(clause, table(spoken).people, said_on)
            is_claimed = clause.modality <= {Modality.OTHER_PERSON}
            who = kin["who"].lower()
            found += [
                replace(each, subject=f"person:{who}", value=f"{who} {each.value}")
                for each in news
                if is_claimed
            ]
        elif clause.modality == frozenset({Modality.OTHER_PERSON}) and _TO_ME.search(clause.text):
            left = _matches(clause, table(spoken).user, said_on)
            found += [each for each in left if each.key == "partner"]
        elif not clause.modality:
            found += _matches(clause, table(spoken).user, said_on)
        elif clause.modality == frozenset({Modality.NEGATED}):
            found += _matches(clause, table(spoken).negated, said_on)
    return found


def _matches(clause: Clause, rules: Sequence[_Rule], said_on: date) -> Iterator[Found]:
    """The facts of a clause, one per category and key."""
    spoken = language(clause.text)
    plain = _plain(clause.text, spoken)
    when = day_in(clause.text, said_on)
    seen: set[tuple[Category, str]] = set()
    for rule in rules:
        match = rule.pattern.fullmatch(plain)
        if match is None or (rule.kind == "ahead" and not _is_ahead(clause.text, when, said_on)):
            continue
        if rule.kind == "held" and not _TEST.search(match["x"]):
            continue
        slots = {name: _Slot(_reported(group or "", spoken)) for name, group in match.groupdict().items()}
        slots["first"] = _first_word(slots.get("x", ""))
        day = when if rule.category in (Category.EVENT, Category.GOAL, Category.RELATIONSHIP) else None
        text = rule.value.format(**slots, clause=plain)
        value = " ".join(text.replace("_", " ").split()).strip(" ,와과")
        key = " ".join(rule.key.format(**slots).lower().split())
        if key and value and len(value) <= MAX_VALUE_CHARS and (rule.category, key) not in seen:
            seen.add((rule.category, key))
            yield Found(rule.category, key, value, clause.text, when=day)


_TO_ME = re.compile(r"\b(?:dumped|left|broke up (?:with|w)) me\b", re.IGNORECASE)
_SHOULD = re.compile(r"[었았했봤갔왔됐났샀]어야")
_SOON = re.compile(r"(?:다음|이번) ?(?:주|달)|곧|주말")
_TEST = re.compile(r"면접|시험|고사|수능|토익|발표|오디션|수술|검진|검사|내시경")


def _is_ahead(text: str, when: date | None, said_on: date) -> bool:
    return when >= said_on if when else bool(_SOON.search(text))


def _first_word(text: str) -> _Slot:
    """The word by which a goal is named: 마라톤 of 마라톤 완주하는, marathon of run a marathon."""
    words = [word for word in text.split() if word not in _SMALL_WORDS]
    return _Slot(words[-1] if words and words[-1].isascii() else words[0] if words else "")


_SMALL_WORDS = ("a", "an", "the", "my", "their", "to", "for", "안에", "한", "꼭")


# A clause that begins with one of the family is about them, with or without a particle.
_KIN = re.compile(
    r"(?:(?:우리|울|내|제|저희|사촌|our|my|little|older|younger|big) )*"
    r"(?P<who>(?:외|친|큰|작은|시)?(?:엄마|아빠|어머니|아버지|어머님|아버님|할머니|할아버지|삼촌)|부모님?|언니|오빠|누나|형|동생"
    r"|여동생|남동생|아들|딸|남편|아내|와이프|이모|고모|조카|mom|mum|mother|dad|father|sister|brother|son|daughter|wife"
    r"|husband|parents|grandma|grandpa|grandmother|grandfather|aunt|uncle)"
    r"(?![a-z])(?=[이가은는도께의 ]|$)"
    r"(?!(?:이|가|도)? ?(?:하나|한 명|둘|두 명|있|키우)|이?랑|하고|한테| 이름)",
    re.IGNORECASE,
)


_EXPANSIONS = tuple(
    (re.compile(pattern, re.IGNORECASE), full)
    for pattern, full in (
        (r"\bi['’]?m\b", "I am"), (r"\bi['’]?ve\b", "I have"), (r"\bi['’]ll\b", "I will"),
        (r"\bwe['’]re\b", "we are"), (r"\bwe['’]ve\b", "we have"),
        (r"\b(do|did|does|have|is|are|was|ca|wo)n['’]?t\b", r"\1 not"),
        (r"\b(name|birthday|goal|dream|mom|dad|it|dog|cat)['’]s\b", r"\1 is"),
        (r"\bgf\b", "girlfriend"), (r"\bbf\b", "boyfriend"), (r"\bgonna\b", "going to"),
        (r"\bwanna\b", "want to"),
    )
)  # fmt: skip
_LEFT_OUT = re.compile(
    r"^(?=(?:moved|broke|quit|got|passed|failed|adopted|bought|started|graduated|handed|picked|won|lost|signed)\b)",
    re.IGNORECASE,
)


def _plain(text: str, spoken: Spoken) -> str:
    """The clause without fillers, and in English with its contractions expanded and its subject in front."""
    for pattern, full in _EXPANSIONS if spoken == "en" else ():
        text = pattern.sub(full, text)
    if spoken == "en" and (kin := _KIN.match(text)):
        text = re.sub(r"^,? [A-Z][a-z]+\b,?", "", text[kin.end() :])
    plain = " ".join(table(spoken).filler.sub(" ", text).split())
    if plain.lower().startswith("trying to "):
        return f"I am {plain}"
    return _LEFT_OUT.sub("I ", plain) if spoken == "en" else plain


def _reported(group: str, spoken: Spoken) -> str:
    """A group as a value: my becomes their; 지훈이 loses the ending of affection before 랑."""
    bare = group.strip()
    return re.sub(r"\b(?:my|our)\b", "their", bare) if spoken == "en" else bare


_SECTIONS = {"PERSON": Category.RELATIONSHIP, "NEGATED": Category.PREFERENCE}


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The patterns of a conversation. The last four are values with a place for what was said."""

    assent: re.Pattern[str]
    recovered: re.Pattern[str]
    reconciled: re.Pattern[str]
    called_off: re.Pattern[str]
    healed: re.Pattern[str]
    when: re.Pattern[str]
    promise: re.Pattern[str]
    refused: re.Pattern[str]
    reached: re.Pattern[str]
    answers: Sequence[tuple[str, str, str, str]]
    """Slot, question, answer and value."""
    reached_value: str
    made_up: str
    promised: str
    ahead: str


@dataclass(frozen=True, slots=True)
class Table:
    """The rules of one language."""

    filler: re.Pattern[str]
    dialogue: Dialogue
    user: tuple[_Rule, ...]
    people: tuple[_Rule, ...]
    """For clauses about the family."""
    negated: tuple[_Rule, ...]


@cache
def table(spoken: Spoken) -> Table:
    """The rules of a language, read from its file."""
    name = "korean_facts.toml" if spoken == "ko" else "english_facts.toml"
    content = tomllib.loads(files(__package__).joinpath(name).read_text("utf-8"))
    words: dict[str, str] = {}
    for word, pattern in content.pop("words").items():
        words[word] = _expanded(pattern, words)
    talk = content.pop("dialogue")
    values = ("answers", "reached_value", "made_up", "promised", "ahead")
    talk |= {name: re.compile(talk[name], re.IGNORECASE) for name in talk.keys() - values}
    rules = {section: _rules(section, rows["rules"], words) for section, rows in content.items()}
    return Table(
        filler=re.compile(words["FILLER"], re.IGNORECASE),
        dialogue=Dialogue(**talk),
        people=rules.pop("PERSON"),
        negated=rules.pop("NEGATED"),
        user=tuple(rule for section in rules.values() for rule in section),
    )


def _rules(section: str, rows: Sequence[Sequence[Any]], words: Mapping[str, str]) -> tuple[_Rule, ...]:
    category = _SECTIONS.get(section) or Category(section)
    return tuple(
        _Rule(
            category,
            key,
            re.compile(f"{words['LEAD']}(?:{_expanded(pattern, words)})", re.IGNORECASE),
            value,
            kind[0] if kind else "",
        )
        for key, pattern, value, *kind in rows
    )


def _expanded(pattern: str, words: Mapping[str, str]) -> str:
    return re.sub(r"<([A-Z_]+)>", lambda match: words[match[1]], pattern)
