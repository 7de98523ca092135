"""Periods: days, weeks, months, seasons and years, relative to a moment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

RECURRENCES = 12
"""A month without a year refers to each of this many years."""
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
"""The month in which each season begins."""
_WEEK = 7
_SOME_DAYS = {"day": (2, 6), "week": (14, 34), "month": (61, 184), "year": (731, 2_191), "lately": (2, 45)}
"""From how many to how many days "a few days ago" and the like may mean."""
_SATURDAY = 5


class Period(NamedTuple):
    """A half-open interval: `start` is inside, `end` is not."""

    start: datetime
    end: datetime


Resolve = Callable[[re.Match[str], datetime], Iterable[Period]]
"""Turns a match into the periods that it refers to, relative to a moment."""


class Rule(NamedTuple):
    """A pattern for time expressions, and how to resolve a match.

    `is_relative` marks expressions that count from the moment of asking (어제, two weeks ago). The text of
    that day does not contain those words, so they are not search terms.
    """

    pattern: re.Pattern[str]
    resolve: Resolve
    is_relative: bool = False


def day(now: datetime, back: int = 0) -> Period:
    """The day `back` days before `now`."""
    start = _midnight(now) - timedelta(days=back)
    return Period(start, start + timedelta(days=1))


def week(now: datetime, back: int = 0) -> Period:
    """The week, from Monday, `back` weeks before `now`."""
    start = _midnight(now) - timedelta(days=now.weekday() + _WEEK * back)
    return Period(start, start + timedelta(days=_WEEK))


def weekend(now: datetime, back: int = 0) -> Period:
    """Saturday and Sunday of the week `back` weeks before `now`."""
    monday, end = week(now, back)
    return Period(monday + timedelta(days=_SATURDAY), end)


def weekday(now: datetime, number: int, back: int | None = None) -> Period:
    """A day of the week (0 is Monday), `back` weeks before `now`, or else the last one before today."""
    if back is None:
        return day(now, (now.weekday() - number - 1) % _WEEK + 1)
    return day(week(now, back).start + timedelta(days=number))


def month(year: int, number: int, now: datetime, months: int = 1) -> Period:
    """A period of whole months. A number above 12 or below 1 is a month of another year."""
    return Period(_first(year, number, now), _first(year, number + months, now))


def months_back(now: datetime, back: int) -> Period:
    """The month `back` months before `now`."""
    return month(now.year, now.month - back, now)


def month_ago(now: datetime, back: int) -> Period:
    """The month `back` months before `now`. Near its beginning or end also the week around that day."""
    whole = months_back(now, back)
    last_day = (whole.end - timedelta(days=1)).day
    same_day = whole.start + timedelta(days=min(now.day, last_day) - 1)
    week_before, week_after = same_day - timedelta(days=_WEEK), same_day + timedelta(days=_WEEK + 1)
    return Period(min(whole.start, week_before), max(whole.end, week_after))


def some_ago(now: datetime, unit: str) -> Period:
    """A few days, weeks, months or years before `now`: 며칠 전, a few weeks ago."""
    nearest, farthest = _SOME_DAYS[unit]
    return Period(day(now, farthest).start, day(now, nearest).end)


def year(number: int, now: datetime) -> Period:
    """A whole year."""
    return month(number, 1, now, months=12)


def dated(
    now: datetime,
    year_: int | None,
    *,
    month_: int | None = None,
    day_: int | None = None,
    season: str | None = None,
    last: bool = False,
) -> list[Period]:
    """A year, a season, a month or a day of the calendar.

    Without a year: that of each recent year, as far as it has begun. `last` gives only the latest that has
    ended. A winter belongs to the year in which it begins. A day that does not exist (30 February) gives no
    period.
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
    begun = [period for number in years for period in of_year(number) if period.start <= now]
    return [period for period in begun if period.end <= now][:1] if last else begun


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
