"""Plans: their form, their hash, and the refusal of invalid plans."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.engine import Registry, make_plan, parse_plan, plan_hash
from gieok.engine.plan import MAX_PLAN_BYTES, MAX_PLAN_STEPS
from gieok.errors import PlanInvalid
from gieok.plans import load_plan, plan_names, read_plan
from tests.engine.steps import Repeat, registry, say

GOOD: dict[str, Any] = {
    "name": "good",
    "version": 1,
    "request": ["message"],
    "steps": [
        {
            "id": "one",
            "type": "Say",
            "stage": "ContextSelect",
            "inputs": {"first": "request.message"},
            "metadata": {"text": "a"},
        },
        {"id": "two", "type": "Keep", "stage": "Persist", "inputs": {"first": "one.text"}, "metadata": {}},
    ],
}


def changed(path: str, value: Any) -> dict[str, Any]:
    """GOOD with one place replaced, or taken out where the value is `...`."""
    document = copy.deepcopy(GOOD)
    *way, last = [int(part) if part.isdigit() else part for part in path.split("/")]
    target: Any = document
    for part in way:
        target = target[part]
    if value is ...:
        del target[last]
    else:
        target[last] = value
    return document


BAD_PLANS: list[tuple[str, Any, str]] = [
    ("name", ..., "name"),
    ("name", "", "name"),
    ("name", "two words", "name"),
    ("name", 7, "name"),
    ("version", ..., "version"),
    ("version", -1, "version"),
    ("version", 1.5, "version"),
    ("version", True, "version"),
    ("steps", ..., "steps"),
    ("steps", [], "steps"),
    ("steps", {}, "steps"),
    ("steps", [say(f"s{number}") for number in range(MAX_PLAN_STEPS + 1)], "steps"),
    ("surprise", 1, "surprise"),
    ("steps/0/id", "", "steps[0].id"),
    ("steps/0/id", "request", "steps[0].id"),
    ("steps/1/id", "one", "steps[1].id"),
    ("steps/0/id", "a b", "steps[0].id"),
    ("steps/0/type", "Nonsense", "steps[0].type"),
    ("steps/0/type", None, "steps[0].type"),
    ("steps/0/stage", "Later", "steps[0].stage"),
    ("steps/0/stage", ..., "steps[0].stage"),
    ("steps/0/surprise", 1, "steps[0].surprise"),
    ("steps/0/metadata", {}, "steps[0].metadata.text"),
    ("steps/0/metadata", {"text": 1}, "steps[0].metadata.text"),
    ("steps/0/metadata", {"text": "a", "more": 1}, "steps[0].metadata.more"),
    ("steps/0/metadata", [], "steps[0].metadata"),
    ("steps/0/inputs", {"first": "request.nothing"}, "steps[0].inputs.first"),
    ("steps/0/inputs", {"first": "nothing.text"}, "steps[0].inputs.first"),
    ("steps/0/inputs", {"first": "two.text"}, "steps[0].inputs.first"),
    ("steps/0/inputs", {"first": "one.text"}, "steps[0].inputs.first"),
    ("steps/0/inputs", {"first": "message"}, "steps[0].inputs.first"),
    ("steps/0/inputs", {"first": 3}, "steps[0].inputs.first"),
    ("steps/0/inputs", {"third": "request.message"}, "steps[0].inputs.third"),
    ("steps/1/inputs", {"first": "one.nothing"}, "steps[1].inputs.first"),
    ("steps/1/stage", "LLMCall", "steps[1].stage"),
]


@pytest.mark.req("ENG-10", "ENG-3", "ENG-5")
@pytest.mark.parametrize(("path", "value", "at"), BAD_PLANS)
def test_a_bad_plan_is_refused_with_the_place_that_is_wrong(path: str, value: Any, at: str) -> None:
    with pytest.raises(PlanInvalid) as refused:
        registry().check(make_plan(changed(path, value)))
    assert refused.value.at is not None
    assert refused.value.at.startswith(at)
    assert refused.value.at in str(refused.value)


@pytest.mark.req("ENG-10", "ENG-4")
@pytest.mark.parametrize(("source", "is_allowed"), [("say", True), ("request", True), ("repeat", False)])
def test_a_step_decides_which_steps_may_feed_an_input(source: str, is_allowed: bool) -> None:
    """`Repeat` takes its first input from `Say` or the caller; its second one comes from any step."""
    repeat = {**say("again", first=f"{source}.text", second="repeat.text"), "type": "Repeat"}
    steps = [say("say"), {**say("repeat", first="say.text"), "type": "Repeat"}, repeat]
    plan = make_plan({"name": "p", "version": 1, "request": ["text"], "steps": steps})
    if is_allowed:
        registry().check(plan)
        return
    with pytest.raises(PlanInvalid, match="must come from Say or request, not from Repeat") as refused:
        registry().check(plan)
    assert refused.value.at == "steps[2].inputs.first"


def test_sources_of_an_unknown_input_are_refused() -> None:
    class Wrong(Repeat):
        type = "Wrong"
        input_sources = {"third": frozenset({"Say"})}  # noqa: RUF012

    with pytest.raises(ValueError, match="third"):
        Registry([Wrong()])


def test_the_good_plan_of_these_tests_is_good() -> None:
    """Else every refusal above could have another reason."""
    assert registry().check(make_plan(GOOD)).plan.name == "good"


@pytest.mark.req("ENG-10")
def test_steps_are_listed_in_stage_order() -> None:
    document = copy.deepcopy(GOOD)
    document["steps"].append(say("late"))
    with pytest.raises(PlanInvalid, match="ContextSelect comes before Persist") as refused:
        registry().check(make_plan(document))
    assert refused.value.at == "steps[2].stage"


@pytest.mark.req("ENG-5")
def test_missing_policy_names_the_step_and_the_key() -> None:
    with pytest.raises(PlanInvalid, match=r"steps\[0\]\.metadata\.text.*step 'one' of type Say"):
        registry().check(make_plan(changed("steps/0/metadata", {})))


@pytest.mark.req("ENG-10")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("[]", "JSON object"),
        ("null", "JSON object"),
        ('{"name": "a", "name": "b"}', "twice in one object"),
        ('{"name": NaN}', "NaN is not a JSON number"),
        ('{"name": -Infinity}', "Infinity is not a JSON number"),
        ("[" * 100_000, "nested deeper"),
        ('{"a":' * 40 + "1" + "}" * 40, "nested deeper"),
        (json.dumps(changed("steps/0/metadata", {"text": "\ud800"})), "surrogate"),
        (json.dumps(changed("steps/0/metadata", {"text": 2**60})), "no canonical JSON form"),
        (json.dumps(GOOD).replace('"version": 1', '"version": 1e999'), "plan|version"),
        (" " * (MAX_PLAN_BYTES + 1), "at most"),
        ("한" * (MAX_PLAN_BYTES // 3 + 1), "at most"),
        ('{"version": 1' + "0" * 5000 + "}", "at most 40 digits"),
        (b"\xff\xfe\x00", "plan"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_text_that_is_no_plan_is_refused(text: str | bytes, reason: str) -> None:
    with pytest.raises(PlanInvalid, match=reason):
        parse_plan(text)


def test_a_number_with_too_many_digits_is_refused() -> None:
    """Python would refuse to write it down with an error of its own."""
    with pytest.raises(PlanInvalid, match="too many digits"):
        make_plan(changed("steps/0/metadata", {"text": 10**5000}))


def test_a_file_that_is_too_long_is_refused_for_its_length(tmp_path: Path) -> None:
    """Also where the limit cuts a character in two."""
    file = tmp_path / "long.json"
    for start in ("", "a", "ab"):
        file.write_text(start + "한" * MAX_PLAN_BYTES, encoding="utf-8")
        with pytest.raises(PlanInvalid, match="at most"):
            load_plan(str(file))


@pytest.mark.req("ENG-10")
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["name", "version", "steps", "id", "type", "stage", "inputs", "metadata", "x"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=20,
    )
)
def test_nonsense_is_refused_and_never_crashes(document: Any) -> None:
    with pytest.raises(PlanInvalid):
        registry().check(make_plan(document))


@pytest.mark.req("ENG-8")
def test_the_hash_is_sha256_over_the_canonical_json_of_what_was_written() -> None:
    """An independent writing of RFC 8785 for a plan of plain ASCII keys and integers gives the same hash."""
    canonical = json.dumps(GOOD, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    expected = hashlib.sha256(canonical.encode()).hexdigest()
    assert make_plan(GOOD).hash == expected
    spaced = json.dumps(dict(reversed(GOOD.items())), indent=4)
    assert parse_plan(spaced).hash == expected


@pytest.mark.req("ENG-8")
def test_the_hash_follows_rfc_8785_where_plain_json_would_not() -> None:
    """Numbers in their shortest form, strings unescaped, keys by UTF-16 code units."""
    document = {"\u20ac": 1.0, "\r": 1e21, "\ud83d\ude00": 4.50, "\ufb33": '\u20ac$\u000f\nA\'B"\\\\"/'}
    canonical = '{"\\r":1e+21,"\u20ac":1,"\U0001f600":4.5,"\ufb33":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    normal = {
        key.encode("utf-16", "surrogatepass").decode("utf-16"): value for key, value in document.items()
    }
    assert plan_hash(normal) == hashlib.sha256(canonical.encode()).hexdigest()


@pytest.mark.req("ENG-8")
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("name", "other"),
        ("version", 2),
        ("steps/0/metadata/text", "b"),
        ("steps/0/inputs", {}),
        ("steps/0/id", "uno"),
        ("steps/1/metadata", ...),
    ],
)
def test_any_change_of_a_plan_changes_its_hash(path: str, value: Any) -> None:
    document = changed(path, value)
    if path == "steps/0/id":
        document["steps"][1]["inputs"] = {"first": "uno.text"}
    assert make_plan(document).hash != make_plan(GOOD).hash


@pytest.mark.req("ENG-8")
def test_changing_top_k_changes_the_hash_of_the_shipped_plan() -> None:
    text = read_plan("turn_memory")
    assert '"topK": 5' in text
    assert parse_plan(text.replace('"topK": 5', '"topK": 6')).hash != load_plan("turn_memory").hash


def test_a_plan_is_frozen_with_its_hash() -> None:
    """Neither the caller's document nor what the plan hands out can change it afterwards."""
    document = copy.deepcopy(GOOD)
    made = make_plan(document)
    document["steps"][0]["metadata"]["text"] = "changed"
    with pytest.raises(ValueError, match="frozen"):
        made.name = "other"  # pyright: ignore[reportAttributeAccessIssue]  that it cannot be done is the point
    assert made.hash == make_plan(GOOD).hash
    assert made.document == GOOD


def test_every_shipped_plan_is_named_as_its_file() -> None:
    assert {name: load_plan(name).name for name in plan_names()} == {name: name for name in plan_names()}


@pytest.mark.parametrize("version", [-1, "with space", 1.5, None, [], {}])
def test_the_place_of_a_wrong_version_is_a_path_in_the_document(version: object) -> None:
    with pytest.raises(PlanInvalid) as refused:
        make_plan({"name": "x", "version": version, "steps": [{}]})
    assert refused.value.at == "version"
