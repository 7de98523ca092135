"""Parsing a model's answer: lenient about form, one bad item never costs the others."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.memory.answers import MAX_OBSERVATIONS, parse_remembered
from gieok.memory.observations import MAX_KEY_CHARS, MAX_VALUE_CHARS, Category, Reason

GOOD: dict[str, Any] = {
    "turn": 1,
    "op": "add",
    "id": None,
    "subject": "user",
    "category": "EVENT",
    "key": "interview",
    "value": "2026-03-06 IT 스타트업 면접",
    "quote": "내일 중요한 면접이 있어",
    "says": "user",
    "when": "2026-03-06",
    "until": "2026-03-06",
    "importance": 8,
}


def answer(*items: object, **more: object) -> dict[str, Any]:
    turns = [{"summary": "면접 이야기", "keywords": ["면접", "회사"]}]
    return {"turns": turns, "observations": list(items)} | more


def one(**changed: object) -> Any:
    parsed = parse_remembered(answer(GOOD | changed))
    assert not parsed.refusals
    return parsed.observations[0]


@pytest.mark.req("MIND-4")
def test_a_complete_answer() -> None:
    parsed = parse_remembered(json.dumps(answer(GOOD)))
    assert [(turn.summary, turn.keywords) for turn in parsed.turns] == [("면접 이야기", ("면접", "회사"))]
    assert parsed.observations[0].model_dump(mode="json") == GOOD
    assert parsed.refusals == []


@pytest.mark.parametrize(
    "text",
    [
        "Sure, here it is:\n```json\n{}\n```\nAnything else?",
        "생각해 보면 {{이상한 괄호}} 그래서:\n{} 끝.",
        "[not json {}",
    ],
)
def test_prose_around_the_json_is_skipped(text: str) -> None:
    document = json.dumps(answer(GOOD), ensure_ascii=False)
    parsed = parse_remembered(text.replace("{}", document))
    assert len(parsed.turns) == len(parsed.observations) == 1


def test_an_array_counts_as_observations() -> None:
    parsed = parse_remembered(json.dumps([GOOD]))
    assert (parsed.turns, len(parsed.observations)) == ([], 1)


def test_text_without_json_has_no_turns() -> None:
    assert parse_remembered("I cannot help with that.") == ([], [], [])


@pytest.mark.parametrize(
    "bad", ["broken", 7, None, {"op": "add"}, GOOD | {"quote": ""}, GOOD | {"value": None}]
)
def test_one_bad_item_is_refused_and_the_others_stay(bad: object) -> None:
    parsed = parse_remembered(answer(bad, GOOD))
    assert len(parsed.observations) == 1
    assert [refusal.reason for refusal in parsed.refusals] == [Reason.MALFORMED]


def test_missing_fields_get_defaults() -> None:
    parsed = parse_remembered(answer({"value": "27세", "quote": "나 스물일곱이야"}))
    found = parsed.observations[0]
    assert (found.turn, found.op, found.subject, found.says) == (1, "add", "user", "user")
    assert (found.category, found.key, found.importance) == (Category.OTHER, "other", 5)


def test_a_retirement_needs_no_value() -> None:
    assert one(op="retire", value=None).value == "interview"


@pytest.mark.parametrize(
    ("field", "given_value", "expected"),
    [
        ("category", "Personal info", Category.PERSONAL_INFO),
        ("category", "WEATHER", Category.OTHER),
        ("importance", "9", 9),
        ("importance", 99, 10),
        ("importance", "high", 5),
        ("turn", 0, 1),
        ("turn", "2", 2),
        ("when", "soon", None),
        ("when", "2026-02-30", None),
        ("when", "2026-03-06T10:00:00Z", date(2026, 3, 6)),
        ("subject", "사용자", "user"),
        ("subject", "assistant", "character"),
        ("subject", "Lucia", "person:Lucia"),
        ("subject", "person: Lucia", "person:Lucia"),
        ("says", "character", "assistant"),
        ("says", None, "user"),
        ("op", "delete", "retire"),
        ("id", "F3", "F3"),
        ("quote", ["나 면접", "있어"], "나 면접 … 있어"),
    ],
)
def test_fields_are_normalised(field: str, given_value: object, expected: object) -> None:
    assert getattr(one(**{field: given_value}), field) == expected


def test_an_id_without_an_operation_is_an_update() -> None:
    assert one(op=None, id="F2").op == "update"


def test_long_texts_are_cut_at_a_word() -> None:
    found = one(value="word " * 400, key="k" * 500)
    assert len(found.value) <= MAX_VALUE_CHARS
    assert found.value.endswith("word")
    assert len(found.key) == MAX_KEY_CHARS


def test_the_number_of_observations_is_limited() -> None:
    assert len(parse_remembered(answer(*[GOOD] * 500)).observations) == MAX_OBSERVATIONS


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*GOOD, "x"]), inner, max_size=6)
    ),
    max_leaves=20,
)


@given(st.lists(_json, max_size=5), _json)
def test_any_json_is_parsed_without_an_error(observations: list[Any], turns: Any) -> None:
    parsed = parse_remembered({"turns": turns, "observations": observations})
    assert len(parsed.observations) + len(parsed.refusals) == len(observations)


@given(st.text(max_size=200))
def test_any_text_is_parsed_without_an_error(text: str) -> None:
    parse_remembered(text)
