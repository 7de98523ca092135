"""Stretches of time: days, weeks, months, seasons and years, as people mean them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

RECURRENCES = 12
"""A month without a year may be that of any of so many years."""
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
"""The month in which each begins."""
_WEEK = 7
_SATURDAY = 5


class Period(NamedTuple):
    """From `start`, up to but not including `end`."""

    start: datetime
    end: datetime


Resolve = Callable[[re.Match[str], datetime], Iterable[Period]]
"""What words that were found name, seen from a moment."""


class Rule(NamedTuple):
    """Words that name a time, and how to find it. `is_counted` says that it is counted from the moment of
    asking (어제, two weeks ago): then the words are not what somebody said at that time."""

    pattern: re.Pattern[str]
    resolve: Resolve
    is_counted: bool = False


def day(now: datetime, back: int = 0) -> Period:
    """The day so many days before."""
    start = _midnight(now) - timedelta(days=back)
    return Period(start, start + timedelta(days=1))


def week(now: datetime, back: int = 0) -> Period:
    """The week, from Monday, so many weeks before."""
    start = _midnight(now) - timedelta(days=now.weekday() + _WEEK * back)
    return Period(start, start + timedelta(days=_WEEK))


def weekend(now: datetime, back: int = 0) -> Period:
    """The Saturday and Sunday of the week so many weeks before."""
    monday, end = week(now, back)
    return Period(monday + timedelta(days=_SATURDAY), end)


def weekday(now: datetime, number: int, back: int | None = None) -> Period:
    """A day of the week, 0 is Monday: in the week so many weeks before, or the last one before today."""
    if back is None:
        return day(now, (now.weekday() - number - 1) % _WEEK + 1)
    return day(week(now, back).start + timedelta(days=number))


def month(year: int, number: int, now: datetime, months: int = 1) -> Period:
    """So many months from this one. A number beyond 12 or below 1 is a month of another year."""
    return Period(_first(year, number, now), _first(year, number + months, now))


def months_back(now: datetime, back: int) -> Period:
    """The month so many months before."""
    return month(now.year, now.month - back, now)


def year(number: int, now: datetime) -> Period:
    """A whole year."""
    return month(number, 1, now, months=12)


def named(
    now: datetime,
    year_: int | None,
    *,
    month_: int | None = None,
    day_: int | None = None,
    season: str | None = None,
    last: bool = False,
) -> list[Period]:
    """A day of a month, a month or a season of a year.

    Without a year it is that of each of the last years, as far as it has begun; the `last` one is over.
    A winter belongs to the year in which it begins. A day that the calendar does not have is no time.
    """

    def of_year(number: int) -> list[Period]:
        if season is not None:
            return [month(number, SEASONS[season], now, months=3)]
        if month_ is None:
            return [year(number, now)]
        return [month(number, month_, now)] if day_ is None else _date(number, month_, day_, now)

    if year_ is not None:
        return of_year(year_)
    years = range(now.year, max(now.year - RECURRENCES, 1), -1)
    there_were = [one for number in years for one in of_year(number) if one.start <= now]
    return [one for one in there_were if one.end <= now][:1] if last else there_were


def _date(year_: int, month_: int, day_: int, now: datetime) -> list[Period]:
    try:
        return [day(now.replace(year=year_, month=month_, day=day_))]
    except ValueError:
        return []


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def _first(year_: int, month_: int, now: datetime) -> datetime:
    years, number = divmod(month_ - 1, 12)
    return _midnight(now).replace(year=min(max(year_ + years, 1), 9_999), month=number + 1, day=1)
