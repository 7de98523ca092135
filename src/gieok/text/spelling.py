"""Spelling within reach: the words that one slip of the finger, or one space, is away.

An index that holds no words cannot be asked which of its words is near. So the near ones are made here, and
the index is asked which of them it knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gieok.text import hangul
from gieok.text.analyzer import terms

_LATIN = re.compile(r"[a-z]{5,16}")
_HANGUL = re.compile(r"[\uac00-\ud7a3]{3,8}")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_HALF_LATIN, _HALF_HANGUL = 3, 2


def one_slip_away(term: str) -> Iterator[str]:
    """What the term may have been meant to be: a letter more, less, another or exchanged with the next.

    Of Hangul, one vowel or consonant of one syllable is another (찌게, 찌개). Short words have too many
    neighbours that are words of their own, and give none; the first letter is seldom wrong.
    """
    if _LATIN.fullmatch(term):
        yield from _letters(term)
    elif _HANGUL.fullmatch(term):
        yield from _syllables(term)


def one_space_away(word: str) -> Iterator[tuple[str, ...]]:
    """The terms of two words that were written as one: `bookstore` gives book and store, among others."""
    half = _HALF_HANGUL if _HANGUL.fullmatch(word) else _HALF_LATIN if _LATIN.fullmatch(word) else len(word)
    for at in range(half, len(word) - half + 1):
        yield (*terms(word[:at]), *terms(word[at:]))


def joined(first: str, second: str) -> list[str]:
    """The terms of two neighbouring words as one, where they may be one: 떡 볶이, book store."""
    whole = first + second
    both = _HANGUL.fullmatch(whole) or (
        _LATIN.fullmatch(whole) and min(len(first), len(second)) >= _HALF_LATIN
    )
    return terms(whole) if both and terms(first) and terms(second) else []


def _letters(term: str) -> Iterator[str]:
    for at in range(1, len(term) + 1):
        head, tail = term[:at], term[at:]
        for letter in _LETTERS:
            yield head + letter + tail
            if tail and letter != tail[0]:
                yield head + letter + tail[1:]
        if tail:
            yield head + tail[1:]
        if len(tail) > 1 and tail[0] != tail[1]:
            yield head + tail[1] + tail[0] + tail[2:]


def _syllables(term: str) -> Iterator[str]:
    for at, syllable in enumerate(term):
        initial, vowel, final = hangul.split_syllable(syllable)
        near = (
            *((other, vowel, final) for other in range(len(hangul.INITIALS))),
            *((initial, other, final) for other in range(len(hangul.VOWELS))),
            *((initial, vowel, other) for other in range(len(hangul.FINALS))),
        )
        for jamo in near:
            made = hangul.join_syllable(*jamo)
            if made != syllable:
                yield term[:at] + made + term[at + 1 :]
