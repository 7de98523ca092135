"""Merging observations with the known facts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import pytest

from gieok.memory.canon.merging import Exchange, consolidate, merge, merge_edit, short_ids
from gieok.memory.canon.records import Fact, FactDraft, FactSource, PlannedChange
from gieok.memory.canon.validity import ValidityDays
from gieok.memory.observations import Category, Observation

pytestmark = pytest.mark.req("MIND-6")

DAYS = ValidityDays(appointment=7, illness=10, mood=1)
SAID = FactSource(session_ref="s1", message_id="m1")
REPLIED = FactSource(session_ref="s1", message_id="m2")
TODAY = date(2026, 3, 5)


def _fact(number: int, key: str, value: str, category: Category = Category.OTHER, **more: Any) -> Fact:
    at = datetime(2026, 3, 1, 0, number, tzinfo=UTC)
    fields: dict[str, Any] = {"importance": 5, "provenance": "user", "version": 1, "valid_from": at} | more
    return Fact(root_id=UUID(int=number), category=category, key=key, value=value, **fields)


def _seen(key: str, value: str, category: Category = Category.OTHER, **more: Any) -> Observation:
    fields: dict[str, Any] = {"turn": 1, "op": "add", "quote": value, "importance": 5} | more
    return Observation(category=category, key=key, value=value, **fields)


def _merge(known: Sequence[Fact], *seen: Observation) -> tuple[PlannedChange, ...]:
    exchange = Exchange(day=TODAY, user=SAID, assistant=REPLIED)
    return merge(known, seen, [exchange], ids=short_ids(known), days=DAYS)


def _outcomes(changes: Sequence[PlannedChange]) -> list[tuple[str, int | None]]:
    return [(change.outcome, change.root_id.int if change.root_id else None) for change in changes]


def test_a_new_slot_is_a_new_fact_with_its_source() -> None:
    (change,) = _merge([], _seen("job", "간호사"))
    assert change.outcome == "added"
    assert change.draft is not None
    assert (change.draft.source, change.draft.provenance, change.expected_version) == (SAID, "user", 0)


def test_a_fact_that_the_assistant_concluded_leads_to_its_reply() -> None:
    (change,) = _merge([], _seen("promise", "매일 물어보기로 약속", says="assistant", subject="character"))
    assert change.draft is not None
    assert (change.draft.source, change.draft.provenance) == (REPLIED, "model")


@pytest.mark.parametrize("key", ["partner", "남친", "boyfriend", "여자친구", "연애 상태"])
@pytest.mark.parametrize("category", [Category.EVENT, Category.PERSONAL_INFO, Category.RELATIONSHIP])
def test_one_slot_has_one_value_under_any_key_and_category(key: str, category: Category) -> None:
    known = _fact(1, "boyfriend", "지훈과 사귀는 중", Category.RELATIONSHIP)
    (change,) = _merge([known], _seen(key, "지훈과 헤어짐", category))
    assert _outcomes([change]) == [("superseded", 1)]
    assert change.draft is not None
    stays_state = Category.RELATIONSHIP if category is Category.PERSONAL_INFO else category
    assert (change.draft.category, change.draft.value) == (stays_state, "지훈과 헤어짐")


def test_the_same_value_again_changes_nothing() -> None:
    known = _fact(1, "home", "부산에 거주")
    assert _outcomes(_merge([known], _seen("사는 곳", "부산에  거주.", importance=9))) == [("unchanged", 1)]


def test_another_date_is_news() -> None:
    known = _fact(1, "dentist", "치과 방문", Category.EVENT, when=date(2026, 3, 9), until=date(2026, 3, 9))
    seen = _seen("dentist", "치과 방문", Category.EVENT, when=date(2026, 3, 12))
    (change,) = _merge([known], seen)
    assert change.outcome == "superseded"
    assert change.draft is not None
    assert change.draft.until == date(2026, 3, 12)


def test_a_near_same_value_under_another_key_is_an_update() -> None:
    known = _fact(1, "cafe shift", "works Saturday mornings at the Fourth Bean cafe")
    seen = _seen("weekend duty", "works Saturday mornings at Fourth Bean cafe downtown")
    assert _outcomes(_merge([known], seen)) == [("superseded", 1)]


def test_the_same_place_in_two_slots_is_two_facts() -> None:
    known = _fact(1, "hometown", "부산 해운대")
    assert _merge([known], _seen("home", "부산 해운대"))[0].outcome == "added"


@pytest.mark.parametrize("op", ["update", "retire"])
def test_an_id_counts_more_than_key_category_and_subject(op: str) -> None:
    known = [_fact(1, "job", "간호사"), _fact(2, "trip", "후쿠오카 여행", Category.GOAL)]
    seen = _seen("job", "경주 당일치기", Category.OPINION, op=op, id="F2", subject="person:소영")
    (change,) = _merge(known, seen)
    assert _outcomes([change]) == [("superseded" if op == "update" else "retired", 2)]
    assert change.draft is not None
    assert (change.draft.key, change.draft.subject) == ("trip", "user")


def test_an_unknown_id_counts_as_not_given() -> None:
    known = [_fact(1, "job", "간호사")]
    assert _outcomes(_merge(known, _seen("직업", "교사", op="update", id="F9"))) == [("superseded", 1)]


def test_things_of_a_plural_slot_stand_beside_each_other() -> None:
    known = [_fact(1, "pet", "고양이 두부, 8세"), _fact(2, "allergy", "복숭아 알레르기")]
    changes = _merge(
        known,
        _seen("고양이", "두부가 9세가 됨"),
        _seen("강아지", "강아지 콩이를 입양함"),
        _seen("알러지", "새우 알레르기가 있음"),
        _seen("allergies", "복숭아를 먹으면 목이 부음"),
    )
    assert [change.outcome for change in changes] == ["superseded", "added", "added", "superseded"]
    assert _outcomes(changes)[3] == ("superseded", 2)


def test_liking_and_disliking_the_same_thing_is_one_fact() -> None:
    known = [_fact(1, "likes", "민트초코를 좋아함"), _fact(2, "likes", "떡볶이를 좋아함")]
    assert _outcomes(_merge(known, _seen("싫어하는 음식", "민트초코를 싫어함"))) == [("superseded", 1)]


def test_a_reached_goal_becomes_an_event_in_its_chain() -> None:
    known = _fact(1, "TEAS exam", "wants to pass the TEAS exam", Category.GOAL)
    for category in (Category.EVENT, Category.GOAL):
        (change,) = _merge([known], _seen("TEAS exam", "passed the TEAS", category, op="update", id="F1"))
        assert _outcomes([change]) == [("superseded", 1)]
        assert change.draft is not None
        assert change.draft.category is Category.EVENT


def test_a_failed_goal_stays_a_goal() -> None:
    known = _fact(1, "자격증", "정보처리기사 합격 목표", Category.GOAL)
    (change,) = _merge([known], _seen("자격증", "정보처리기사 불합격", Category.GOAL, op="update", id="F1"))
    assert change.draft is not None
    assert change.draft.category is Category.GOAL


def test_a_goal_leaves_what_is_true_and_reaching_it_ends_both() -> None:
    known = [_fact(1, "job", "works at a cafe"), _fact(2, "job", "wants to become a nurse", Category.GOAL)]
    assert _outcomes(_merge(known[:1], _seen("job", "wants to be a nurse", Category.GOAL)))[0][0] == "added"
    changes = _merge(known, _seen("occupation", "works as a nurse"))
    assert _outcomes(changes) == [("superseded", 1), ("retired", 2)]


def test_facts_of_one_answer_meet_each_other() -> None:
    changes = _merge([], _seen("partner", "지훈과 사귀는 중"), _seen("남자친구", "지훈과 헤어짐"))
    assert [change.outcome for change in changes] == ["added", "superseded"]
    assert changes[0].root_id == changes[1].root_id
    assert [change.expected_version for change in changes] == [0, 1]


def test_a_retirement_without_id_finds_its_fact_by_its_words() -> None:
    known = [_fact(1, "건강", "감기에 걸려 목이 쉼"), _fact(2, "낚시", "영흥도로 낚시를 다님")]
    assert _outcomes(_merge(known, _seen("회복", "감기가 나았다", op="retire"))) == [("retired", 1)]
    assert _outcomes(_merge(known, _seen("전공", "심리학", op="retire"))) == [("unknown", None)]


def test_an_update_of_something_unknown_adds_it() -> None:
    assert _merge([], _seen("job", "교사", op="update"))[0].outcome == "added"


def test_appointments_under_a_general_key_are_told_apart() -> None:
    known = _fact(1, "약속", "왼쪽 눈 수술", Category.EVENT, when=date(2026, 3, 9))
    other = _seen("약속", "오른쪽 눈 수술", Category.EVENT, when=date(2026, 4, 9))
    assert _merge([known], other)[0].outcome == "added"


def test_by_hand_a_key_supersedes_the_fact_with_that_key() -> None:
    known = [_fact(1, "pet", "고양이 두부"), _fact(2, "partner", "지훈과 사귀는 중")]
    draft = FactDraft(
        category=Category.OTHER, key="pet", value="강아지 콩이", importance=5, provenance="hand"
    )
    assert _outcomes(merge_edit(known, draft)) == [("superseded", 1)]
    renamed = draft.model_copy(update={"key": "여자친구", "value": "없음", "category": Category.RELATIONSHIP})
    (change,) = merge_edit(known, renamed)
    assert (change.outcome, change.draft) == ("superseded", renamed)
    assert merge_edit([_fact(1, "pet", "강아지 콩이", provenance="hand")], draft)[0].outcome == "unchanged"


def test_old_facts_in_one_slot_leave_the_newest() -> None:
    known = [
        _fact(1, "boyfriend", "지훈과 사귀는 중", Category.RELATIONSHIP),
        _fact(2, "partner", "헤어짐", Category.EVENT),
        _fact(3, "pet", "고양이 두부"),
        _fact(4, "pet", "강아지 콩이"),
    ]
    assert _outcomes(consolidate(known)) == [("retired", 1)]
