"""Korean in Latin letters: the spellings of a word in the other script.

A word is a sequence of vowels and of the consonants before, between and after them. Between two vowels stand
the final of one syllable and the initial of the next, whose sounds may change when they meet: 한라 is halla.
Each has its spelling in the Revised Romanization and other common spellings, most likely first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from heapq import nsmallest
from itertools import pairwise, starmap
from typing import NamedTuple

from gieok.text import hangul
from gieok.text.english.stemming import stem, without_clitic

MAX_SPELLINGS = 16
"""The most spellings that are given for a word."""

_HANGUL = re.compile(r"[\uac00-\ud7a3]{2,5}")
# Skips words with letters that no spelling has, or with an end that no syllable has.
_LATIN = re.compile(r"(?=.{2,16}$)(?:ch|[abdeghijklmnoprstuwy])+(?<=[aeiouhrklmnptg])")
_BEAM = 2 * MAX_SPELLINGS
_HIATUS_COST = 2
_LONGEST = 4  # letters for one vowel, or for the consonants between two

# Spellings of each jamo, in the order of `hangul.INITIALS`, `VOWELS` and `FINALS`. A bar separates jamo, a
# space the spellings of one. Spellings after a slash are recognised, but not generated.
_INITIALS = "g k|kk|n|d t|tt|r l|m|b p|pp|s sh|ss||j|jj|ch|k|t|p|h"
_VOWELS = (
    "a/ah ar|ae e/ai|ya|yae|eo u o|e|yeo yu you yo|ye/e|o/oh|wa|wae|oe oi|yo"
    "|u oo woo/wu|wo|we|wi|yu yoo/you|eu u|ui ee/eui|i ee/yi"
)
_FINALS = "|k|k|k|n|n|n|t|l|k|m|l|l|l|p|l|m|p|p|t|t|ng|t|t|k|t|p|"
# Before a vowel, a final sounds like an initial: 국어 is gugeo, 설악 is seorak.
_LINKED = "|g k|kk k|ks|n|nj|n|d|r l|lg|lm|lb|ls|lt|lp|r|m|b p|ps|s|ss|ng|j|ch|k|t|p|"
# A final and an initial that change each other's sound.
_ASSIMILATED = {
    "ngn": ("ㄱㄴ", "ㄱㄹ", "ㅇㄹ"),
    "ngm": ("ㄱㅁ",),
    "ll": ("ㄴㄹ", "ㄹㄹ", "ㄹㄴ"),
    "mn": ("ㅂㄴ", "ㅂㄹ", "ㅁㄹ"),
    "mm": ("ㅂㅁ",),
}
_SILENT = hangul.INITIALS.index("ㅇ")
# Latin letters are read as these finals only: the others are rare, and sound the same.
_USUAL_FINALS = [hangul.FINALS.index(jamo) for jamo in " ㄱㄲㄴㄹㅁㅂㅅㅇ"]

_SURNAMES = frozenset(
    "김이박최정강조윤장임한오서신권황안송류유홍전고문양손배백허남심노하곽성차주우구민나진지엄채원천방공현"
)
_FULL_NAME = 3


class _Spelling(NamedTuple):
    """A spelling in Latin letters. The more likely, the lower the cost."""

    cost: int
    text: str


class _Reading(NamedTuple):
    """Jamo that letters may stand for, as indexes into the tables of `hangul`."""

    cost: int
    jamo: tuple[int, ...]


_Readings = dict[str, list[_Reading]]


def romanizations(word: str) -> tuple[str, ...]:
    """Spellings in Latin letters of a Korean word of two to five syllables: 지훈 is jihun, jihoon, …

    The most likely come first. Any other text has none.
    """
    if not _HANGUL.fullmatch(word):
        return ()
    syllables = [hangul.split_syllable(syllable) for syllable in word]
    choices = [_generated(_INITIALS)[syllables[0][0]]]
    for (_, vowel, final), (initial, _, _) in pairwise(syllables):
        choices += [_generated(_VOWELS)[vowel], _between_vowels(final, initial)]
    choices += [_generated(_VOWELS)[syllables[-1][1]], _generated(_FINALS)[syllables[-1][2]]]
    spellings = [_Spelling(0, "")]
    for choice in choices:
        longer = (
            _Spelling(cost + more, text + letters)
            for cost, text in spellings
            for more, letters in enumerate(choice)
        )
        spellings = nsmallest(_BEAM, longer)
    return tuple(dict.fromkeys(text for _, text in spellings))[:MAX_SPELLINGS]


def hangul_spellings(word: str) -> tuple[str, ...]:
    """Korean words of two or more syllables that Latin letters may stand for: kimchi is 킴치, 김치, …

    The most likely come first. A word that cannot be read as Korean syllables, or is not in lower case, has
    none.
    """
    return tuple(spelling for spelling in _hangul_of(word) if len(spelling) > 1)


@lru_cache(maxsize=4096)
def other_script_terms(word: str) -> tuple[str, ...]:
    """The terms that a normalised word may have in the other script, most likely first.

    A Korean name of three syllables may be written without its surname: 김지훈 is also jihoon.
    """
    if _HANGUL.fullmatch(word):
        given = romanizations(word[1:]) if len(word) == _FULL_NAME and word[0] in _SURNAMES else ()
        return tuple(dict.fromkeys(map(stem, (*romanizations(word), *given))))
    return hangul_spellings(without_clitic(word).replace("-", ""))


def hangul_names(first: str, second: str) -> list[str]:
    """Korean names that two words in Latin letters may form: Kim Jihoon, Jihoon Kim, Ji Hoon."""
    one, two = (_hangul_of(without_clitic(word).replace("-", "")) for word in (first, second))
    names = (
        *(surname + given for surname in one if surname in _SURNAMES for given in two if len(given) > 1),
        *(surname + given for surname in two if surname in _SURNAMES for given in one if len(given) > 1),
        *(ji + hoon for ji in one if len(ji) == 1 for hoon in two if len(hoon) == 1),
    )
    return list(dict.fromkeys(names))[:MAX_SPELLINGS]


@lru_cache(maxsize=4096)
def _hangul_of(word: str) -> tuple[str, ...]:
    if not _LATIN.fullmatch(word):
        return ()
    rests = _readings_from(word)
    readings = (
        _Reading(cost + more, (*initial, *rest))
        for at, cost, initial in _read_at(word, 0, _first_initials())
        for more, rest in rests[at]
    )
    spellings = (_join(jamo) for _, jamo in nsmallest(_BEAM, readings))
    return tuple(dict.fromkeys(spellings))[:MAX_SPELLINGS]


def _readings_from(word: str) -> list[list[_Reading]]:
    """For each position, the readings of the letters from there to the end that begin with a vowel."""
    rests: list[list[_Reading]] = [[] for _ in range(len(word) + 1)]
    for start in range(len(word) - 1, -1, -1):
        readings: list[_Reading] = []
        for at, cost, vowel in _read_at(word, start, _vowels()):
            readings += [_Reading(cost, (*vowel, final)) for final in _last_finals().get(word[at:], ())]
            for after, more, consonants in _read_at(word, at, _consonants()):
                readings += [
                    _Reading(cost + more + rest.cost, (*vowel, *consonants, *rest.jamo))
                    for rest in rests[after]
                ]
        rests[start] = nsmallest(_BEAM, readings)
    return rests


def _read_at(word: str, start: int, readings: _Readings) -> Iterable[tuple[int, int, tuple[int, ...]]]:
    """The readings of the letters at a position: where each ends, its cost, and its jamo."""
    for end in range(start, min(start + _LONGEST, len(word)) + 1):
        yield from ((end, cost, jamo) for cost, jamo in readings.get(word[start:end], ()))


@cache
def _generated(table: str) -> list[tuple[str, ...]]:
    return [tuple(spellings.split("/")[0].split(" ")) for spellings in table.split("|")]


@cache
def _recognised(table: str) -> list[tuple[str, ...]]:
    return [tuple(spellings.replace("/", " ").split(" ")) for spellings in table.split("|")]


@cache
def _between_vowels(final: int, initial: int) -> tuple[str, ...]:
    """Spellings of a final and the initial after it, the assimilated one first."""
    if initial == _SILENT:
        return _generated(_LINKED)[final]
    both = hangul.FINALS[final] + hangul.INITIALS[initial]
    assimilated = [spelling for spelling, pairs in _ASSIMILATED.items() if both in pairs]
    plain = [one + two for one in _generated(_FINALS)[final] for two in _generated(_INITIALS)[initial]]
    return tuple(assimilated + plain)


def _inverted(spelled: Iterable[tuple[tuple[int, ...], Sequence[str]]]) -> _Readings:
    readings: _Readings = {}
    for jamo, spellings in spelled:
        for cost, letters in enumerate(spellings):
            readings.setdefault(letters, []).append(_Reading(cost, jamo))
    return readings


@cache
def _first_initials() -> _Readings:
    """Readings of a word's first consonant. A silent one may be written as l or r: 이 is Lee, 유 is Ryu."""
    readings = _inverted(((initial,), spellings) for initial, spellings in enumerate(_recognised(_INITIALS)))
    for letter in "lr":
        readings[letter].append(_Reading(len(readings[letter]), (_SILENT,)))
    return readings


@cache
def _vowels() -> _Readings:
    return _inverted(((vowel,), spellings) for vowel, spellings in enumerate(_recognised(_VOWELS)))


@cache
def _consonants() -> _Readings:
    """Readings of the letters between two vowels.

    No letter at all has a cost: most pairs of vowel letters are one vowel.
    """
    initials = range(len(hangul.INITIALS))
    pairs = _inverted(
        ((final, one), _between_vowels(final, one)) for final in _USUAL_FINALS for one in initials
    )
    return pairs | {"": [_Reading(_HIATUS_COST, (0, _SILENT))]}


@cache
def _last_finals() -> dict[str, list[int]]:
    finals: dict[str, list[int]] = {}
    for final in _USUAL_FINALS:
        finals.setdefault(_generated(_FINALS)[final][0], []).append(final)
    return finals


def _join(jamo: Sequence[int]) -> str:
    return "".join(starmap(hangul.join_syllable, zip(jamo[::3], jamo[1::3], jamo[2::3], strict=True)))
