"""Choose what answers a question about the past: words that were said, among those in the prompt.

A question and a statement rarely use the same words, so both are compared by their terms and by concepts
(`concepts.toml`), and a statement must have what the question asks for: a number, a day, the person.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Literal

from gieok.adapters.models.offline.reading import Spoken, listed
from gieok.text import language, normalize, sentences, terms

Kind = Literal["user_said", "self_said", "other_said", "noted", "known"]
"""Whose words they are; the names are those of the phrases that quote them."""
Certainty = Literal["sure", "unsure"]

_MAX_QUOTE_CHARS = 120
_QUOTES: dict[Certainty, int] = {"sure": 2, "unsure": 3}
# A further quote must have at least this share of the score of the first.
_SECOND = 0.4
_SURE, _UNSURE = 2.0, 0.7
# The share of the question that an answer must have.
_COVERED = 0.6
_PEOPLE = listed("#father #mother #brother #sister #sibling #spouse #child")
_STOP = listed("""
    뭐 뭘 무엇 언제 어디 누구 왜 기억 기억나 말하 알 알리 이야기 얘기 날짜 날 며칠 거 것 지금 요즘 이제 결국
    사람 정도 우리 내 저 나 너 분 원래 다시 그중 모두 순서 전 번 때 일 좀 설명
    what when where who which how why did do does am is are was were name tell say said remember day date much
    many long time now current sum please again u n w
