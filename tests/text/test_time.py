"""Time expressions, as of Wednesday, 13 March 2024."""

from __future__ import annotations

from datetime import UTC, datetime
from time import perf_counter
from zoneinfo import ZoneInfo

import pytest

from gieok.text import time_mentions

NOW = datetime(2024, 3, 13, 10, 30, tzinfo=UTC)


def periods(text: str) -> list[str]:
    """Each period as its start and end day, the latest first."""
    return [f"{period.start:%Y-%m-%d} {period.end:%Y-%m-%d}" for period in time_mentions(text, NOW).periods]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("어제 뭐 먹었지?", "2024-03-12", "2024-03-13"),
        ("그저께 본 영화", "2024-03-11", "2024-03-12"),
        ("지난주에 뭐 했어?", "2024-03-04", "2024-03-11"),
        ("저번 주 금요일에 만난 사람", "2024-03-08", "2024-03-09"),
        ("지난 주말에 간 곳", "2024-03-09", "2024-03-11"),
        ("월요일에 한 회의", "2024-03-11", "2024-03-12"),
        ("이번 달 목표", "2024-03-01", "2024-04-01"),
        ("지난달에 산 것", "2024-02-01", "2024-03-01"),
        ("사흘 전에 다친 곳", "2024-03-10", "2024-03-11"),
        ("2주 전 약속", "2024-02-26", "2024-03-04"),
        ("세 달 전에 시작한 운동", "2023-12-01", "2024-01-01"),
        ("작년에 다닌 회사", "2023-01-01", "2024-01-01"),
        ("작년 여름에 간 바다", "2023-06-01", "2023-09-01"),
        ("재작년 겨울", "2022-12-01", "2023-03-01"),
        ("지난 가을의 여행", "2023-09-01", "2023-12-01"),
        ("2023년 5월 8일에 있던 일", "2023-05-08", "2023-05-09"),
        ("2023년 5월에 있던 일", "2023-05-01", "2023-06-01"),
        ("2021년에 있던 일", "2021-01-01", "2022-01-01"),
        ("What did I eat yesterday?", "2024-03-12", "2024-03-13"),
        ("the day before yesterday", "2024-03-11", "2024-03-12"),
        ("what happened last week", "2024-03-04", "2024-03-11"),
        ("last weekend", "2024-03-09", "2024-03-11"),
        ("Who did I meet last Friday?", "2024-03-08", "2024-03-09"),
        ("two weeks ago", "2024-02-26", "2024-03-04"),
        ("a few days ago", "2024-03-07", "2024-03-12"),
        ("며칠 전에 본 영화", "2024-03-07", "2024-03-12"),
        ("몇 주 전에", "2024-02-08", "2024-02-29"),
        ("the other day", "2024-03-07", "2024-03-12"),
        ("a month ago", "2024-02-01", "2024-03-01"),
        ("한 달 전에", "2024-02-01", "2024-03-01"),
        ("19.01.2024", "2024-01-19", "2024-01-20"),
        ("on 19/01/2024?", "2024-01-19", "2024-01-20"),
        ("01/19/2024", "2024-01-19", "2024-01-20"),
        ("2024. 1. 19에", "2024-01-19", "2024-01-20"),
        ("지난 1월 19일에", "2024-01-19", "2024-01-20"),
        ("지난 설날에 뭐 먹었지", "2024-02-09", "2024-02-12"),
        ("작년 추석에 만난 사람", "2023-09-28", "2023-10-01"),
        ("2022년 추석", "2022-09-09", "2022-09-12"),
        ("작년 어린이날", "2023-05-05", "2023-05-06"),
        ("2019년 광복절에", "2019-08-15", "2019-08-16"),
        ("last Christmas", "2023-12-25", "2023-12-26"),
        ("Christmas Eve 2021", "2021-12-24", "2021-12-25"),
        ("작년 크리스마스 이브", "2023-12-24", "2023-12-25"),
        ("Halloween 2020", "2020-10-31", "2020-11-01"),
        ("last Thanksgiving", "2023-11-23", "2023-11-24"),
        ("Easter 2019", "2019-04-21", "2019-04-22"),
        ("부처님 오신 날 2023", "2023-05-27", "2023-05-28"),
        ("3 months ago", "2023-12-01", "2024-01-01"),
        ("this year", "2024-01-01", "2025-01-01"),
        ("last summer", "2023-06-01", "2023-09-01"),
        ("summer of 2022", "2022-06-01", "2022-09-01"),
        ("May 8, 2023", "2023-05-08", "2023-05-09"),
        ("on 8th of May 2023", "2023-05-08", "2023-05-09"),
        ("in May 2023", "2023-05-01", "2023-06-01"),
        ("2023-05-08", "2023-05-08", "2023-05-09"),
        ("back in 2022", "2022-01-01", "2023-01-01"),
        ("last December", "2023-12-01", "2024-01-01"),
    ],
)
def test_a_time_expression_gives_one_period(text: str, start: str, end: str) -> None:
    assert periods(text) == [f"{start} {end}"]


