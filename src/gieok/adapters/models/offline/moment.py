"""Time words: which day a memory spoke of, and how that day is called now."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

_OFFSETS = {
    "그저께": -2, "그제": -2, "어제": -1, "오늘": 0, "내일": 1, "모레": 2, "글피": 3,
    "yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1,
}  # fmt: skip
_DAY_WORD = re.compile(
    r"(?<![가-힣])(?:그저께|그제|어제|오늘|내일|모레|글피)|\b(?:yesterday|today|tonight|tomorrow)\b", re.I
)
_NEXT_WEEK = re.compile(r"다음 ?주|next week", re.IGNORECASE)
_NEXT_MONTH = re.compile(r"다음 ?달|next month", re.IGNORECASE)

_KOREAN_DAYS = {-2: "그저께", -1: "어제", 0: "오늘", 1: "내일", 2: "모레"}
_ENGLISH_DAYS = {-1: "yesterday", 0: "today", 1: "tomorrow"}


def local_day(moment: datetime, now: datetime) -> date:
    """The calendar day of `moment` where `now` is told."""
    return moment.astimezone(now.tzinfo).date() if moment.tzinfo and now.tzinfo else moment.date()


def day_meant(text: str, said_on: date) -> date:
    """The day that `text` speaks of, when it was said on `said_on`. Without a time word: that same day."""
    match = _DAY_WORD.search(text)
    if match:
        return said_on + timedelta(days=_OFFSETS[match[0].lower()])
    if _NEXT_WEEK.search(text):
        return said_on + timedelta(days=7)
    return said_on + timedelta(days=30 if _NEXT_MONTH.search(text) else 0)


def name_of_day(day: date, today: date, language: str) -> str:
    """어제, 며칠 전, 지난주, 내일, 5월 3일 …; yesterday, last week, on 3 May."""
    days = (day - today).days
    exact = (_KOREAN_DAYS if language == "ko" else _ENGLISH_DAYS).get(days)
    if exact:
        return exact
    if -7 < days < 0:
        return "며칠 전" if language == "ko" else "the other day"
    if -14 < days < 0:
        return "지난주" if language == "ko" else "last week"
    if days < 0:
        return "지난번" if language == "ko" else "back then"
    return _dated(day, language)


def in_todays_words(text: str, said_on: date, today: date) -> str:
    """`text` with its time words moved to today: what was 내일 on Monday is 오늘 on Tuesday."""

    def moved(match: re.Match[str]) -> str:
        day = said_on + timedelta(days=_OFFSETS[match[0].lower()])
        korean = "가" <= match[0][0] <= "힣"
        known = (_KOREAN_DAYS if korean else _ENGLISH_DAYS).get((day - today).days)
        return known or _dated(day, "ko" if korean else "en")

    return _DAY_WORD.sub(moved, text)


def _dated(day: date, language: str) -> str:
    return f"{day.month}월 {day.day}일" if language == "ko" else f"on {day.day} {day:%B}"