""")
_SOUGHT = re.compile(r"뭐|뭘|무엇|언제|어디|누구|누가|왜|어떻|몇|며칠|얼마|무슨|어느|어떤")
# What a question asks for, and what a statement must have to answer it.
_ANSWERS = (
    (
        re.compile(
            r"몇 ?(?:점|명|기|개|번|살|마리|층|킬로|장|권)|얼마|\bhow (?:many|much|long|old)\b"
            r"|\bwhat (?:\w+ )?(?:amount|number|score|distance)|\bversion",
            re.IGNORECASE,
        ),
        re.compile(
            r"\d|하나|둘|셋|넷|다섯|여섯|일곱|여덟|아홉|열|스물|서른|마흔|(?:세|두|한) "
            r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy|hundred)",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(
            r"언제|며칠|날짜|몇 ?월|몇 ?시|요일|몇 년|기간|\bwhen\b"
            r"|\b(?:what|which) (?:date|day|time|hour|month|year)",
            re.IGNORECASE,
        ),
        re.compile(
            r"\d+ ?[월일년]|[월화수목금토일][요욜]|내일|모레|어제|오늘|아까|다음 ?[주달]|담주|지난|주말|아침"
            r"|저녁|밤|부터"
            r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*\b"
            r"|tomorrow|yesterday|today|tonight|\b(?:last|next|since)\b|\d+(?:st|nd|rd|th)|\bago\b"
            r"|week|month|year|night|morning",
            re.IGNORECASE,
        ),
    ),
)
_FOCUS = {
    "en": re.compile(
        r"\b(?:what|which)(?:'s| is| was| are| were| does| did| do)?(?: the| my| our| your| his| her)? "
        r"([a-z-]+)(?: ([a-z-]+))?"
    ),
    "ko": re.compile(
        r"([가-힣]+?)(?:이|가|은|는|을|를)? ?(?:뭐|무엇|언제|얼마|몇|어디)|(?:무슨|어떤|어느) ([가-힣]+)"
    ),
}
# How much the newest counts more than the oldest, and where the question asks for what holds now.
_RECENCY, _RECENCY_NOW = 0.2, 0.7
_NOW = re.compile(
    r"지금|이제|요즘|결국|최종|현재|아직|\b(?:now|these days|current\w*|at present|still|any ?more)\b",
    re.IGNORECASE,
)
_ABOUT_THE_REPLIES = re.compile(r"약속|네가|너가|니가|\b(?:you|promise\w*)\b", re.IGNORECASE)
_PLAYED = re.compile(r"^\s*[*🎶♪]|\*\s*$")
_NAME = re.compile(r"(?<=\s)[A-Z][a-z]+")
_LAUGHTER = re.compile(r"[\sㅋㅎㅠㅜ~.!…]+$")


@dataclass(frozen=True, slots=True)
class Source:
    """Words in the prompt. `topic` is text that only helps to find them, such as the key of a fact."""

    text: str
    kind: Kind
    day: date | None = None
    speaker: str = ""
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """A verbatim part of a source."""

    text: str
    source: Source


@dataclass(frozen=True, slots=True)
class _Candidate:
    score: float
    is_complete: bool
    """Whether it has most of what the question names, and what it asks for."""
    source: Source


def answer(question: str, sources: Sequence[Source]) -> tuple[Certainty, list[Quote]] | None:
    """The quotes that answer the question, best first; None if nothing in the prompt is about it."""
    asked = features(question)
    if not asked or not sources:
        return None
    ranked = sorted(
        _candidates(question, asked, sources), key=lambda each: -each.score * (2 if each.is_complete else 1)
    )
    best = ranked[0]
    if best.score < _UNSURE and not best.is_complete:
        return None
    certainty: Certainty = "sure" if best.score >= _SURE or best.is_complete else "unsure"
    chosen = [each.source for each in ranked[: _QUOTES[certainty]] if each.score >= _SECOND * best.score]
    return certainty, [
        Quote(quotable(source.text, asked, whole=source.kind != "noted"), source) for source in chosen
    ]


def features(text: str) -> frozenset[str]:
    """The concepts (`#home`) of a text, and the terms that belong to none."""
    normal = normalize(text)
    rest, found = normal, set[str]()
    for name, pattern in _concepts(language(normal)):
        rest, count = pattern.subn(" ", rest)
        found |= {f"#{name}"} if count else set()
    return frozenset(found | {_stem(t) for t in terms(rest) if t not in _STOP and not _SOUGHT.search(t)})


def _stem(term: str) -> str:
    """하율이 and 하율 are one name."""
    return term.removesuffix("이") if len(term) > 2 else term


def quotable(text: str, asked: frozenset[str], *, whole: bool = True) -> str:
    """The part of `text` to quote: all of a short one if `whole`, else the sentence that fits best."""
    said = text.strip()
    if not whole or len(said) > _MAX_QUOTE_CHARS or "\n" in said:
        said = max(sentences(text) or [said], key=lambda part: len(asked & features(part)))
    bare = _LAUGHTER.sub("", said) or said
    if len(bare) <= _MAX_QUOTE_CHARS:
        return bare
    return bare[: _MAX_QUOTE_CHARS + 1].rsplit(" ", 1)[0][:_MAX_QUOTE_CHARS]


def _candidates(question: str, asked: frozenset[str], sources: Sequence[Source]) -> list[_Candidate]:
    found = [features(each.text) | features(each.topic.replace(":", " ")) for each in sources]
    frequency = Counter(feature for each in found for feature in each)

    def weight(feature: str) -> float:
        rarity = math.log(1 + (len(sources) + 1) / (frequency[feature] + 0.5))
        return rarity * (0.8 if feature.startswith("#") else 1.0)

    total = sum(map(weight, asked))
    focus = _focus(question)
    people = (asked & _PEOPLE) | (asked & {name.lower() for name in _NAME.findall(question)})
    wanted = [has for asks, has in _ANSWERS if asks.search(question)]
    days = [source.day for source in sources if source.day]
    ranked: list[_Candidate] = []
    for source, has in zip(sources, found, strict=True):
        covered = sum(weight(feature) for feature in asked & has)
        answers = all(pattern.search(source.text) for pattern in wanted)
        missing = len(people - has)
        score = covered * 0.6**missing * _prior(question, source, days)
        if wanted:
            score *= 1.25 if answers else 0.65
        if focus:
            score *= 1.15 if focus & has else 0.85
        if source.kind == "known":
            is_covered = _is_asked_for(source, asked, has)
        else:
            is_covered = covered >= _COVERED * total and bool(not focus or focus & has)
        ranked.append(_Candidate(score, is_covered and answers and not missing, source))
    return ranked


def _prior(question: str, source: Source, days: Sequence[date]) -> float:
    """How likely the source is before its words are compared: new, short, and a statement of the user."""
    score = 1 / (1 + 0.25 * math.log(1 + len(source.text) / 60))
    if source.kind == "self_said" and not _ABOUT_THE_REPLIES.search(question):
        score *= 0.6
    if source.text.rstrip().endswith("?") or _PLAYED.search(source.text):
        score *= 0.5
    if source.day and max(days) > min(days):
        recency = _RECENCY_NOW if _NOW.search(question) else _RECENCY
        score *= 1 + recency * ((source.day - min(days)) / (max(days) - min(days)))
    return score


def _is_asked_for(fact: Source, asked: frozenset[str], has: frozenset[str]) -> bool:
    """Whether the question names the slot or the thing of a fact, and no other thing."""
    thing = features(fact.topic.rpartition(":")[2])
    others = {feature for feature in asked - has if not feature.startswith("#")}
    return bool(thing) and thing <= asked and not others


def _focus(question: str) -> frozenset[str]:
    """The features of the noun that the question is after: 보증금이 얼마야, which airline."""
    normal = normalize(question)
    groups = (group for match in _FOCUS[language(normal)].finditer(normal) for group in match.groups())
    return frozenset(feature for group in groups if group for feature in features(group))


@cache
def _concepts(spoken: Spoken) -> tuple[tuple[str, re.Pattern[str]], ...]:
    table = tomllib.loads(files(__package__).joinpath("concepts.toml").read_text("utf-8"))
    start = r"\b" if spoken == "en" else ""
    return tuple((name, re.compile(f"{start}(?:{words[spoken]})")) for name, words in table.items())
