"""Syllables and particles: what must be known of a word's last sound to put something after it."""

from __future__ import annotations

_FIRST = 0xAC00
_LAST = 0xD7A3
_FINALS = "_ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"

# How a digit or a Latin letter ends when it is read aloud in Korean: 3 is 삼, L is 엘, so both close.
_DIGIT_FINALS = {"0": "ㅇ", "1": "ㄹ", "3": "ㅁ", "6": "ㄱ", "7": "ㄹ", "8": "ㄹ"}
_LETTER_FINALS = {"L": "ㄹ", "M": "ㅁ", "N": "ㄴ", "R": "ㄹ"}
_WORD_FINALS = {"l": "ㄹ", "m": "ㅁ", "n": "ㄴ", "c": "ㄱ", "k": "ㄱ", "p": "ㅂ"}


def is_syllable(char: str) -> bool:
    return _FIRST <= ord(char) <= _LAST


def final_of(word: str) -> str:
    """The closing consonant of the last sound of `word`, or "" when it ends open."""
    spoken = word.rstrip("\"'”’)]》」 ")
    if not spoken:
        return ""
    last = spoken[-1]
    if is_syllable(last):
        return _FINALS[(ord(last) - _FIRST) % 28].strip("_")
    if last.isdigit():
        return _DIGIT_FINALS.get(last, "")
    return _LETTER_FINALS.get(last, "") or _WORD_FINALS.get(last, "")


def with_final(stem: str, final: str) -> str:
    """`stem` closed by `final`: 가+ㄴ is 간. A consonant that closed it before gives way: 살+ㄴ is 산."""
    if not stem or not is_syllable(stem[-1]):
        return stem
    opened = (ord(stem[-1]) - _FIRST) // 28 * 28
    return stem[:-1] + chr(_FIRST + opened + _FINALS.index(final))


def without_final(stem: str) -> str:
    """`stem` with its last syllable opened: 살 is 사."""
    if not stem or not is_syllable(stem[-1]):
        return stem
    return stem[:-1] + chr(ord(stem[-1]) - (ord(stem[-1]) - _FIRST) % 28)


def particle(word: str, pair: str) -> str:
    """The half of `pair` that fits after `word`: `particle("면접", "이/가")` is 이.

    The half for a closed syllable stands first. 으로/로 treats a closing ㄹ as open, as speech does.
    """
    closed, opened = pair.split("/")
    final = final_of(word)
    if final == "ㄹ" and closed == "으로":
        return opened
    return closed if final else opened


def with_particle(word: str, pair: str) -> str:
    """`word` with the half of `pair` that fits: `with_particle("면접", "이/가")` is 면접이."""
    return f"{word}{particle(word, pair)}"
