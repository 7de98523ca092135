"""The arithmetic of ranking, against what it is meant to say."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.ranking import bm25, cosine, idf, neighbourhood, normalised, ranks, recency, weighted_sum


def score(times: int, length: int = 10, average: float = 10.0) -> float:
    return bm25({"word": times}, {"word": 1.0}, length, average, k1=0.9, b=0.4)


def test_a_rare_word_says_more_than_a_common_one_and_none_costs_anything() -> None:
    assert idf(1000, 1) > idf(1000, 10) > idf(1000, 999) > idf(1000, 1000) > 0


def test_bm25_agrees_with_the_formula() -> None:
    """k1 = 0.9, b = 0.4, a text of double length: tf · 1.9 / (tf + 0.9 · 1.4)."""
    assert score(3, 20) == pytest.approx(3 * 1.9 / (3 + 0.9 * (0.6 + 0.4 * 2)))
    assert bm25({}, {}, 10, 10, k1=0.9, b=0.4) == 0


def test_repeating_a_word_helps_less_and_less_and_length_holds_back() -> None:
    assert score(2) - score(1) > score(3) - score(2) > 0
    assert score(1, 5) > score(1, 10) > score(1, 50)
    assert score(1, 10, 0.0) > 0


def test_recency_halves_with_every_half_life() -> None:
    assert [recency(days, 30) for days in (-5, 0, 30, 60)] == [1, 1, 0.5, 0.25]


def test_neighbours_lend_half_of_their_score() -> None:
    assert neighbourhood({1: 0.4, 3: 1.0}, {1: (2,), 3: (2, 4)}) == {2: 0.7, 4: 0.5}


def test_the_cosine_of_directions() -> None:
    assert cosine((1, 0), (2, 0)) == 1
    assert cosine((1, 0), (0, 5)) == 0
    assert cosine((0, 0), (1, 1)) == 0
    assert cosine((1, 1), (1, 0)) == pytest.approx(math.sqrt(0.5))


def test_ranks_are_shared_by_equals_and_kept_from_nothing() -> None:
    assert ranks({1: 0.5, 2: 0.9, 3: 0.5, 4: 0.0, 5: 0.1}) == {1: 2, 2: 1, 3: 2, 5: 4}


def test_signals_add_up_by_their_weights() -> None:
    total = weighted_sum({"a": {1: 1.0, 2: 0.5}, "b": {2: 1.0}}, {"a": 2.0, "b": 0.5})
    assert total == {1: 2.0, 2: 1.5}


@given(st.dictionaries(st.integers(), st.floats(0, 1e9), max_size=20))
def test_normalising_keeps_the_order_and_makes_the_best_one(values: dict[int, float]) -> None:
    made = normalised(values)
    assert max(made.values(), default=1.0) in (0.0, 1.0)
    for one, value in values.items():
        for other, least in values.items():
            assert value < least or made[one] >= made[other]
