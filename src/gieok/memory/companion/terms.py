"""By what a memory is found: its words, and marks for who spoke and when it was.

A mark is a term that no text can hold, so that the index of words serves for both and reveals no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta

from gieok.memory.companion.records import Memory
from gieok.text import Period, terms

_MARK = "\x1f"
_DAYS_BY_DAY = 31
_MONTHS_MAX = 240


def memory_terms(memory: Memory) -> list[str]:
    """The terms of its text, its topics, its tags and its speaker, and its marks."""
    speaker = terms(memory.speaker) if memory.speaker else []
    labelled = [term for text in (memory.summary, *memory.topics, *memory.tags) for term in terms(text)]
    return [*labelled, *speaker, *map(speaker_mark, dict.fromkeys(speaker)), *_time_marks(memory.occurred_at)]


def word_count(found: Iterable[str]) -> int:
    """How many of a memory's terms are words: a mark makes no text longer."""
    return sum(not term.startswith(_MARK) for term in found)


def speaker_mark(term: str) -> str:
    """What a memory has whose speaker's name has this term."""
    return f"{_MARK}speaker{_MARK}{term}"


def period_marks(periods: Sequence[Period]) -> list[str]:
    """What the memories of these times have, and of a long time those at its edges too. No more than some
    years are covered."""
    marks = dict.fromkeys(mark for period in periods for mark in _marks_of(period))
    return list(marks)[:_MONTHS_MAX]


def _marks_of(period: Period) -> Iterator[str]:
    start, end = period.start.date(), (period.end - timedelta(microseconds=1)).date()
    if (end - start).days < _DAYS_BY_DAY:
        yield from (_day_mark(start + timedelta(days=days)) for days in range((end - start).days + 1))
        return
    for month in range(start.year * 12 + start.month - 1, end.year * 12 + end.month):
        yield _month_mark(month // 12, month % 12 + 1)


def _time_marks(at: datetime) -> tuple[str, str]:
    return _day_mark(at.date()), _month_mark(at.year, at.month)


def _day_mark(day: date) -> str:
    return f"{_MARK}day{_MARK}{day.isoformat()}"


def _month_mark(year: int, month: int) -> str:
    return f"{_MARK}month{_MARK}{year:04}-{month:02}"
