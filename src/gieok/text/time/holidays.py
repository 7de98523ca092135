"""Holidays and their days of each year: 설날, 추석, 어린이날, Christmas, Halloween, Thanksgiving."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta

from gieok.text.time.calendar import RECURRENCES, Period, Rule, day

DayOf = Callable[[int], date | None]
"""The day of a holiday in a year; None where it is not known."""


def _fixed(month: int, day_: int) -> DayOf:
    return lambda year: date(year, month, day_)


def _in_table(first_year: int, days: str) -> DayOf:
    """Holidays of the Korean lunar calendar, as `MMDD` for each year from `first_year`."""
    table = {year: date(year, int(at[:2]), int(at[2:])) for year, at in enumerate(days.split(), first_year)}
    return table.get


def _weekday_of_month(month: int, weekday: int, nth: int) -> DayOf:
    def day_of(year: int) -> date:
        first = date(year, month, 1)
        return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (nth - 1))

    return day_of


def _easter(year: int) -> date:
    """The anonymous Gregorian algorithm."""
    century, of_century = divmod(year, 100)
    epact = (19 * (year % 19) + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (of_century // 4) - epact - of_century % 4) % 7
    late = (year % 19 + 11 * epact + 22 * weekday) // 451
    month, day_ = divmod(epact + weekday - 7 * late + 114, 31)
    return date(year, month, day_ + 1)


_SEOLLAL = _in_table(
    2000,
    "0205 0124 0212 0201 0122 0209 0129 0218 0207 0126 0214 0203 "
    "0123 0210 0131 0219 0208 0128 0216 0205 0125 0212 0201 0122 "
    "0210 0129 0217 0207 0127 0213 0203 0123 0211 0131 0219 0208",
)
_CHUSEOK = _in_table(
    2000,
    "0912 1001 0921 0911 0928 0918 1006 0925 0914 1003 0922 0912 "
    "0930 0919 0908 0927 0915 1004 0924 0913 1001 0921 0910 0929 "
    "0917 1006 0925 0915 1003 0922 0912 1001 0919 0908 0927 0916",
)
_BUDDHAS_BIRTHDAY = _in_table(
    2015, "0525 0514 0503 0522 0512 0430 0519 0508 0527 0515 0505 0524 0513 0502 0520 0509"
)

_AROUND = 1
"""설날 and 추석 are three days: the day before and the day after belong to them."""

_HOLIDAYS: Mapping[str, tuple[DayOf, int]] = {
    "설날|설 ?연휴|구정|lunar new year|korean new year|seollal": (_SEOLLAL, _AROUND),
    "추석(?: ?연휴)?|한가위|chuseok": (_CHUSEOK, _AROUND),
    "부처님 ?오신 ?날|석가탄신일|buddha'?s birthday": (_BUDDHAS_BIRTHDAY, 0),
    "신정|새해 ?첫날|new year'?s day": (_fixed(1, 1), 0),
    "new year'?s eve": (_fixed(12, 31), 0),
    "발렌타인(?: ?데이)?|밸런타인(?: ?데이)?|valentine'?s(?: day)?": (_fixed(2, 14), 0),
    "삼일절|3\\.1절": (_fixed(3, 1), 0),
    "화이트 ?데이": (_fixed(3, 14), 0),
    "만우절|april fools'?(?: day)?": (_fixed(4, 1), 0),
    "easter(?: sunday)?|부활절": (_easter, 0),
    "어린이날|children'?s day": (_fixed(5, 5), 0),
    "어버이날|parents'? day": (_fixed(5, 8), 0),
    "스승의 ?날": (_fixed(5, 15), 0),
    "현충일": (_fixed(6, 6), 0),
    "independence day|(?:the )?fourth of july": (_fixed(7, 4), 0),
    "제헌절": (_fixed(7, 17), 0),
    "광복절|liberation day": (_fixed(8, 15), 0),
    "labou?r day": (_weekday_of_month(9, 0, 1), 0),
    "개천절": (_fixed(10, 3), 0),
    "한글날|hangul day": (_fixed(10, 9), 0),
    "할로윈(?: ?데이)?|핼러윈(?: ?데이)?|halloween": (_fixed(10, 31), 0),
    "빼빼로 ?데이": (_fixed(11, 11), 0),
    "추수 ?감사절|thanksgiving(?: day)?": (_weekday_of_month(11, 3, 4), 0),
    "크리스마스 ?이브|성탄 ?전야|christmas eve|xmas eve": (_fixed(12, 24), 0),
    "크리스마스|성탄절|christmas(?: day)?|xmas": (_fixed(12, 25), 0),
}
"""By the names of a holiday: its day, and how many days around it belong to it."""

_YEARS_BACK = {"재작년": 2, "작년": 1, "지난해": 1, "올해": 0, "금년": 0, "올": 0, "this": 0}
_BEFORE = (
    rf"(?:(?P<year>(?:19|20)\d\d) ?년? ?|(?P<past>{'|'.join(_YEARS_BACK)}) ?"
    "|(?P<last>지난|저번|last|past) ?)?"
)
_AFTER = r"(?:,? (?:of |in )?(?P<year_after>(?:19|20)\d\d)\b)?"


def _rule(names: str, day_of: DayOf, around: int) -> Rule:
    def resolve(match: re.Match[str], now: datetime) -> Iterable[Period]:
        year = match["year"] or match["year_after"]
        if year or match["past"]:
            years = [int(year) if year else now.year - _YEARS_BACK[match["past"].lower()]]
            return _periods(years, day_of, around, now)
        years = range(now.year, max(now.year - RECURRENCES, 1), -1)
        begun = [period for period in _periods(years, day_of, around, now) if period.start <= now]
        return begun[:1] if match["last"] else begun

    edge = r"(?<![A-Za-z])"
    return Rule(re.compile(rf"{edge}{_BEFORE}(?:{names})(?![A-Za-z]){_AFTER}", re.IGNORECASE), resolve)


def _periods(years: Iterable[int], day_of: DayOf, around: int, now: datetime) -> list[Period]:
    periods: list[Period] = []
    for year in years:
        if (at := day_of(year)) is not None:
            first = day(now.replace(year=at.year, month=at.month, day=at.day), around).start
            periods.append(Period(first, first + timedelta(days=2 * around + 1)))
    return periods


RULES: tuple[Rule, ...] = tuple(_rule(names, day_of, around) for names, (day_of, around) in _HOLIDAYS.items())
