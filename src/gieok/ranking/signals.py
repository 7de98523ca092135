"""Signals besides BM25, and the order of rows by their scores.

A score is a weighted sum of normalised signals. Rank fusion was measured on two collections of real
conversations, and lost to BM25 alone.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gieok.ranking.bm25 import Floats
from gieok.ranking.index import NO_SESSION, Column, Flags, Match, Neighbours

_PADDING_ZEROS = 4
_FULL_DEVIATIONS = 4.0
_DECIMALS = 9
"""Scores that differ less are equal: the order of a sum may change its last digits."""


def recency(ages: Floats, half_life: float) -> Floats:
    """Exponential decay: 1 now, a half after one half-life, a quarter after two."""
    return np.exp2(-ages / half_life)


def normalised(values: Floats) -> Floats:
    """Divide by the best value, so that it is 1. Values that are not positive become 0."""
    best = values.max(initial=0.0)
    return np.maximum(values, 0.0) / best if best > 0 else np.zeros(len(values))


def neighbour_scores(scores: Floats, neighbours: Neighbours) -> Floats:
    """The score that each row gets from its neighbours: half of the next one's, a quarter of the one beyond.

    Before and after it in its session.
    """
    order, next_is_near, second_is_near = neighbours
    ordered = scores[order]
    received = np.zeros(len(order))
    half, quarter = 0.5 * ordered, 0.25 * ordered
    received[1:] += half[:-1] * next_is_near
    received[:-1] += half[1:] * next_is_near
    received[2:] += quarter[:-2] * second_is_near
    received[:-2] += quarter[2:] * second_is_near
    lent = np.zeros(len(scores))
    lent[order] = received
    return lent


def following_scores(scores: Floats, lends: Flags, neighbours: Neighbours) -> Floats:
    """Give each row the score of the row before it in its session, if that row lends."""
    order, next_is_near, _ = neighbours
    lent = np.zeros(len(scores))
    lent[order[1:]] = (scores * lends)[order[:-1]] * next_is_near
    return lent


def best_of_session(scores: Floats, sessions: Column) -> Floats:
    """For each row, the best score in its session. A row without a session has its own."""
    best = np.zeros(int(sessions.max(initial=NO_SESSION)) + 1)
    inside = sessions != NO_SESSION
    np.maximum.at(best, sessions[inside], scores[inside])
    result = scores.copy()
    result[inside] = best[sessions[inside]]
    return result


def session_coverage(matches: Iterable[tuple[Match, float]], sessions: Column) -> Floats:
    """For each row, the sum of the weights of the terms that its session contains.

    A row without a session has the sum of its own terms.

    Where there are many sessions, the one that contains most of a question is probably the one to look in.
    """
    inside = sessions != NO_SESSION
    alone = np.zeros(len(sessions))
    covered = np.zeros(int(sessions.max(initial=NO_SESSION)) + 1)
    for (rows, _, _), weight in matches:
        contains = np.zeros(len(covered), np.bool_)
        contains[sessions[rows[inside[rows]]]] = True
        covered += weight * contains
        alone[rows] += weight
    alone[inside] = covered[sessions[inside]]
    return alone


def above_mean(values: Floats) -> Floats:
    """How far each value is above the mean: 1 is four standard deviations, 0 is the mean or less.

    Embedding models differ in the similarity of unrelated texts; this makes them comparable. Four zeros are
    added, so that the first few texts of an owner are compared with something.
    """
    count = len(values) + _PADDING_ZEROS
    mean = float(values.sum()) / count
    deviation = max(float((values * values).sum()) / count - mean * mean, 0.0) ** 0.5
    full = _FULL_DEVIATIONS * deviation
    return np.maximum(values - mean, 0.0) / full if full else np.zeros(len(values))


def best_rows(scores: Floats, at: Column, numbers: Column, count: int) -> NDArray[np.intp]:
    """The positions of the best scores in order. Of equal scores the newest is first, then the one with the
    highest number."""
    rounded = scores.round(_DECIMALS)
    found = np.arange(len(scores))
    if count < len(scores):
        found = np.flatnonzero(rounded >= np.partition(rounded, len(scores) - count)[len(scores) - count])
    order = np.lexsort((numbers[found], at[found], rounded[found]))[::-1]
    return found[order[:count]]


def ranks_of(some: Floats, values: Floats) -> list[int]:
    """The rank of some values among all: 1 is the best, equal values share a rank."""
    higher = np.sort(values[values > some.min(initial=np.inf)])
    return (1 + len(higher) - higher.searchsorted(some, side="right")).tolist()
