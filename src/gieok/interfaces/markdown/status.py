"""Whether a decision record is in force, by the words that teams use for it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gieok.errors import InputRefused
from gieok.interfaces.markdown.record import Status

WORDS: dict[Status, Sequence[str]] = {
    "proposed": (
        *("proposed", "proposal", "draft", "pending", "open", "wip", "review", "discussion"),
        *("제안", "제안됨", "초안", "검토", "논의", "보류"),
    ),
    "accepted": (
        *("accepted", "approved", "adopted", "agreed", "decided", "active", "implemented", "done"),
        *("승인", "승인됨", "채택", "채택됨", "확정", "결정", "결정됨", "적용", "적용됨", "구현"),
    ),
    "rejected": ("rejected", "declined", "거부", "거부됨", "거절", "기각", "기각됨", "반려", "반려됨"),
    "deprecated": ("deprecated", "retired", "obsolete", "withdrawn", "폐기", "폐기됨", "철회", "철회됨"),
    "superseded": ("superseded", "superceded", "replaced", "대체", "대체됨"),
}
"""From the beginning of a record's life to its end."""

_HEADING = re.compile(r"#{2,6}\s+(?:\d+\.\s*)?(?:status|상태)\s*#*", re.IGNORECASE)
_LINE = re.compile(r"(?:[*-]\s+)?[*_]*(?:status|상태)[*_]*\s*:(.+)", re.IGNORECASE)
_REPLACED_ANOTHER = re.compile(r"\b(?:superseded|superceded|replaced)(?!\s+by\b)(?=\s+[^\W\d])")
_GAVE_WAY = re.compile(r"\W*(?:superseded|superceded|replaced)\s+by\b")
"""What replaced another is in force; only what was replaced by another is not."""


def status_of(text: str) -> Status:
    """The status that a text names: in the first line that names one, and of several there the last in life.

    A line of its own that names the record's successor ends it all the same.
    """
    lines = text.casefold().split("\n")
    if any(map(_GAVE_WAY.match, lines)):
        return "superseded"
    for line in lines:
        said = set(re.findall(r"\w+", _REPLACED_ANOTHER.sub("", line)))
        for status, words in reversed(WORDS.items()):
            if said.intersection(words):
                return status
    raise InputRefused(f"its status is none that is known; say one of {', '.join(WORDS)}")


def status_in(body: str) -> Status | None:
    """The status that a record's text gives in a section, or in a line above the first section."""
    lines = body.split("\n")
    for number, line in enumerate(lines):
        if _HEADING.fullmatch(line.strip()):
            return status_of(_section(lines[number + 1 :]))
    for line in lines:
        if line.startswith("##"):
            break
        if found := _LINE.fullmatch(line.strip()):
            return status_of(found[1])
    return None


def _section(lines: Sequence[str]) -> str:
    end = next((number for number, line in enumerate(lines) if line.startswith("#")), len(lines))
    return "\n".join(lines[:end])
