"""Where a sentence ends, in Korean and English chat."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CLOSERS = "\"'”’)\\]」』》"
# A mark ends a sentence before a space or the end of the line. Between Hangul it needs no space
# (갔다.그리고), and the marks of Chinese and Japanese never have one.
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
_ASKS = re.compile(r"[?？]\W*$")


def sentences(text: str) -> list[str]:
    """The sentences of `text`, stripped, in order, with their marks and quotes: nothing but space is lost.

    A line break always ends a sentence: in chat it is the only mark that many people type. A sentence is not
    cut inside a quotation, a number, an abbreviation or an address.
    """
    found: list[str] = []
    for line in text.splitlines():
        start = 0
        for end in _ends(line):
            found.append(line[start:end].strip())
            start = end
        found.append(line[start:].strip())
    return [sentence for sentence in found if sentence]


def asks(text: str) -> bool:
    """Whether `text` ends as a question."""
    return _ASKS.search(text[-_LOOK_BACK:]) is not None


def _ends(line: str) -> Iterator[int]:
    quotes = _QUOTED.finditer(line)
    quote = next(quotes, None)
    for mark in _END.finditer(line):
        while quote and quote.end() < mark.end():
            quote = next(quotes, None)
        quoted = quote is not None and quote.start() < mark.start() < quote.end() != mark.end()
        if not quoted and not _goes_on(line, mark):
            yield mark.end()


def _goes_on(line: str, mark: re.Match[str]) -> bool:
    """Whether the sentence goes on after `mark`: 'Dr. Kim', 'e.g. this', '1. first', 'well... maybe'."""
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
