"""How a clause of a message is meant: asserted, negated, asked, hypothetical, hearsay, a joke, fiction, …

Rules of Korean (by morphemes and endings) and English (by words). They know no names and no topics, and are
wrong at times: irony without a sign cannot be seen. All functions are pure and accept any `str`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from gieok.text.hangul import SYLLABLE
from gieok.text.modality import english, english_cues, korean, korean_cues
from gieok.text.modality.clause import Clause, Modality, Span, level, plays_a_role, quoted_spans

__all__ = [
    "Clause",
    "Commitment",
    "Modality",
    "clause_at",
    "clauses",
    "commitments",
    "is_no",
    "is_yes",
    "misspoke",
    "only_joked",
    "opens_role_play",
    "takes_back",
]

MAX_CHARS = 8_000


class Commitment(StrEnum):
    """What a speaker may settle by saying it."""

    PROMISE = "promise"
    AGREEMENT = "agreement"
    RECONCILIATION = "reconciliation"
    NAME = "name"


_COMMITMENTS = (
    (Commitment.PROMISE, english_cues.PROMISE, korean_cues.PROMISE),
    (Commitment.AGREEMENT, english_cues.AGREEMENT, korean_cues.AGREEMENT),
    (Commitment.RECONCILIATION, english_cues.RECONCILED, korean_cues.RECONCILED),
    (Commitment.NAME, english_cues.NAMED, korean_cues.NAMED),
)


def clauses(text: str) -> list[Clause]:
    """The clauses of a message, in order. Of a longer message the first 8,000 characters are read."""
    head = text[:MAX_CHARS]
    normal = level(head)
    parts = korean.read(normal) if SYLLABLE.search(normal) else english.read(normal, head)
    played = {Modality.FICTION} if plays_a_role(head) else set[Modality]()
    quoted = quoted_spans(head)
    found: list[Clause] = []
    for part in parts:
        for left, right, is_quoted in _cut(part.start, part.end, quoted):
            said = head[left:right]
            start = left + len(said) - len(said.lstrip())
            end = left + len(said.rstrip())
            modality = part.modality | played | ({Modality.QUOTED} if is_quoted else set[Modality]())
            if start < end:
                found.append(
                    Clause(head[start:end], start, end, frozenset(modality), part.subject, part.speaker)
                )
    return found


def clause_at(text: str, start: int, end: int) -> list[Clause]:
    """The clauses that `text[start:end]` is part of, or consists of."""
    return [clause for clause in clauses(text) if clause.start < end and start < clause.end]


def commitments(text: str) -> frozenset[Commitment]:
    """What a message promises, agrees to, makes up or names."""
    normal = level(text)
    return frozenset(kind for kind, *tables in _COMMITMENTS if any(table.search(normal) for table in tables))


def is_yes(text: str) -> bool:
    """Whether a message begins by affirming: ㅇㅇ 맞아, yes exactly."""
    normal = level(text).strip()
    return any(table.match(normal) for table in (english_cues.YES, korean_cues.YES))


def is_no(text: str) -> bool:
    """Whether a message only denies: 아니, nope."""
    normal = level(text).strip()
    return any(table.match(normal) for table in (english_cues.NO, korean_cues.NO))


def takes_back(text: str) -> bool:
    """Whether a message begins by calling what was said before a joke: 아니 농담이야 ㅋㅋ, just kidding!"""
    normal = level(text).strip()
    return english.takes_back(normal) or korean.takes_back(normal)


def only_joked(text: str) -> bool:
    """Whether a message begins by calling what was said before a joke, and cannot be an answer instead."""
    normal = level(text).strip()
    return english_cues.JOKED.match(normal) is not None or korean.takes_back(normal)


def misspoke(text: str) -> bool:
    """Whether a message begins by correcting its author: 아니 잘못 말했어, sorry, I meant Friday."""
    normal = level(text).strip()
    return any(table.match(normal) for table in (english_cues.MISSPOKE, korean_cues.MISSPOKE))


def opens_role_play(text: str) -> bool:
    """Whether a message asks for a game of roles or takes a role on."""
    normal = level(text)
    return plays_a_role(text) or english.opens_role_play(normal) or korean.opens_role_play(normal)


def _cut(start: int, end: int, quoted: list[Span]) -> Iterator[tuple[int, int, bool]]:
    """The pieces of a span inside and outside of quotation, in order."""
    for left, right in quoted:
        if right <= start or end <= left:
            continue
        if start < left:
            yield start, left, False
        yield max(start, left), min(end, right), True
        start = min(end, right)
    if start < end:
        yield start, end, False
