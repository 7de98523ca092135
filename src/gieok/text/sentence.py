"""Split Korean and English chat into sentences, and recognise questions."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CLOSERS = "\"'”’)\\]」』》"
# A mark ends a sentence if a space or the end of the line follows. Between Hangul it needs no space
# (갔다.그리고), and neither do the marks of Chinese and Japanese.
_END = re.compile(
    rf"(?:[.!?…]+[{_CLOSERS}]*(?=\s|$))|(?:[。！？]+[{_CLOSERS}]*)|(?:(?<=[가-힣])[.!?…]+(?=[가-힣]))"
)
_QUOTED = re.compile(r"\"[^\"]{1,300}\"|“[^”]{1,300}”|「[^」]{1,300}」|『[^』]{1,300}』")
_ABBREVIATIONS = """
    dr mr mrs ms prof sr jr st vs etc approx dept inc ltd co corp
    jan feb mar apr jun jul aug sep sept oct nov dec
"""
_SHORT = frozenset(_ABBREVIATIONS.split())
_SHORT_BEFORE_NUMBER = frozenset({"no", "vol", "fig", "p", "pp"})
_NUMBERED = re.compile(r"\s*\(?\d{1,3}\.$")
_LOOK_BACK = 16
_QUESTION = re.compile(r"[?？]\W*$")


def sentences(text: str) -> list[str]:
    """Split `text` into sentences, with their marks and quotes and without surrounding space.

    A line break always ends a sentence: in chat, many people type no other mark. Quotations, numbers,
    abbreviations and addresses are not split.
    """
    parts: list[str] = []
    for line in text.splitlines():
        start = 0
        for end in _ends(line):
            parts.append(line[start:end].strip())
            start = end
        parts.append(line[start:].strip())
    return [sentence for sentence in parts if sentence]


def is_question(text: str) -> bool:
    """Whether `text` ends with a question mark; marks and emoticons may follow it."""
    return _QUESTION.search(text[-_LOOK_BACK:]) is not None


def _ends(line: str) -> Iterator[int]:
    quotes = _QUOTED.finditer(line)
    quote = next(quotes, None)
    for mark in _END.finditer(line):
        while quote and quote.end() < mark.end():
            quote = next(quotes, None)
        quoted = quote is not None and quote.start() < mark.start() < quote.end() != mark.end()
        if not quoted and not _continues(line, mark):
            yield mark.end()


def _continues(line: str, mark: re.Match[str]) -> bool:
    """Whether the sentence continues after `mark`: 'Dr. Kim', 'e.g. this', '1. first', 'well... maybe'."""
    following = line[mark.end() : mark.end() + 2].lstrip()
    if mark[0].startswith(("..", "…")):
        return following[:1].islower()
    if mark[0] != "." or not following:
        return False
    before = line[max(0, mark.end() - _LOOK_BACK) : mark.start()].split()
    word = before[-1].lstrip("(\"'“‘").lower() if before else ""
    if word in _SHORT or (word in _SHORT_BEFORE_NUMBER and following[0].isdigit()):
        return True
    return _are_initials(word) or bool(_NUMBERED.fullmatch(line, 0, mark.end()))


def _are_initials(word: str) -> bool:
    """`e.g`, `u.s`, and the `j` of 'J. Kim'; not the word `i`."""
    return (
        word != "i" and word.isascii() and all(len(part) == 1 and part.isalpha() for part in word.split("."))
    )
