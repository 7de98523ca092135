"""Spelling variants: typos, words written together or apart, and syllable pairs.

The index stores hashes of terms, so it cannot be searched for similar ones. The variants are generated here,
and the index is asked which of them it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from gieok.text import hangul
from gieok.text.analyzer import terms
from gieok.text.normalization import normalize

_LATIN = re.compile(r"[a-z]{5,16}")
_HANGUL = re.compile(r"[\uac00-\ud7a3]{3,8}")
_SYLLABLES = re.compile(r"[\uac00-\ud7a3]{2,}")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_HALF_LATIN, _HALF_HANGUL = 3, 2


def one_edit_away(term: str) -> list[str]:
    """The terms at edit distance one: a letter inserted, deleted, replaced or swapped with the next.

    In Hangul, one vowel or consonant of one syllable is replaced (찌게, 찌개). Short words give none, because
    most of their variants are other words. The first Latin letter stays, because it is rarely wrong.
    """
    if _LATIN.fullmatch(term):
        return _latin_edits(term)
    return _hangul_edits(term) if _HANGUL.fullmatch(term) else []


def split_words(word: str) -> Iterator[tuple[str, ...]]:
    """The terms of each way to split a word in two: `bookstore` gives book and store, among others."""
    half = _HALF_HANGUL if _HANGUL.fullmatch(word) else _HALF_LATIN if _LATIN.fullmatch(word) else len(word)
    for at in range(half, len(word) - half + 1):
        yield (*terms(word[:at]), *terms(word[at:]))


def joined_terms(first: str, second: str) -> list[str]:
    """The terms of two adjacent words written as one (떡 볶이, book store); none for stop words."""
    whole = first + second
    both = _HANGUL.fullmatch(whole) or (
        _LATIN.fullmatch(whole) and min(len(first), len(second)) >= _HALF_LATIN
    )
    return terms(whole) if both and terms(first) and terms(second) else []


def syllable_pairs(text: str) -> list[str]:
    """The pairs of adjacent syllables in each Korean word: 떡볶이 gives 떡볶, 볶이.

    Two forms of a word share pairs even where the dictionary splits them differently.
    """
    return [word[at : at + 2] for word in _SYLLABLES.findall(normalize(text)) for at in range(len(word) - 1)]


def _latin_edits(term: str) -> list[str]:
    edits: list[str] = []
    for at in range(1, len(term) + 1):
        head, tail = term[:at], term[at:]
        edits += [head + letter + tail for letter in _LETTERS]
        if tail:
            edits += [head + letter + tail[1:] for letter in _LETTERS if letter != tail[0]]
            edits.append(head + tail[1:])
        if len(tail) > 1 and tail[0] != tail[1]:
            edits.append(head + tail[1] + tail[0] + tail[2:])
    return edits


def _hangul_edits(term: str) -> list[str]:
    edits: list[str] = []
    for at, syllable in enumerate(term):
        head, tail = term[:at], term[at + 1 :]
        edits += [head + other + tail for other in _near_syllables(syllable)]
    return edits


@lru_cache(maxsize=2_000)
def _near_syllables(syllable: str) -> tuple[str, ...]:
    """The syllables with one other vowel or consonant."""
    initial, vowel, final = hangul.split_syllable(syllable)
    near = (
        *((other, vowel, final) for other in range(len(hangul.INITIALS))),
        *((initial, other, final) for other in range(len(hangul.VOWELS))),
        *((initial, vowel, other) for other in range(len(hangul.FINALS))),
    )
    joined = (hangul.join_syllable(*jamo) for jamo in near)
    return tuple(other for other in joined if other != syllable)
