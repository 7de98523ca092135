"""Pairs of syllables: what two Korean words share where a dictionary cuts them differently."""

from __future__ import annotations

import re

from gieok.text.normal import normalize

_HANGUL = re.compile(r"[\uac00-\ud7a3]{2,}")


def pairs(text: str) -> list[str]:
    """Each two neighbouring syllables of a Korean word, in order, repeats kept: 떡볶이 gives 떡볶, 볶이."""
    return [word[at : at + 2] for word in _HANGUL.findall(normalize(text)) for at in range(len(word) - 1)]
