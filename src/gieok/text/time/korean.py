"""Korean time expressions: 어제, 지난주 월요일, 작년 여름, 사흘 전, 2023년 5월 8일."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from gieok.text.time import calendar
from gieok.text.time.calendar import Period, Rule

_DAYS_BACK = {
    "그끄저께": 3,
    "엊그저께": 2,
    "그저께": 2,
    "엊그제": 2,
    "그제": 2,
    "어젯밤": 1,
    "어제": 1,
    "오늘": 0,
}
_DAYS = {"하루": 1, "이틀": 2, "사흘": 3, "나흘": 4, "닷새": 5, "엿새": 6, "열흘": 10, "보름": 15}
_COUNTS = {
    "일": 1, "이": 2, "삼": 3, "한": 1, "두": 2, "세": 3, "석": 3, "네": 4, "넉": 4, "다섯": 5, "여섯": 6,
    "일곱": 7, "여덟": 8, "아홉": 9, "열": 10,
}  # fmt: skip
_SOME = {
    "며칠": "day",
    "몇일": "day",
    "몇주": "week",
    "몇달": "month",
    "몇개월": "month",
    "몇년": "year",
    "얼마": "lately",
}
_YEARS_BACK = {"재작년": 2, "작년": 1, "지난해": 1, "저번해": 1, "올해": 0, "금년": 0, "올": 0}
_WEEKS_BACK = {"지지난": 2, "저저번": 2, "지난": 1, "저번": 1, "이번": 0, "요번": 0}
_SEASONS = {"봄": "spring", "여름": "summer", "가을": "autumn", "겨울": "winter"}
_WEEKDAYS = "월화수목금토일"

_YEAR = rf"(?:(?P<year>(?:19|20)\d\d) ?년도? ?|(?P<past>{'|'.join(_YEARS_BACK)}) ?)"
_MONTH = r"(?<!\d)(?P<month>1[0-2]|0?[1-9]) ?월(?!요일)"
_BACK = f"(?P<back>{'|'.join(_WEEKS_BACK)}) ?"
_LAST = "(?:(?P<last>지난|저번) ?)?"
_DAY = r" ?(?P<day>[0-3]?\d) ?일"


def _date(match: re.Match[str], now: datetime) -> Iterable[Period]:
    """A year, month, day or season: the groups that matched."""
    groups = match.groupdict()
    year = int(groups["year"]) if groups.get("year") else None
    if groups.get("past"):
        year = now.year - _YEARS_BACK[groups["past"]]
    return calendar.dated(
        now,
        year,
        month_=int(groups["month"]) if groups.get("month") else None,
        day_=int(groups["day"]) if groups.get("day") else None,
        season=_SEASONS[groups["season"]] if groups.get("season") else None,
        last=bool(groups.get("last")),
    )


def _ago(match: re.Match[str], now: datetime) -> Iterable[Period]:
    count = _COUNTS.get(match["count"]) or int(match["count"])
    unit = match["unit"]
    if unit == "일":
        return [calendar.day(now, count)]
    if unit.startswith("주"):
        return [calendar.week(now, count)]
    if unit in ("년", "해"):
        return [calendar.year(now.year - count, now)]
    return [calendar.month_ago(now, count)]


def _week(match: re.Match[str], now: datetime) -> Iterable[Period]:
    back = _WEEKS_BACK[match["back"]]
    if match["weekday"]:
        return [calendar.weekday(now, _WEEKDAYS.index(match["weekday"]), back)]
    return [calendar.weekend(now, back) if match["end"] else calendar.week(now, back)]


def _weekday(match: re.Match[str], now: datetime) -> Iterable[Period]:
    return [calendar.weekday(now, _WEEKDAYS.index(match["weekday"]))]


def _relative_month(match: re.Match[str], now: datetime) -> Iterable[Period]:
    return [calendar.months_back(now, _WEEKS_BACK[match["back"]])]


def _relative_day(match: re.Match[str], now: datetime) -> Iterable[Period]:
    return [calendar.day(now, _DAYS_BACK[match[0]])]


def _days_ago(match: re.Match[str], now: datetime) -> Iterable[Period]:
    return [calendar.day(now, _DAYS[match["days"]])]


def _some_ago(match: re.Match[str], now: datetime) -> Iterable[Period]:
    return [calendar.some_ago(now, _SOME[match["some"].replace(" ", "")])]


_SEASON = f"(?P<season>{'|'.join(_SEASONS)})"
_UNIT = "(?P<unit>일|주일?|달|개월|년|해)"

RULES: tuple[Rule, ...] = (
    Rule(re.compile(_YEAR + _MONTH + _DAY), _date),
    Rule(re.compile(_LAST + _MONTH + _DAY), _date),
    Rule(re.compile(_YEAR + _MONTH), _date),
    Rule(re.compile(_LAST + _MONTH), _date),
    Rule(re.compile(_YEAR + _SEASON), _date),
    Rule(re.compile(rf"{_LAST}(?<![가-힣]){_SEASON}(?:철|방학)?(?=에|의|[은이] |동안| |$)"), _date),
    Rule(
        re.compile("(?P<some>며칠|몇 ?일|몇 ?주|몇 ?달|몇 ?개월|몇 ?년|얼마) ?전"),
        _some_ago,
        is_relative=True,
    ),
    Rule(re.compile(f"(?P<days>{'|'.join(_DAYS)}) ?전"), _days_ago, is_relative=True),
    Rule(re.compile(rf"(?P<count>\d{{1,3}}|{'|'.join(_COUNTS)}) ?{_UNIT} ?전"), _ago, is_relative=True),
    Rule(
        re.compile(_BACK + "주 ?(?:(?P<end>말)|(?P<weekday>[월화수목금토일])요일)?"), _week, is_relative=True
    ),
    Rule(re.compile(_LAST + "(?P<weekday>[월화수목금토일])요일"), _weekday),
    Rule(re.compile(_BACK + "달"), _relative_month, is_relative=True),
    Rule(re.compile(_YEAR.replace("올)", "올(?=에|의| |$))")), _date),
    Rule(re.compile("|".join(_DAYS_BACK)), _relative_day, is_relative=True),
)
