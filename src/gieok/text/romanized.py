"""Korean in Latin letters: how a word of one script may be written in the other.

A word is its vowels with what stands before, between and after them. Between two vowels stand a final and an
initial, whose sounds may change where they meet: 한라 is halla. Each has its spelling by the Revised
Romanization and those that people use besides it, the likeliest first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from heapq import nsmallest
from itertools import pairwise, starmap
from typing import NamedTuple

from gieok.text import hangul
from gieok.text.english import stem, without_clitic

SPELLINGS = 16
"""A word is given in at most so many spellings."""

_HANGUL = re.compile(r"[\uac00-\ud7a3]{2,5}")
# Letters that no spelling has, and ends that no syllable has, need no reading.
_LATIN = re.compile(r"(?=.{2,16}$)(?:ch|[abdeghijklmnoprstuwy])+(?<=[aeiouhrklmnptg])")
_KEPT = 2 * SPELLINGS
_HIATUS = 2
_LONGEST = 4  # letters that stand for one vowel, or for what is between two

# In the order of Unicode, in which a syllable is a number. A bar parts the jamo, a space the spellings of
# one; those behind a slash are read, but not written.
_INITIALS = "g k|kk|n|d t|tt|r l|m|b p|pp|s sh|ss||j|jj|ch|k|t|p|h"
_VOWELS = (
    "a/ah ar|ae e/ai|ya|yae|eo u o|e|yeo yu you yo|ye/e|o/oh|wa|wae|oe oi|yo"
    "|u oo woo/wu|wo|we|wi|yu yoo/you|eu u|ui ee/eui|i ee/yi"
)
_FINALS = "|k|k|k|n|n|n|t|l|k|m|l|l|l|p|l|m|p|p|t|t|ng|t|t|k|t|p|"
# Before a vowel a final sounds as an initial does: 국어 is gugeo, 설악 is seorak.
_LINKED = "|g k|kk k|ks|n|nj|n|d|r l|lg|lm|lb|ls|lt|lp|r|m|b p|ps|s|ss|ng|j|ch|k|t|p|"
# Finals and initials that change each other's sound.
_MEETINGS = {
    "ngn": ("ㄱㄴ", "ㄱㄹ", "ㅇㄹ"),
    "ngm": ("ㄱㅁ",),
    "ll": ("ㄴㄹ", "ㄹㄹ", "ㄹㄴ"),
    "mn": ("ㅂㄴ", "ㅂㄹ", "ㅁㄹ"),
    "mm": ("ㅂㅁ",),
}
_SILENT = hangul.INITIALS.index("ㅇ")
# Latin letters are read as these finals only: the others are rare, and sound like them.
_USUAL_FINALS = [hangul.FINALS.index(jamo) for jamo in " ㄱㄲㄴㄹㅁㅂㅅㅇ"]

_SURNAMES = frozenset(
    "김이박최정강조윤장임한오서신권황안송류유홍전고문양손배백허남심노하곽성차주우구민나진지엄채원천방공현"
)
_FULL_NAME = 3


class _Written(NamedTuple):
    """One spelling. The likelier it is, the less it costs."""

    cost: int
    text: str


class _Heard(NamedTuple):
    """Jamo that letters may stand for, as their numbers."""

    cost: int
    jamo: tuple[int, ...]


_Sounds = dict[str, list[_Heard]]


def in_latin(word: str) -> tuple[str, ...]:
    """The ways to write a Korean word of two to five syllables in Latin letters: 지훈 is jihun, jihoon, …

    The likeliest come first. What is no such word has none.
    """
    if not _HANGUL.fullmatch(word):
        return ()
    syllables = [hangul.split_syllable(syllable) for syllable in word]
    choices = [_written(_INITIALS)[syllables[0][0]]]
    for (_, vowel, final), (initial, _, _) in pairwise(syllables):
        choices += [_written(_VOWELS)[vowel], _meeting(final, initial)]
    choices += [_written(_VOWELS)[syllables[-1][1]], _written(_FINALS)[syllables[-1][2]]]
    found = [_Written(0, "")]
    for choice in choices:
        longer = (
            _Written(cost + more, text + letters)
            for cost, text in found
            for more, letters in enumerate(choice)
        )
        found = nsmallest(_KEPT, longer)
    return tuple(dict.fromkeys(text for _, text in found))[:SPELLINGS]


def in_hangul(word: str) -> tuple[str, ...]:
    """The Korean words of two syllables or more that Latin letters may stand for: kimchi is 킴치, 김치, …

    The likeliest come first. A word that cannot be read as Korean syllables has none; neither has one that is
    not in small letters.
    """
    return tuple(spelled for spelled in _heard(word) if len(spelled) > 1)


@lru_cache(maxsize=4096)
def spelled_otherwise(word: str) -> tuple[str, ...]:
    """The terms that a normalised word may have in the other script, the likeliest first.

    A Korean name of three syllables may stand without its surname: 김지훈 is also jihoon.
    """
    if _HANGUL.fullmatch(word):
        given = in_latin(word[1:]) if len(word) == _FULL_NAME and word[0] in _SURNAMES else ()
        return tuple(dict.fromkeys(map(stem, (*in_latin(word), *given))))
    return in_hangul(without_clitic(word).replace("-", ""))


def names_in_hangul(one: str, two: str) -> list[str]:
    """The Korean name that two words in Latin letters may be together: Kim Jihoon, Jihoon Kim, Ji Hoon."""
    first, second = (_heard(without_clitic(word).replace("-", "")) for word in (one, two))
    names = (
        *(last + given for last in first if last in _SURNAMES for given in second if len(given) > 1),
        *(last + given for last in second if last in _SURNAMES for given in first if len(given) > 1),
        *(ji + hoon for ji in first if len(ji) == 1 for hoon in second if len(hoon) == 1),
    )
    return list(dict.fromkeys(names))[:SPELLINGS]


@lru_cache(maxsize=4096)
def _heard(word: str) -> tuple[str, ...]:
    if not _LATIN.fullmatch(word):
        return ()
    tails = _tails(word)
    found = (
        _Heard(cost + more, (*initial, *rest))
        for at, cost, initial in _heard_at(word, 0, _beginnings())
        for more, rest in tails[at]
    )
    spelled = (_joined(jamo) for _, jamo in nsmallest(_KEPT, found))
    return tuple(dict.fromkeys(spelled))[:SPELLINGS]


def _tails(word: str) -> list[list[_Heard]]:
    """What the letters from each place on may stand for, where a vowel stands there."""
    tails: list[list[_Heard]] = [[] for _ in range(len(word) + 1)]
    for start in range(len(word) - 1, -1, -1):
        found: list[_Heard] = []
        for at, cost, vowel in _heard_at(word, start, _vowels()):
            found += [_Heard(cost, (*vowel, final)) for final in _endings().get(word[at:], ())]
            for onward, more, between in _heard_at(word, at, _between()):
                found += [
                    _Heard(cost + more + rest.cost, (*vowel, *between, *rest.jamo)) for rest in tails[onward]
                ]
        tails[start] = nsmallest(_KEPT, found)
    return tails


def _heard_at(word: str, start: int, sounds: _Sounds) -> Iterable[tuple[int, int, tuple[int, ...]]]:
    """What may be heard at a place: where it ends, what it costs, and its jamo."""
    for end in range(start, min(start + _LONGEST, len(word)) + 1):
        yield from ((end, cost, jamo) for cost, jamo in sounds.get(word[start:end], ()))


@cache
def _written(table: str) -> list[tuple[str, ...]]:
    return [tuple(spelled.split("/")[0].split(" ")) for spelled in table.split("|")]


@cache
def _read(table: str) -> list[tuple[str, ...]]:
    return [tuple(spelled.replace("/", " ").split(" ")) for spelled in table.split("|")]


@cache
def _meeting(final: int, initial: int) -> tuple[str, ...]:
    """How a final and the initial after it are written, the change of their sounds first."""
    if initial == _SILENT:
        return _written(_LINKED)[final]
    both = hangul.FINALS[final] + hangul.INITIALS[initial]
    changed = [spelled for spelled, pairs in _MEETINGS.items() if both in pairs]
    plain = [one + two for one in _written(_FINALS)[final] for two in _written(_INITIALS)[initial]]
    return tuple(changed + plain)


def _inverted(spelled: Iterable[tuple[tuple[int, ...], Sequence[str]]]) -> _Sounds:
    sounds: _Sounds = {}
    for jamo, spellings in spelled:
        for cost, letters in enumerate(spellings):
            sounds.setdefault(letters, []).append(_Heard(cost, jamo))
    return sounds


@cache
def _beginnings() -> _Sounds:
    """A silent one may be an l or an r that is no longer said: 이 is Lee, 유 is Ryu."""
    spelled = _inverted(((initial,), spellings) for initial, spellings in enumerate(_read(_INITIALS)))
    for letter in "lr":
        spelled[letter].append(_Heard(len(spelled[letter]), (_SILENT,)))
    return spelled


@cache
def _vowels() -> _Sounds:
    return _inverted(((vowel,), spelled) for vowel, spelled in enumerate(_read(_VOWELS)))


@cache
def _between() -> _Sounds:
    """Two vowels with nothing between them are seldom, for most letters that look like two are one."""
    initials = range(len(hangul.INITIALS))
    met = _inverted(((final, one), _meeting(final, one)) for final in _USUAL_FINALS for one in initials)
    return met | {"": [_Heard(_HIATUS, (0, _SILENT))]}


@cache
def _endings() -> dict[str, list[int]]:
    sounds: dict[str, list[int]] = {}
    for final in _USUAL_FINALS:
        sounds.setdefault(_written(_FINALS)[final][0], []).append(final)
    return sounds


def _joined(jamo: Sequence[int]) -> str:
    return "".join(starmap(hangul.join_syllable, zip(jamo[::3], jamo[1::3], jamo[2::3], strict=True)))
