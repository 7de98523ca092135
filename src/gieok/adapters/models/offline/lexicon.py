"""Word lists, written as people read them: words with spaces between."""

from __future__ import annotations


def listed(words: str) -> frozenset[str]:
    """The words of a list, for asking whether it holds one."""
    return frozenset(words.split())


def either(phrases: str) -> str:
    """A regular expression for any of the phrases, which stand one to a line or between slashes."""
    return "|".join(
        phrase.strip() for line in phrases.splitlines() for phrase in line.split(" / ") if phrase.strip()
    )
