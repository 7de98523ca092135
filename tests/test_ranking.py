"""BM25, the other recall signals, and their fusion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.ranking import (
    above_mean,
    best_of_group,
    bm25,
    idf,
    local_bm25,
    neighbour_scores,
    normalised,
    ranks,
    recency,
    repetition,
    weighted_sum,
)


def score(times: int, length: int = 10, average: float = 10.0) -> float:
    return bm25({"word": [(1, times, length)]}, {"word": 1.0}, average, k1=0.9, b=0.4)[1]


def test_idf_is_higher_for_rare_terms_and_never_negative() -> None:
    assert idf(1000, 1) > idf(1000, 10) > idf(1000, 999) > idf(1000, 1000) > 0


def test_bm25_agrees_with_the_formula() -> None:
    """k1 = 0.9, b = 0.4, a text of double length: tf · 1.9 / (tf + 0.9 · 1.4)."""
    assert score(3, 20) == pytest.approx(3 * 1.9 / (3 + 0.9 * (0.6 + 0.4 * 2)))


def test_bm25_adds_up_terms_and_ignores_those_without_a_weight() -> None:
    matches = {"rare": [(1, 1, 10)], "common": [(2, 1, 10), (1, 1, 10)], "unasked": [(3, 5, 10)]}
    scores = bm25(matches, {"rare": 2.0, "common": 0.5}, 10.0, k1=0.9, b=0.4)
    assert scores == pytest.approx({1: 2.5, 2: 0.5})
    assert bm25({}, {}, 0.0, k1=0.9, b=0.4) == {}


def test_bm25_saturates_with_repetition_and_penalises_length() -> None:
    assert score(2) - score(1) > score(3) - score(2) > 0
    assert score(1, 5) > score(1, 10) > score(1, 50)
    assert score(1, 10, 0.0) > 0


def test_recency_halves_with_every_half_life() -> None:
    assert recency({1: 0, 2: 30, 3: 60}, 30) == {1: 1, 2: 0.5, 3: 0.25}


def test_a_neighbour_gets_half_of_a_score_and_the_one_beyond_a_quarter() -> None:
    neighbours = {1: {2: 1, 3: 2}, 3: {2: 1, 4: 1}}
    assert neighbour_scores({1: 0.4, 3: 1.0}, neighbours) == pytest.approx({2: 0.7, 3: 0.1, 4: 0.5})


def test_every_text_of_a_group_gets_its_best_score() -> None:
    """A text without a group keeps its own score."""
    scores, groups = {1: 0.9, 2: 0.1, 3: 0.5, 4: 0.2}, {1: "a", 2: "a", 3: None, 4: None}
    assert best_of_group(scores, groups) == {1: 0.9, 2: 0.9, 3: 0.5, 4: 0.2}


@pytest.mark.parametrize("usual", [0.1, 0.7])
def test_above_mean_does_not_depend_on_the_similarity_of_unrelated_texts(usual: float) -> None:
    """One similar text among a thousand that are all equally dissimilar."""
    far = dict.fromkeys(range(1_000), usual)
    values = above_mean({**far, 1_000: usual + 0.2})
    assert values.pop(1_000) > 1
    assert max(values.values(), default=0.0) < 0.1


def test_above_mean_of_a_single_text_and_of_no_similarity() -> None:
    assert 0 < above_mean({1: 0.6})[1] < 1
    assert above_mean({}) == above_mean({1: 0.0, 2: 0.0}) == {}


def test_repetition_counts_groups_that_share_two_words() -> None:
    """One shared word is not enough, and two texts of one group count once."""
    groups = {1: "a", 2: "b", 3: "b", 4: "c"}
    both = frozenset({"면접", "판교"})
    assert repetition({1: both, 2: both, 3: both, 4: {"면접"}}, groups) == {1: 1.0, 2: 1.0, 3: 1.0}
    assert repetition({2: both, 3: both}, groups) == {}


def test_local_bm25_uses_the_idf_among_the_given_texts() -> None:
    texts = {1: {"떡볶": 1, "볶이": 1}, 2: {"볶이": 1, "이다": 1}, 3: {"면접": 1}}
    scores = local_bm25(texts, {"떡볶", "볶이"}, k1=0.9, b=0.4)
    assert scores[1] > scores[2] > 0
    assert 3 not in scores
    assert local_bm25({}, {"떡볶"}, k1=0.9, b=0.4) == {}


def test_equal_values_share_a_rank_and_zero_has_none() -> None:
    values = {1: 0.5, 2: 0.9, 3: 0.5, 4: 0.0, 5: 0.1}
    assert ranks(values, values) == {1: 2, 2: 1, 3: 2, 5: 4}
    assert ranks(values, (3, 4, 6)) == {3: 2}


def test_weighted_sum() -> None:
    total = weighted_sum({"a": {1: 1.0, 2: 0.5}, "b": {2: 1.0}}, {"a": 2.0, "b": 0.5})
    assert total == {1: 2.0, 2: 1.5}


@given(st.dictionaries(st.integers(), st.floats(0, 1e9), max_size=20))
def test_normalising_keeps_the_order_and_makes_the_best_1(values: dict[int, float]) -> None:
    made = normalised(values)
    assert max(made.values(), default=1.0) in (0.0, 1.0)
    for one, value in values.items():
        for other, least in values.items():
            assert value < least or made[one] >= made[other]
