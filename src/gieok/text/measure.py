"""The language of a text, and its estimated number of tokens for a language model."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Literal

_HANGUL = re.compile("[가-힣ㄱ-ㆎ\u1100-\u11ff]")


def language(text: str, default: Literal["ko", "en"] = "en") -> Literal["ko", "en"]:
    """`ko` if at least a quarter of the letters is Hangul, else `en`; `default` for a text without letters.

    A quarter, because a syllable holds as much as about three Latin letters: 'Google 면접 봤어' is Korean.
    """
    letters = sum(map(str.isalpha, text))
    if not letters:
        return default
    return "ko" if 4 * len(_HANGUL.findall(text)) >= letters else "en"


def count_tokens(text: str) -> int:
    """Estimate the number of tokens without a tokenizer, for budgets.

    Four Latin letters or spaces are a token; a Hangul syllable is 0.6, a Han character or kana 0.9, a digit,
    a mark or a letter of another script 0.5, an emoji 1 to 2. A longer text never has a lower estimate.
    """
    return -(-sum(_weight(char) * times for char, times in Counter(text).items()) // 100)


@lru_cache(maxsize=4096)
def _weight(char: str) -> int:
    """Hundredths of a token, as integers, so that the sum does not depend on the order."""
    code = ord(char)
    if code < 0x250:
        return 25 if char.isalpha() or char.isspace() else 50
    if _HANGUL.match(char):
        return 60
    if 0x2E80 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF:
        return 90
    if code >= 0x10000:
        return 200
    return 50 if char.isalpha() else 100
