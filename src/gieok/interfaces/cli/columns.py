"""Text in columns of a terminal, where a Korean syllable is two columns wide."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator


def width(text: str) -> int:
    """How many columns `text` takes."""
    return sum(_columns(char) for char in text)


def pad(text: str, columns: int) -> str:
    """`text` with spaces up to `columns`; longer text stays as it is."""
    return text + " " * (columns - width(text))


def wrap(text: str, columns: int) -> Iterator[str]:
    """`text` in lines of at most `columns`, broken between words; a word that is wider stands alone."""
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and width(longer) > columns:
            yield line
            line = word
        else:
            line = longer
    if line:
        yield line


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
