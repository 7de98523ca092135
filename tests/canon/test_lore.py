"""Which entries of a keyed lorebook enter the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import pytest

from gieok.memory.canon.lore import Heard, activate
from gieok.memory.canon.records import KeyedLorebook, LoreEntry, LoreLogic

pytestmark = pytest.mark.req("INT-4")


def entry(key: str = "", content: str = "text", **fields: Any) -> LoreEntry:
    return LoreEntry(keys=(key,) if key else (), content=content, **fields)


def names(
    entries: Sequence[LoreEntry],
    *messages: str,
    depth: int = 4,
    budget: int = 1_000,
    rounds: int = 3,
    **book: Any,
) -> list[str]:
    """The contents of the active entries, in the order of the prompt."""
    found = activate(
        KeyedLorebook(entries=tuple(entries), **book),
        messages,
        scan_depth=depth,
        token_budget=budget,
        rounds=rounds,
    )
    return [each.content for each in found.entries]


@pytest.mark.parametrize(
    ("key", "text", "is_said"),
    [
        ("면접", "면접이 내일이야", True),
        ("면접", "내일 면접에서는 잘할게", True),
        ("면접", "면접관이 왔어", True),
        ("면접", "서울면접", True),
        ("배", "배가 고파", True),
        ("배", "배경이 좋다", False),
        ("관", "면접관이 왔어", False),
        ("하나", "하나야 뭐해?", True),
        ("에테르나", "에테르나는 위험해", True),
        ("카이젤", "카이젤이랑 싸웠어", True),
        ("떨리다", "너무 떨렸어", True),
        ("떨리다", "너무 떨어졌어", False),
        ("검은 숲", "우리는 검은 숲에 갔다", True),
        ("검은 숲", "숲은 검다", False),
        ("NASA", "nasa가 발표했다", True),
        ("cat", "A cat.", True),
        ("cat", "category", False),
        ("New York", "I live in new  york.", True),
        ("C++", "c++ 좋아", True),
        ("ï", "naïve", False),
        ("naïve", "NAÏVE!", True),
        ("東京", "昨日東京駅で", True),
        ("😀", "좋아😀😀", True),
        ("ＡＢＣ", "abc", True),
        ("면접", "", False),
    ],
)
def test_a_key_is_said(key: str, text: str, is_said: bool) -> None:
    assert Heard(text).says(key, case_sensitive=False, whole_words=True) is is_said


def test_case_and_whole_words_are_settings_of_an_entry() -> None:
    assert not Heard("the rose").says("Rose", case_sensitive=True, whole_words=True)
    assert Heard("my Rose").says("Rose", case_sensitive=True, whole_words=True)
    assert Heard("category").says("CAT", case_sensitive=False, whole_words=False)
    assert names([entry("Rose", case_sensitive=True)], "a rose") == []


def test_only_enabled_entries_with_content_enter() -> None:
    book = [
        entry("rose", "on"),
        entry("rose", "off", enabled=False),
        entry("rose", "  "),
        entry("rose", "@@depth 4\n@@role user"),
        entry("", "always", constant=True),
        entry("", "constant but off", constant=True, enabled=False),
        entry("", "no key"),
    ]
    assert names(book, "a rose") == ["on", "always"]
    assert names(book) == ["always"]


@pytest.mark.parametrize(
    ("logic", "said"),
    [
        ("any", {"": False, "red": True, "red thorn": True}),
        ("all", {"": False, "red": False, "red thorn": True}),
        ("not_any", {"": True, "red": False, "red thorn": False}),
        ("not_all", {"": True, "red": True, "red thorn": False}),
    ],
)
def test_secondary_keys_of_a_selective_entry(logic: LoreLogic, said: dict[str, bool]) -> None:
    for text, is_active in said.items():
        chosen = entry("rose", selective=True, secondary_keys=("red", "thorn"), logic=logic)
        assert bool(names([chosen], f"rose {text}")) is is_active
        assert names([entry("rose", secondary_keys=("red",), logic=logic)], f"rose {text}")
    assert names([entry("rose", selective=True)], "rose")
    assert not names([entry("rose", selective=True, secondary_keys=("red",))], "red")


def test_the_scan_depth_of_entry_book_and_plan() -> None:
    log = ["rose", "two", "three", "four"]
    assert names([entry("rose")], *log, depth=4)
    assert not names([entry("rose")], *log, depth=3)
    assert not names([entry("rose")], *log, depth=4, scan_depth=2)
    assert names([entry("rose", scan_depth=4)], *log, depth=1, scan_depth=2)
    assert not names([entry("four", scan_depth=0)], *log)
    assert not names([entry("four")], *log, scan_depth=0)


def test_entries_stand_in_their_order_and_the_lowest_is_left_out() -> None:
    book = [
        entry("rose", "b" * 40, order=20),
        entry("rose", "a" * 40, order=10),
        entry("rose", "c" * 40, order=30, priority=1),
        entry("", "d" * 40, order=5, constant=True),
    ]
    in_order = ["d" * 40, "a" * 40, "b" * 40, "c" * 40]
    assert names(book, "rose") == in_order
    assert names(book, "rose", budget=33) == in_order[:3]
    assert names(book, "rose", token_budget=22) == [in_order[0], in_order[2]]
    assert names(book, "rose", budget=11, token_budget=1_000) == in_order[:1]
    left = activate(KeyedLorebook(entries=tuple(book)), ["rose"], scan_depth=1, token_budget=22, rounds=0)
    assert left.left_out == 2


def test_content_activates_others_only_in_a_recursive_book_and_in_bounded_rounds() -> None:
    chain = [entry(f"key{number}", f"see key{number + 1}") for number in range(6)]
    assert names(chain, "key0") == ["see key1"]
    assert len(names(chain, "key0", recursive=True, rounds=2)) == 3
    assert len(names(chain, "key0", recursive=True, rounds=100)) == 6
    circle = [entry("one", "two"), entry("two", "one")]
    assert names(circle, "one", recursive=True, rounds=100) == ["two", "one"]
    blocked = [entry("one", "two", finds_others=False), entry("two", "x")]
    assert names(blocked, "one", recursive=True) == ["two"]
    hidden = [entry("one", "two"), entry("two", "x", found_by_others=False)]
    assert names(hidden, "one", recursive=True) == ["two"]
    assert names(hidden, "one two", recursive=True) == ["two", "x"]


def test_a_pattern_never_matches_and_costs_nothing() -> None:
    bomb = "(a+)+$"
    book = [entry(f"/{bomb}/i", "slashes"), entry(bomb, "flag", regex=True), entry("aaaa", "plain")]
    assert names(book, "aaaa") == ["plain"]
    assert names(book, "a" * 5_000 + "!") == []


def test_a_large_book_takes_time_in_proportion() -> None:
    """Ten times the entries take about ten times as long, not a hundred times."""
    text = "면접이 있어서 너무 떨렸어. " * 200

    def seconds(size: int) -> float:
        book = [entry(f"열쇠{number}", f"text {number}") for number in range(size)]
        started = perf_counter()
        names(book, *[text] * 4)
        return perf_counter() - started

    seconds(100)
    assert min(seconds(1_000) for _ in range(3)) < 40 * max(seconds(100) for _ in range(3))
