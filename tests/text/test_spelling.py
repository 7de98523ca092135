"""Spelling variants: typos, and words written together or apart."""

from __future__ import annotations

import pytest

from gieok.text import joined_terms, one_edit_away, split_words, syllable_pairs, terms


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
def test_a_typo_is_one_edit_away(written: str, meant: str) -> None:
    """The edits of the stem count too, because the index has stems."""
    variants = {edit for term in (written, *terms(written)) for edit in one_edit_away(term)}
    assert variants & {meant, *terms(meant)}


@pytest.mark.parametrize("term", ["cat", "면접", "2023", "c++", "a" * 40, "가" * 40, ""])
def test_short_words_and_other_tokens_have_no_edits(term: str) -> None:
    assert list(one_edit_away(term)) == []


def test_a_word_is_not_its_own_edit() -> None:
    assert "guitar" not in set(one_edit_away("guitar"))
    assert "떡볶이" not in set(one_edit_away("떡볶이"))


def test_words_are_split_and_joined() -> None:
    assert ("book", "store") in set(split_words("bookstore"))
    assert ("카페", "라테") in set(split_words("카페라테"))
    assert "떡볶이" in joined_terms("떡", "볶이")
    assert joined_terms("book", "store") == terms("bookstore")
    assert joined_terms("in", "may") == joined_terms("the", "store") == []


def test_syllable_pairs_stay_inside_words() -> None:
    assert syllable_pairs("떡볶이 먹자, OK?") == ["떡볶", "볶이", "먹자"]
