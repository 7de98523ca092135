"""Which words one slip or one space away may have been meant."""

from __future__ import annotations

import pytest

from gieok.text import is_question, joined_terms, one_edit_away, split_words, syllable_pairs, terms


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("resturant", "restaurant"),
        ("guitarr", "guitar"),
        ("calender", "calendar"),
        ("marahton", "marathon"),
        ("김치찌게", "김치찌개"),
        ("떡복이", "떡볶이"),
    ],
)
def test_one_slip_is_within_reach(written: str, meant: str) -> None:
    """Also of a letter that belongs to the stem only, because stems are what is compared."""
    reached = {slip for term in (written, *terms(written)) for slip in one_edit_away(term)}
    assert reached & {meant, *terms(meant)}


@pytest.mark.parametrize("term", ["cat", "면접", "2023", "c++", "a" * 40, "가" * 40, ""])
def test_short_words_and_what_is_no_word_are_left_alone(term: str) -> None:
    assert list(one_edit_away(term)) == []


def test_a_word_is_not_its_own_slip() -> None:
    assert "guitar" not in set(one_edit_away("guitar"))
    assert "떡볶이" not in set(one_edit_away("떡볶이"))


def test_two_words_in_one_come_apart_and_two_that_are_one_come_together() -> None:
    assert ("book", "store") in set(split_words("bookstore"))
    assert ("카페", "라테") in set(split_words("카페라테"))
    assert "떡볶이" in joined_terms("떡", "볶이")
    assert joined_terms("book", "store") == terms("bookstore")
    assert joined_terms("in", "may") == joined_terms("the", "store") == []


def test_pairs_stay_inside_words() -> None:
    assert syllable_pairs("떡볶이 먹자, OK?") == ["떡볶", "볶이", "먹자"]


@pytest.mark.parametrize(
    ("text", "is_asked"), [("뭐 해?", True), ("What's up?! :)", True), ("안 해.", False)]
)
def test_whether_a_text_asks(text: str, is_asked: bool) -> None:
    assert is_question(text) is is_asked