@pytest.mark.parametrize(
    ("text", "latest", "before"),
    [
        ("5월에 뭐 했지", "2023-05-01 2023-06-01", "2022-05-01 2022-06-01"),
        ("What did I do in May?", "2023-05-01 2023-06-01", "2022-05-01 2022-06-01"),
        ("3월 1일에 뭐 했지", "2024-03-01 2024-03-02", "2023-03-01 2023-03-02"),
        ("during the winter", "2023-12-01 2024-03-01", "2022-12-01 2023-03-01"),
        ("여름에 먹은 것", "2023-06-01 2023-09-01", "2022-06-01 2022-09-01"),
    ],
)
def test_without_a_year_every_past_year_is_meant(text: str, latest: str, before: str) -> None:
    assert periods(text)[:2] == [latest, before]


@pytest.mark.parametrize(
    "text",
    [
        "may I ask you something",
        "오전에 말한 것",
        "전에 말한 것",
        "2월 30일",
        "",
        "march on",
        "새해가 밝았다",
        "봄이는 고양이야",
    ],
)
def test_text_without_a_time_expression(text: str) -> None:
    assert periods(text) == []


def test_the_first_day_of_a_month_ago_is_near_the_month_before() -> None:
    """A month before 2 March is 2 February, and 30 January is near it."""
    (period,) = time_mentions("a month ago", datetime(2024, 3, 2, 9, tzinfo=UTC)).periods
    assert (f"{period.start:%m-%d}", f"{period.end:%m-%d}") == ("01-26", "03-01")


def test_a_date_with_slashes_may_be_in_either_order() -> None:
    assert set(periods("02/03/2023")) == {"2023-03-02 2023-03-03", "2023-02-03 2023-02-04"}
    assert periods("02.03.2023") == ["2023-03-02 2023-03-03"]


def test_a_holiday_without_a_year_is_that_of_each_year_so_far() -> None:
    assert periods("설날에")[:2] == ["2024-02-09 2024-02-12", "2023-01-21 2023-01-24"]
    assert periods("at Christmas")[:2] == ["2023-12-25 2023-12-26", "2022-12-25 2022-12-26"]


def test_days_are_those_of_the_timezone_of_now() -> None:
    seoul = datetime(2024, 3, 13, 0, 30, tzinfo=ZoneInfo("Asia/Seoul"))
    (period,) = time_mentions("어제", seoul).periods
    assert period.start.isoformat() == "2024-03-12T00:00:00+09:00"


def test_two_time_expressions() -> None:
    assert set(periods("어제랑 지난달에")) == {"2024-03-12 2024-03-13", "2024-02-01 2024-03-01"}


@pytest.mark.parametrize(
    "text", ["999년 전", "999 years ago", "999 weeks ago", "지난 " * 5_000, "1월" * 5_000]
)
def test_extreme_input(text: str) -> None:
    """Long texts are fast, and large counts stay inside the calendar."""
    started = perf_counter()
    assert all(period.start < period.end for period in time_mentions(text, NOW).periods)
    assert perf_counter() - started < 30


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("지난주에 만난 사람", "에 만난 사람"),
        ("who did I meet two weeks ago?", "who did I meet ?"),
        ("in May I moved", "in May I moved"),
        ("여름휴가로 간 바다", "여름휴가로 간 바다"),
    ],
)
def test_relative_expressions_are_not_search_terms(text: str, rest: str) -> None:
    assert " ".join(time_mentions(text, NOW).rest.split()) == rest
