"""BM25F, the other recall signals, and the order of the results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.ranking import (
    EMPTY_INDEX,
    IndexRow,
    Match,
    SearchIndex,
    above_mean,
    best_of_session,
    best_rows,
    bm25_of_texts,
    bm25f,
    following_scores,
    idf,
    neighbour_scores,
    normalised,
    pack_terms,
    ranks_of,
    recency,
    session_coverage,
)

WORD, OTHER = 7, -7


def index_of(
    *rows: tuple[dict[int, int], dict[int, int], int], sessions: Sequence[str | None] = ()
) -> SearchIndex:
    """An index of rows, each with the counts of both fields and its length."""
    return EMPTY_INDEX.with_changes(
        [
            IndexRow(
                number.to_bytes(16, "big"),
                number,
                1,
                number,
                number,
                5,
                sessions[number - 1] if sessions else None,
                False,
                pack_terms(1, own, added, own_words=length, added_words=sum(added.values())),
            )
            for number, (own, added, length) in enumerate(rows, 1)
        ]
    )


def scores(index: SearchIndex, weights: dict[int, float], added_weight: float = 0.5) -> list[float]:
    found = index.find(list(weights))
    matches = [(match, weights[token]) for token, match in found.items()]
    return bm25f(index, matches, None, k1=0.9, b=0.4, added_weight=added_weight).tolist()


def score(times: int, length: int = 10, other: int = 10) -> float:
    """The score of a row of this length; another row has the other length."""
    return scores(index_of(({WORD: times}, {}, length), ({OTHER: 1}, {}, other)), {WORD: 1.0})[0]


def test_idf_is_higher_for_rare_terms_and_never_negative() -> None:
    assert idf(1000, 1) > idf(1000, 10) > idf(1000, 999) > idf(1000, 1000) > 0


def test_bm25_agrees_with_the_formula() -> None:
    """k1 = 0.9, b = 0.4, a text of double the average length: tf · 1.9 / (tf + 0.9 · 1.4)."""
    assert score(3, 20, 0) == pytest.approx(3 * 1.9 / (3 + 0.9 * (0.6 + 0.4 * 2)))


def test_bm25_adds_up_terms() -> None:
    index = index_of(({WORD: 1, OTHER: 1}, {}, 10), ({OTHER: 1}, {}, 10), ({3: 1}, {}, 10))
    assert scores(index, {WORD: 2.0, OTHER: 0.5}) == pytest.approx([2.5, 0.5, 0.0])
    assert scores(EMPTY_INDEX, {WORD: 1.0}) == []


def test_bm25_saturates_with_repetition_and_penalises_length() -> None:
    assert score(2) - score(1) > score(3) - score(2) > 0
    assert score(1, 5) > score(1, 10) > score(1, 50)


def test_an_added_word_counts_less_than_a_word_of_the_row() -> None:
    index = index_of(({WORD: 1}, {}, 1), ({OTHER: 1}, {WORD: 1}, 1), ({OTHER: 1}, {}, 1))
    own, added, none = scores(index, {WORD: 1.0})
    assert own > added > none == 0
    assert scores(index, {WORD: 1.0}, added_weight=0.0)[1] == 0
    both = index_of(({WORD: 1}, {WORD: 1}, 1), ({WORD: 1}, {}, 1))
    assert scores(both, {WORD: 1.0})[0] > scores(both, {WORD: 1.0})[1]


def test_the_average_length_is_that_of_the_visible_rows() -> None:
    index = index_of(({WORD: 1}, {}, 10), ({OTHER: 1}, {}, 1000))
    visible = np.array([True, False])
    (match,) = index.find([WORD]).values()
    made = bm25f(index, [(match, 1.0)], visible, k1=0.9, b=0.4, added_weight=0.5)
    assert made[0] == pytest.approx(1.0)


def test_recency_halves_with_every_half_life() -> None:
    assert recency(np.array([0.0, 30.0, 60.0]), 30).tolist() == [1, 0.5, 0.25]


SIX: list[tuple[dict[int, int], dict[int, int], int]] = [({WORD: 1}, {}, 1)] * 6
SESSIONS = ("a", "b", "a", "a", None, "a")


def test_a_neighbour_gets_half_of_a_score_and_the_one_beyond_a_quarter() -> None:
    neighbours = index_of(*SIX, sessions=SESSIONS).part(include_archived=True).neighbours
    given = np.array([1.0, 8.0, 0.0, 4.0, 8.0, 0.0])
    assert neighbour_scores(given, neighbours).tolist() == [1.0, 0.0, 2.5, 0.25, 0.0, 2.0]


def test_a_score_is_given_to_the_next_row_of_the_session() -> None:
    neighbours = index_of(*SIX, sessions=SESSIONS).part(include_archived=True).neighbours
    given = np.array([1.0, 8.0, 2.0, 4.0, 8.0, 1.0])
    lends = np.array([True, True, False, True, True, True])
    assert following_scores(given, lends, neighbours).tolist() == [0.0, 0.0, 1.0, 0.0, 0.0, 4.0]


def test_every_row_of_a_session_gets_its_best_score() -> None:
    """A row without a session keeps its own score."""
    sessions = np.array([0, 0, -1, -1], np.int32)
    assert best_of_session(np.array([0.9, 0.1, 0.5, 0.2]), sessions).tolist() == [0.9, 0.9, 0.5, 0.2]
    assert best_of_session(np.array([0.5]), np.array([-1], np.int32)).tolist() == [0.5]


def test_a_session_is_worth_the_terms_that_it_contains() -> None:
    """Each term once, however often; a row without a session has its own."""
    sessions = np.array([0, 0, 1, -1, -1], np.int32)

    def match(*rows: int) -> Match:
        ones = np.ones(len(rows), np.uint16)
        return Match(np.array(rows, np.int32), ones, ones)

    covered = session_coverage([(match(0, 1, 3), 2.0), (match(1, 2), 1.0)], sessions)
    assert covered.tolist() == [3.0, 3.0, 1.0, 2.0, 0.0]


@pytest.mark.parametrize("usual", [0.1, 0.7])
def test_above_mean_does_not_depend_on_the_similarity_of_unrelated_texts(usual: float) -> None:
    """One similar text among a thousand that are all equally dissimilar."""
    *far, near = above_mean(np.array([usual] * 1_000 + [usual + 0.2])).tolist()
    assert near > 1
    assert max(far) < 0.1


def test_above_mean_of_a_single_text_and_of_no_similarity() -> None:
    assert 0 < above_mean(np.array([0.6]))[0] < 1
    assert above_mean(np.array([])).tolist() == []
    assert above_mean(np.zeros(2)).tolist() == [0, 0]


def test_bm25_of_a_few_texts_uses_the_idf_among_them() -> None:
    texts = {1: {"떡볶": 1, "볶이": 1}, 2: {"볶이": 1, "이다": 1}, 3: {"면접": 1}}
    made = bm25_of_texts(texts, {"떡볶", "볶이"}, k1=0.9, b=0.4)
    assert made[1] > made[2] > made[3] == 0
    assert bm25_of_texts({}, {"떡볶"}, k1=0.9, b=0.4) == {}


def test_equal_values_share_a_rank() -> None:
    values = np.array([0.5, 0.9, 0.5, 0.1])
    assert ranks_of(values, values) == [2, 1, 2, 4]
    assert ranks_of(values[2:], values) == [2, 4]


@given(
    st.lists(st.tuples(st.sampled_from((0.0, 0.25, 0.5)), st.integers(0, 3)), max_size=12), st.integers(1, 12)
)
def test_the_best_are_those_of_a_sort(rows: list[tuple[float, int]], count: int) -> None:
    """By score, then newest, then the highest number."""
    given = np.array([score for score, _ in rows])
    at, numbers = np.array([time for _, time in rows]), np.arange(len(rows))
    order = sorted(range(len(rows)), key=lambda row: (*rows[row], row), reverse=True)
    assert best_rows(given, at, numbers, count).tolist() == order[:count]


def test_scores_that_differ_in_the_last_digits_are_equal() -> None:
    made = best_rows(np.array([0.1 + 0.2, 0.3]), np.array([1, 2]), np.array([1, 2]), 2)
    assert made.tolist() == [1, 0]


@given(st.lists(st.floats(0, 1e9), max_size=20))
def test_normalising_keeps_the_order_and_makes_the_best_1(values: list[float]) -> None:
    made = normalised(np.array(values)).tolist()
    assert max(made, default=1.0) in (0.0, 1.0)
    for one, value in zip(made, values, strict=True):
        assert all(value < least or one >= other for other, least in zip(made, values, strict=True))
