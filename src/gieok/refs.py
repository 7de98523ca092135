"""Refs: the ids of owners, sessions and personas that callers choose.

Refs appear in keys, logs, file names and seals, so each has one visible spelling: no spaces, control or
direction marks, emoji or invisible characters, and NFC only.
"""

from __future__ import annotations

import re
import unicodedata

from gieok.errors import InputRefused

MAX_REF_CHARS = 128
"""The maximum length of a ref."""

_PLAIN = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._:@+-]{{0,{MAX_REF_CHARS - 1}}}")
_MARKS = frozenset("._:@+-")
_INVISIBLE_LETTERS = frozenset(
    "\u115f\u1160\u3164\uffa0"
)  # Hangul fillers: Unicode letters that are blank on a screen


def check_ref(value: str, what: str) -> str:
    """Return `value` if it is a valid ref, or raise InputRefused. `what` names the field in the error.

    Allowed: 1 to 128 characters, letters and digits of any script and `. _ : @ + -`, beginning with a letter
    or a digit, in NFC.
    """
    if type(value) is not str:
        raise InputRefused("must be text", at=what)
    if _PLAIN.fullmatch(value):
        return value
    if not 1 <= len(value) <= MAX_REF_CHARS:
        raise InputRefused(f"must have 1 to {MAX_REF_CHARS} characters and has {len(value)}", at=what)
    for position, character in enumerate(value, start=1):
        if not (_is_letter_or_digit(character) or (position > 1 and character in _MARKS)):
            raise InputRefused(
                f"character {position} (U+{ord(character):04X}) is not allowed there; use letters, digits "
                "and . _ : @ + -, beginning with a letter or a digit",
                at=what,
            )
    if not unicodedata.is_normalized("NFC", value):
        raise InputRefused("must be in Unicode form NFC, so that it has one spelling only", at=what)
    return value


def _is_letter_or_digit(character: str) -> bool:
    category = unicodedata.category(character)
    return (category[0] == "L" or category == "Nd") and character not in _INVISIBLE_LETTERS
