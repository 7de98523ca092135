"""How long facts are current."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import pytest

from gieok.errors import InputRefused
from gieok.memory.canon.records import Fact, FactDraft
from gieok.memory.canon.validity import ValidityDays, is_past, standing, with_validity
from gieok.memory.observations import Category
from gieok.memory.profile import day_of

pytestmark = pytest.mark.req("MIND-7")

DAYS = ValidityDays(appointment=7, illness=10, mood=1)
SAID_ON = date(2026, 3, 5)


def _draft(key: str, value: str, category: Category = Category.EVENT, **more: Any) -> FactDraft:
    return FactDraft(category=category, key=key, value=value, importance=5, provenance="user", **more)


def _until(draft: FactDraft) -> date | None:
    return with_validity(draft, SAID_ON, DAYS).until


@pytest.mark.parametrize(
    ("draft", "until"),
    [
        (_draft("interview", "IT 스타트업 면접", when=date(2026, 3, 6)), date(2026, 3, 6)),
        (_draft("면접", "2026-03-06 IT 스타트업 면접"), date(2026, 3, 6)),
        (_draft("dentist", "dentist appointment", when=date(2026, 3, 6)), date(2026, 3, 6)),
        (_draft("면접", "내일 면접"), date(2026, 3, 12)),
        (_draft("health", "감기에 걸림"), date(2026, 3, 15)),
        (_draft("cold", "lost her voice", Category.PERSONAL_INFO), date(2026, 3, 15)),
        (_draft("health", "down with the flu", when=date(2026, 3, 4)), date(2026, 3, 15)),
        (_draft("기분", "우울함", Category.OTHER), date(2026, 3, 6)),
        (_draft("mood", "happy", Category.OPINION), date(2026, 3, 6)),
    ],
)
def test_the_kind_decides_where_no_end_is_given(draft: FactDraft, until: date) -> None:
    assert _until(draft) == until


@pytest.mark.parametrize(
    "draft",
    [
        _draft("exam", "passed the exam", when=date(2026, 3, 1)),  # it had happened when it was said
        _draft("health", "통풍이 있음", Category.PERSONAL_INFO),
        _draft("migraine", "gets migraines", Category.PERSONAL_INFO),
        _draft("partner", "지훈과 사귀는 중", Category.RELATIONSHIP, when=date(2026, 3, 6)),
        _draft("coffee", "likes cold brew", Category.PREFERENCE),
        _draft("job", "starts at the hospital", Category.PERSONAL_INFO, when=date(2026, 4, 1)),
    ],
)
def test_what_lasts_has_no_end(draft: FactDraft) -> None:
    assert _until(draft) is None


def test_a_given_end_counts() -> None:
    assert _until(_draft("trip", "여행", when=date(2026, 4, 1), until=date(2026, 4, 5))) == date(2026, 4, 5)


def _fact(until: date | None) -> Fact:
    draft = _draft("trip", "여행", until=until)
    at = datetime(2026, 3, 1, tzinfo=UTC)
    return Fact(**vars(draft), root_id=UUID(int=1), version=1, valid_from=at)


def test_a_fact_is_current_on_its_last_day_then_past_then_gone() -> None:
    fact = _fact(date(2026, 3, 6))
    assert standing([fact], date(2026, 3, 6), 14).current == (fact,)
    assert standing([fact], date(2026, 3, 7), 14).past == (fact,)
    assert standing([fact], date(2026, 3, 20), 14).past == (fact,)
    last = standing([fact], date(2026, 3, 21), 14)
    assert (last.current, last.past) == ((), ())
    assert not is_past(_fact(None), date(2100, 1, 1))


def test_days_are_days_of_the_timezone() -> None:
    at = datetime(2026, 3, 5, 16, 0, tzinfo=UTC)
    assert day_of(at, "Asia/Seoul") == date(2026, 3, 6)
    assert day_of(at, "America/Los_Angeles") == date(2026, 3, 5)


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../etc/passwd", "Asia", "UTC+9\x00"])
def test_an_unknown_timezone_is_refused(name: str) -> None:
    with pytest.raises(InputRefused, match="IANA"):
        day_of(datetime(2026, 3, 5, tzinfo=UTC), name)
