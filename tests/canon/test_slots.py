"""Slots: one thing has one slot, whatever key, category or language is used for it."""

from __future__ import annotations

import pytest

from gieok.memory.canon.slots import ALIASES, SINGLE, Arity, Slot, same_subject, slot_of
from gieok.memory.observations import Category

pytestmark = pytest.mark.req("MIND-6")


def _slot(key: str, subject: str = "user", category: Category = Category.OTHER) -> Slot:
    return slot_of(subject, category, key)


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        (
            "partner",
            "partner|연인|남친|boyfriend|Boyfriend's name|boyfriendName|여자친구 이름|현재 연애 상태|배우자",
        ),
        ("home", "home|사는 곳|사는곳|거주지|lives_in|current city|내 집|사용자의 거주지"),
        ("job", "job|직업|occupation|workPlace|다니는 회사|new job|현재 직장|Job status"),
        ("age", "age|나이|How old|사용자 나이"),
        ("birthday", "birthday|생일|date-of-birth|생년월일"),
        ("name", "name|이름|full_name|본명"),
        ("school", "school|학교|university|다니는 학교"),
    ],
)
def test_aliases_of_both_languages_are_one_slot(name: str, keys: str) -> None:
    assert {_slot(key).name for key in keys.split("|")} == {name}


def test_every_alias_belongs_to_one_slot() -> None:
    """An alias in two slots would make one of them unreachable."""
    spellings = [
        (alias.strip().replace(" ", ""), name)
        for name, aliases in ALIASES.items()
        for alias in aliases.split(",")
    ]
    owners: dict[str, set[str]] = {}
    for spelling, name in spellings:
        owners.setdefault(spelling, set()).add(name)
    assert {spelling: names for spelling, names in owners.items() if len(names) > 1} == {}


def test_the_category_does_not_change_a_slot() -> None:
    categories = [category for category in Category if category is not Category.GOAL]
    assert len({_slot("boyfriend", category=category) for category in categories}) == 1


def test_a_goal_does_not_compete_with_what_is_true() -> None:
    assert _slot("job", category=Category.GOAL) != _slot("job")
    assert _slot("favourite mountain", category=Category.GOAL) == _slot("favourite mountain")


@pytest.mark.parametrize(
    "subject", ["person:엄마", "person:Mom", "person:어머니", "person:my mother", "person:MOTHER"]
)
def test_a_person_has_one_subject_in_both_languages(subject: str) -> None:
    assert same_subject(subject) == "person:mother"


def test_named_people_stay_apart() -> None:
    assert same_subject("person:지연 씨") == same_subject("person:지연") != same_subject("person:소영")


@pytest.mark.parametrize("key", ["mother_job", "어머니 직업", "mother's job", "엄마의 직업"])
def test_a_relation_in_the_key_is_the_subject(key: str) -> None:
    assert _slot(key) == _slot("job", "person:mother") == _slot("mother_job", "person:엄마")


def test_the_partner_of_somebody_else_is_not_the_users() -> None:
    assert _slot("wife", "person:Gaz") != _slot("wife")
    assert _slot("wife", "person:아내") == _slot("wife")


def test_plural_slots_keep_the_thing_of_the_key() -> None:
    assert _slot("peach allergy") == Slot("user", "allergy", Arity.THINGS, thing="peach")
    assert _slot("복숭아 알레르기").thing == "복숭아"
    assert _slot("pet").arity is Arity.THINGS


def test_a_key_that_says_nothing_is_no_slot() -> None:
    assert {_slot(key).arity for key in ("note", "메모", "info_3", "기타", "fact 12", "정보")} == {
        Arity.NOTES
    }


def test_a_key_outside_the_tables_is_its_own_single_slot() -> None:
    assert _slot("Lucky_number") == _slot("lucky number") == Slot("user", "lucky number", Arity.SINGLE)
    assert "lucky number" not in SINGLE
