"""Hangul syllables: splitting and joining jamo, final consonants, and the particles that depend on them.

Unicode numbers the 11,172 syllables by initial, vowel and final, in the order of the three strings below.
"""

from __future__ import annotations

import re

INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
FINALS = " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
"""The first, a space, stands for no final consonant."""
SYLLABLE = re.compile(r"[\uac00-\ud7a3]")
_FIRST, _LAST = 0xAC00, 0xD7A3

# The final consonant of a digit or a Latin letter that is read aloud in Korean: 3 is 삼, L is 엘.
_DIGIT_FINALS = {"0": "ㅇ", "1": "ㄹ", "3": "ㅁ", "6": "ㄱ", "7": "ㄹ", "8": "ㄹ"}
_LETTER_FINALS = {"L": "ㄹ", "M": "ㅁ", "N": "ㄴ", "R": "ㄹ"}
_WORD_FINALS = {"l": "ㄹ", "m": "ㅁ", "n": "ㄴ", "c": "ㄱ", "k": "ㄱ", "p": "ㅂ"}
_CLOSING_MARKS = "\"'”’)]》」 "


def is_syllable(char: str) -> bool:
    """Whether `char` is a whole Hangul syllable; a single jamo (ㅋ) is not."""
    return _FIRST <= ord(char) <= _LAST


def split_syllable(syllable: str) -> tuple[int, int, int]:
    """Split a syllable into indexes of `INITIALS`, `VOWELS` and `FINALS`."""
    rest, final = divmod(ord(syllable) - _FIRST, len(FINALS))
    initial, vowel = divmod(rest, len(VOWELS))
    return initial, vowel, final


def join_syllable(initial: int, vowel: int, final: int = 0) -> str:
    """Join indexes of `INITIALS`, `VOWELS` and `FINALS` into a syllable."""
    return chr(_FIRST + (initial * len(VOWELS) + vowel) * len(FINALS) + final)


def final_consonant(word: str) -> str:
    """The final consonant of `word` as it is read aloud, or "" where it ends in a vowel.

    Closing quotes and brackets are ignored. Digits and Latin letters are read in Korean.
    """
    spoken = word.rstrip(_CLOSING_MARKS)
    if not spoken:
        return ""
    last = spoken[-1]
    if is_syllable(last):
        return FINALS[split_syllable(last)[2]].strip()
    if last.isdigit():
        return _DIGIT_FINALS.get(last, "")
    return _LETTER_FINALS.get(last, "") or _WORD_FINALS.get(last, "")


def with_final(stem: str, final: str) -> str:
    """Set the final consonant of the last syllable: 가 with ㄴ is 간, 살 with ㄴ is 산."""
    if not stem or not is_syllable(stem[-1]):
        return stem
    initial, vowel, _ = split_syllable(stem[-1])
    return stem[:-1] + join_syllable(initial, vowel, FINALS.index(final))


def particle(word: str, pair: str) -> str:
    """Choose the form of a particle that fits `word`: `particle("면접", "이/가")` is 이.

    The form after a consonant comes first. 으로/로 treats a final ㄹ as a vowel: 서울로.
    """
    after_consonant, after_vowel = pair.split("/")
    final = final_consonant(word)
    if final == "ㄹ" and after_consonant.startswith("으로"):
        return after_vowel
    return after_consonant if final else after_vowel


def with_particle(word: str, pair: str) -> str:
    """Append the particle that fits: `with_particle("면접", "이/가")` is 면접이."""
    return f"{word}{particle(word, pair)}"
