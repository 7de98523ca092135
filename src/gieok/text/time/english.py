"""English time expressions: yesterday, last Monday, two weeks ago, last summer, in May, May 8, 2023."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from gieok.text.time import calendar
from gieok.text.time.calendar import Period, Resolve, Rule

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "a couple of": 2, "three": 3, "four": 4, "five": 5,
    "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_DAYS_BACK = {"the day before yesterday": 2, "yesterday": 1, "last night": 1, "today": 0, "tonight": 0}

_LONG_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_MONTH = rf"\b(?P<month>{_LONG_MONTH})\b\.?"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_SEASON = r"\b(?P<season>spring|summer|autumn|fall|winter)\b"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
_LONG_DAY = (
    "mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
)


def _date(match: re.Match[str], now: datetime) -> Iterable[Period]:
    """A year, month, day or season: the groups that matched."""
    groups = {name: (value or "").lower() for name, value in match.groupdict().items()}
    season = groups.get("season", "").replace("fall", "autumn")
    return calendar.dated(
        now,
        int(groups["year"]) if groups.get("year") else None,
        month_=_MONTHS.index(groups["month"][:3]) + 1 if groups.get("month") else None,
        day_=int(groups["day"]) if groups.get("day") else None,
        season=season or None,
        last=groups.get("which") in ("last", "past"),
    )


def _numeric_date(match: re.Match[str], now: datetime) -> Iterable[Period]:
    return calendar.dated(now, int(match["year"]), month_=int(match["month"]), day_=int(match["day"]))


def _day_first(match: re.Match[str], now: datetime) -> Iterable[Period]:
    """`19.01.2024` and `19/01/2024`; with slashes also the American order, where both exist."""
    year, first, second = int(match["year"]), int(match["first"]), int(match["second"])
    orders = {(second, first), (first, second)} if match["separator"] == "/" else {(second, first)}
    return [
        period
        for month, day in sorted(orders)
        if 1 <= month <= len(_MONTHS)
        for period in calendar.dated(now, year, month_=month, day_=day)
    ]


def _ago(match: re.Match[str], now: datetime) -> Iterable[Period]:
    count = _COUNTS.get(match["count"].lower()) or int(match["count"])
    match match["unit"].lower():
        case "day" | "night":
            return [calendar.day(now, count)]
        case "week":
            return [calendar.week(now, count)]
        case "weekend":
            return [calendar.weekend(now, count)]
        case "month":
            return [calendar.month_ago(now, count)]
        case _:
            return [calendar.year(now.year - count, now)]


def _some_ago(match: re.Match[str], now: datetime) -> Iterable[Period]:
    return [calendar.some_ago(now, (match["unit"] or "day").lower())]


def _relative(match: re.Match[str], now: datetime) -> Iterable[Period]:
    back = int(match["which"].lower() != "this")
    match match["unit"].lower():
        case "week":
            return [calendar.week(now, back)]
        case "weekend":
            return [calendar.weekend(now, back)]
        case "month":
            return [calendar.months_back(now, back)]
        case _:
            return [calendar.year(now.year - back, now)]


def _weekday(match: re.Match[str], now: datetime) -> Iterable[Period]:
    return [calendar.weekday(now, _WEEKDAYS.index(match["weekday"][:3].lower()))]


def _relative_day(match: re.Match[str], now: datetime) -> Iterable[Period]:
    return [calendar.day(now, _DAYS_BACK[match[0].lower()])]


def _rule(pattern: str, resolve: Resolve, *, is_relative: bool = False) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE), resolve, is_relative)


RULES: tuple[Rule, ...] = (
    _rule(rf"(?<!\d){_YEAR}[-./] ?(?P<month>1[0-2]|0?[1-9])[-./] ?(?P<day>[0-3]?\d)(?!\d)", _numeric_date),
    _rule(
        rf"(?<![\d.])(?P<first>[0-3]?\d)(?P<separator>[./-])(?P<second>[0-3]?\d)(?P=separator){_YEAR}",
        _day_first,
    ),
    _rule(rf"{_MONTH} {_DAY},? {_YEAR}", _date),
    _rule(rf"\b{_DAY} (?:of )?{_MONTH},? {_YEAR}", _date),
    _rule(rf"{_MONTH} {_DAY}(?! ?[ap]m)", _date),
    _rule(rf"\b{_DAY} (?:of )?{_MONTH}", _date),
    _rule(rf"{_MONTH},? (?:of )?{_YEAR}", _date),
    _rule(rf"\b(?P<which>in|last|this|past|since|during|of|early|late|mid|by|until) {_MONTH}", _date),
    _rule(rf"{_SEASON},? (?:of )?{_YEAR}", _date),
    _rule(rf"\b(?:(?P<which>last|this|past) |(?:in|during|over) (?:the )?){_SEASON}", _date),
    _rule(
        r"\b(?:(?:a )?few|some|several) (?P<unit>day|week|month|year)s ago\b|\bthe other (?:day|night)\b",
        _some_ago,
        is_relative=True,
    ),
    _rule(rf"\b{_COUNT} (?P<unit>day|night|week|weekend|month|year)s? ago\b", _ago, is_relative=True),
    _rule(
        r"\b(?P<which>last|this|past|previous) (?P<unit>weekend|week|month|year)\b",
        _relative,
        is_relative=True,
    ),
    _rule(rf"\b(?:last|on|this|past) (?P<weekday>{_LONG_DAY})\b", _weekday),
    _rule("|".join(rf"\b{words}\b" for words in _DAYS_BACK), _relative_day, is_relative=True),
    _rule(rf"\b(?:in|of|since|during|early|late|mid) {_YEAR}", _date),
)
