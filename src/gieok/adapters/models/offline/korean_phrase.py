"""The nouns of a Korean clause, each with the part that its particle gives it."""

from __future__ import annotations

from dataclasses import dataclass

from gieok.adapters.models.offline.analysis import Sentence
from gieok.adapters.models.offline.korean_words import OTHER_PERSONS, PEOPLE, TIMES
from gieok.text import Morpheme

_NOUNS = frozenset({"NNG", "NNP", "SL", "SH", "SN", "NR", "XSN", "XPN", "NNBC", "XR"})
_CASES = {"JKS": "subject", "JKV": "subject", "JKO": "object", "JKC": "complement", "JKG": "of"}
_TOWARD = {
    "에": "to", "에다": "to", "으로": "to", "로": "to", "한테": "to", "에게": "to", "에서": "at", "서": "at",
    "랑": "with", "이랑": "with", "와": "with", "과": "with", "하고": "with",
}  # fmt: skip
_TOPIC = frozenset({"은", "는", "도", "ㄴ", "만", "이나", "나"})
# 친구들, 세 잔씩: these are no part of the noun.
_LOOSE = frozenset({"들", "쯤", "째", "씩"})


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun, or nouns that belong together, and its part in the clause; "" is without a particle."""

    text: str
    role: str
    is_person: bool


def phrases_of(part: Sentence, end: int) -> list[Phrase]:
    """The phrases before the morpheme numbered `end`; times, the first person and mere counts are none."""
    found = part.morphemes
    made: list[Phrase] = []
    index = ended = 0
    while index < end:
        stop = _run(found, index, end)
        if stop == index:
            index += 1
            continue
        phrase = _phrase(part, index, stop)
        if not _is_empty(phrase, found[index:stop]) and not _is_deed(found, stop, made):
            if made and index == ended and _join(made[-1], phrase):
                phrase = Phrase(f"{made.pop().text} {phrase.text}", phrase.role, phrase.is_person)
            made.append(phrase)
            ended = stop
        index = stop
    return made


def _phrase(part: Sentence, start: int, stop: int) -> Phrase:
    found = part.morphemes
    text = part.text[found[start].start : found[stop - 1].end]
    role = _role(found, stop)
    person = _is_person(found, start, stop, role)
    return Phrase(_name(found, start, stop, text) if person else text, role, person)


def _is_empty(phrase: Phrase, parts: tuple[Morpheme, ...]) -> bool:
    pronoun = parts[0].tag == "NP" and not phrase.is_person
    return pronoun or phrase.text in TIMES or all(m.tag in ("NNBC", "NR") for m in parts)


def _is_deed(found: tuple[Morpheme, ...], stop: int, made: list[Phrase]) -> bool:
    """마라톤 완주하는 것: the noun of the verb is no thing of its own, when the thing stands before it."""
    return stop < len(found) and found[stop].tag == "XSV" and bool(made) and made[-1].role in ("", "object")


def _join(before: Phrase, phrase: Phrase) -> bool:
    """운전면허 시험, 토익 900점: nouns without a particle between belong together."""
    return before.role == "" and not before.is_person and not phrase.is_person


def _run(found: tuple[Morpheme, ...], start: int, end: int) -> int:
    """The end of a noun that is written together; 달리기 is one too, and a pronoun is one by itself."""
    if found[start].tag == "NP":
        return start + 1
    if start + 1 < end and found[start].tag == "VV" and found[start + 1][:2] == ("기", "ETN"):
        following = found[start + 2].form if start + 2 < len(found) else ""
        return start if following in ("로", "시작") else start + 2
    stop = start
    while stop < end and found[stop].tag in _NOUNS and found[stop].form not in _LOOSE:
        if stop > start and found[stop].start > found[stop - 1].end:
            break
        stop += 1
    return stop


def _role(found: tuple[Morpheme, ...], stop: int) -> str:
    while stop < len(found) and found[stop].form in _LOOSE:
        stop += 1
    if stop >= len(found) or found[stop].start > found[stop - 1].end:
        return ""
    tag, form = found[stop].tag, found[stop].form
    if tag == "JC":
        return "with"
    if tag == "JKB":
        return _TOWARD.get(form, "other")
    if tag == "JX":
        return "topic" if form in _TOPIC else "other"
    return _CASES.get(tag, "")


def _is_person(found: tuple[Morpheme, ...], start: int, stop: int, role: str) -> bool:
    first, last = found[start], found[stop - 1]
    text = "".join(m.form for m in found[start:stop])
    if first.tag == "NP":
        return text in OTHER_PERSONS
    affection = stop - start > 1 and last.form in ("이", "씨", "님")
    acts = role in ("subject", "topic", "with")
    return text in PEOPLE or (first.tag == "NNP" and (affection or (acts and 1 < len(text) <= 4)))


def _name(found: tuple[Morpheme, ...], start: int, stop: int, text: str) -> str:
    """지훈이 is 지훈 with the ending of affection."""
    fond = stop - start > 1 and found[stop - 1].form == "이" and found[stop - 1].tag in ("XSN", "NNG")
    return text.removesuffix("이") if fond else text
