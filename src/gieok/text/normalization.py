"""Unicode normalisation: texts that look the same become equal.

Full-width letters, decomposed Hangul, invisible characters and upper case all get one form.
"""

from __future__ import annotations

import re
import unicodedata

from gieok.text.hangul import FINALS, INITIALS, VOWELS

# NFKC turns the single jamo of chat (ㅋㅋ, ㅠㅠ) into conjoining jamo, which no dictionary and no keyboard
# has. So they are excluded from it, and conjoining jamo that form no syllable are turned into single jamo.
_NOT_JAMO = re.compile(r"[^\u3131-\u318e]+")
_SINGLE_JAMO = {
    base + i: jamo
    for base, row in ((0x1100, INITIALS), (0x1161, VOWELS), (0x11A8, FINALS[1:]))
    for i, jamo in enumerate(row)
}

# Invisible characters: controls, formats and surrogates (Unicode's Cc, Cf, Cs without spaces), variation
# selectors, Hangul fillers, and the keycap frame of emoji.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    "\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20e3\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]+"
)
_PLAIN = re.compile(r"[\x20-\x7e\uac00-\ud7a3\u3131-\u3163]*")
_SPACES = re.compile(r"\s\s+|[^\S ]")

# Normalising n combining marks on one letter takes n * n steps. No language uses more than a few.
_MARKS_MAX = 8
_MANY_MARKS = re.compile(rf"[^\w\s\x00-\x7f]{{{_MARKS_MAX + 1},}}")


def compose_jamo(text: str) -> str:
    """Compose conjoining jamo into syllables; those that form none become single jamo."""
    return unicodedata.normalize("NFC", text).translate(_SINGLE_JAMO)


def clean(text: str) -> str:
    """`normalize` without the case folding, for code that needs to see capitals."""
    if not _PLAIN.fullmatch(text):
        text = _MANY_MARKS.sub(_limit_marks, _INVISIBLE.sub("", text))
        text = _NOT_JAMO.sub(_nfkc, compose_jamo(text)).translate(_SINGLE_JAMO)
        text = _MANY_MARKS.sub(_limit_marks, text)  # again: NFKC splits some marks into two
    return _SPACES.sub(" ", text).strip()


def fold(cleaned: str) -> str:
    """Fold the case of a cleaned text, and clean it again where folding changed the form."""
    if cleaned.isascii():
        return cleaned.lower()
    folded = cleaned.casefold()
    return folded if folded == cleaned else clean(clean(folded).casefold())


def normalize(text: str) -> str:
    """Normalise a text for comparison: NFKC, no invisible characters, case-folded, single spaces.

    Accepts any `str`. Single jamo (`ㅋㅋ`) stay; conjoining jamo become syllables. Of the combining marks on
    one letter, the first eight are kept.
    """
    return fold(clean(text))


def _nfkc(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match[0])


def _limit_marks(match: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for char in match[0]:
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks <= _MARKS_MAX:
            kept.append(char)
    return "".join(kept)
