"""What may name a domain, and its one spelling."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

LONGEST = 64
_MARKS = frozenset("._-/")


@lru_cache(maxsize=1_024)
def normal_domain(value: str) -> str:
    """The domain in its one spelling: `WMS` and `wms` are the same. ValueError for what cannot name one.

    1 to 64 letters, digits and `. _ - /`, of any script, beginning with a letter or a digit. `global` is a
    scope and names no domain.
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFD", value).casefold())
    if not 1 <= len(folded) <= LONGEST:
        raise ValueError(f"a domain has 1 to {LONGEST} characters")
    if not _is_letter_or_digit(folded[0]) or not all(map(_is_allowed, folded)):
        raise ValueError("a domain has letters, digits and . _ - / and begins with a letter or a digit")
    if folded == "global":
        raise ValueError("'global' is a scope, not a domain; leave the domain out")
    return folded


def _is_letter_or_digit(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] == "L" or category == "Nd"


def _is_allowed(character: str) -> bool:
    # Marks (category M) carry the vowels of many scripts.
    return character in _MARKS or _is_letter_or_digit(character) or unicodedata.category(character)[0] == "M"
