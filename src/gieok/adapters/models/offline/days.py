"""Days: which day a text means, and how a reply names a day."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta

_OFFSETS = {
    "그저께": -2, "그제": -2, "엊그제": -2, "어제": -1, "오늘": 0, "내일": 1, "낼": 1,
    "낼모레": 2, "모레": 2, "글피": 3,
    "yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1,
}  # fmt: skip
_KOREAN_WEEKDAYS = "월화수목금토일"
_ENGLISH_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<month>(?:{'|'.join(_MONTHS)})[a-z]*)\.?"
_WEEKDAY = rf"(?P<weekday>(?:{'|'.join(_ENGLISH_WEEKDAYS)})[a-z]*)"
_WEEKS = {"지난": -1, "저번": -1, "이번": 0, "다음": 1, "담": 1, "last": -1, "this": 0, "next": 1}
_PAST = re.compile(
    r"[았었했갔왔봤났됐웠졌냈였](?:어|다|는데|지|거든|네|습니다|음)|\b(?:was|were|went|had|\w+ed)\b"
)


def local_day(moment: datetime, now: datetime) -> date:
    """The calendar day of `moment` in the time zone of `now`."""
    return moment.astimezone(now.tzinfo).date() if moment.tzinfo and now.tzinfo else moment.date()


def day_in(text: str, said_on: date) -> date | None:
    """The day that `text` means, if it was said on `said_on`; None if it names none, or several ways fail.

    Understands 내일, 다음 주 화요일, 6월 13일, 13일; tomorrow, next friday, june 13th, the 13th.
    """
    lowered = text.lower()
    for pattern, resolve in _RULES:
        if match := pattern.search(lowered):
            try:
                return resolve(match, said_on, lowered)
            except ValueError:  # 30 February
                return None
    return None


def when_korean(day: date, today: date) -> str:
    """The day as an adverb: 오늘, 어제, 3월 2일에, 2025년 3월 2일에."""
    known = {0: "오늘", -1: "어제", -2: "그저께", 1: "내일", 2: "모레"}.get((day - today).days)
    year = f"{day.year}년 " if day.year != today.year else ""
    return known or f"{year}{day.month}월 {day.day}일에"


def when_english(day: date, today: date) -> str:
    """The day as an adverb: today, yesterday, on 2 March, on 2 March 2025."""
    known = {0: "today", -1: "yesterday", 1: "tomorrow"}.get((day - today).days)
    year = f" {day.year}" if day.year != today.year else ""
    return known or f"on {day.day} {day:%B}{year}"


def _offset(match: re.Match[str], said_on: date, _: str) -> date:
    return said_on + timedelta(days=_OFFSETS[match[0].strip()])


def _weekday(match: re.Match[str], said_on: date, text: str) -> date:
    """A weekday of a named week, or else the next one; the last one if the text is in the past tense."""
    name, week = match["weekday"], match.groupdict().get("week")
    number = _KOREAN_WEEKDAYS.find(name) if name in _KOREAN_WEEKDAYS else _ENGLISH_WEEKDAYS.index(name[:3])
    korean = name in _KOREAN_WEEKDAYS
    monday = said_on - timedelta(days=said_on.weekday())
    if week is not None and (korean or _WEEKS[week] < 0):
        return monday + timedelta(days=7 * _WEEKS[week] + number)
    ahead = (number - said_on.weekday()) % 7
    if week is None and _PAST.search(text) and not re.search(r"예정|하기로|기로|will|going to", text):
        return said_on - timedelta(days=(said_on.weekday() - number) % 7)
    if week == "next" and ahead + said_on.weekday() < 7:
        ahead += 7
    return said_on + timedelta(days=ahead or (0 if week == "this" else 7))


def _calendar(match: re.Match[str], said_on: date, _: str) -> date:
    """A month and a day: the nearest such day, in the past or within nine months."""
    month = match["month"]
    number = int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1
    found = date(said_on.year, number, int(match["day"]))
    if (said_on - found).days > 90:
        return found.replace(year=found.year + 1)
    return found.replace(year=found.year - 1) if (found - said_on).days > 275 else found


def _day_of_month(match: re.Match[str], said_on: date, _: str) -> date:
    """The next day with this number."""
    number = int(match["day"])
    if number >= said_on.day:
        return said_on.replace(day=number)
    following = (said_on.replace(day=1) + timedelta(days=32)).replace(day=1)
    return following.replace(day=number)


_Resolve = Callable[[re.Match[str], date, str], date]
_RULES: tuple[tuple[re.Pattern[str], _Resolve], ...] = (
    (re.compile(r"(?P<month>\d{1,2})월 ?(?P<day>\d{1,2})일"), _calendar),
    (re.compile(rf"\b{_MONTH} (?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?! ?(?:am|pm|:))"), _calendar),
    (re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH}\b"), _calendar),
    (re.compile(r"(?P<week>지난|저번|이번|다음|담) ?주 ?(?P<weekday>[월화수목금토일])(?:요일|욜)"), _weekday),
    (re.compile(r"(?<![가-힣])(?:엊그제|그저께|그제|어제|오늘|내일|낼모레|낼|모레|글피)"), _offset),
    (re.compile(r"\b(?:yesterday|today|tonight|tomorrow)\b"), _offset),
    (re.compile(r"(?<![가-힣])(?P<weekday>[월화수목금토일])(?:요일|욜)"), _weekday),
    (re.compile(rf"\b(?P<week>last|this|next) {_WEEKDAY}\b"), _weekday),
    (re.compile(rf"\b(?:on )?{_WEEKDAY}\b(?!\w)"), _weekday),
    (
        re.compile(r"(?<![\d월])(?<!월 )(?P<day>\d{1,2})일(?!째)(?=에|부터|이|까지|날|[ .,!]|$)"),
        _day_of_month,
    ),
    (re.compile(r"\bthe (?P<day>\d{1,2})(?:st|nd|rd|th)\b"), _day_of_month),
)
