"""Signals besides BM25, and their fusion into one score by a weighted sum of normalised values.

Rank fusion was measured on two collections of real conversations, and lost to BM25 alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Hashable, Iterable, Mapping
from math import log, sqrt

_PADDING_ZEROS = 4
_FULL_DEVIATIONS = 4.0


def recency(ages: Mapping[int, float], half_life: float) -> dict[int, float]:
    """Exponential decay: 1 now, a half after one half-life, a quarter after two."""
    return {one: 0.5 ** (age / half_life) for one, age in ages.items()}


def neighbour_scores(
    scores: Mapping[int, float], neighbours: Mapping[int, Mapping[int, int]]
) -> dict[int, float]:
    """The score that each text gets from its neighbours: half of the next one's, a quarter of the one beyond.

    `neighbours` maps each scored text to the texts near it, with their distance before or after it.
    """
    received: dict[int, float] = {}
    get = received.get
    for one, others in neighbours.items():
        score = scores[one]
        for other, distance in others.items():
            received[other] = get(other, 0.0) + score * 0.5 ** abs(distance)
    return received


def best_of_group(scores: Mapping[int, float], groups: Mapping[int, Hashable]) -> dict[int, float]:
    """For each text, the best score in its group. A text without a group is a group of its own."""
    best: dict[Hashable, float] = {}
    for one, score in scores.items():
        group = groups.get(one)
        if group is not None and score > best.get(group, 0.0):
            best[group] = score
    return {one: best.get(groups.get(one), score) for one, score in scores.items()}


def above_mean(values: Mapping[int, float]) -> dict[int, float]:
    """How far each value is above the mean: 1 is four standard deviations. Values below it are left out.

    Embedding models differ in the similarity of unrelated texts; this makes them comparable. Four zeros are
    added, so that the first few texts of an owner are compared with something.
    """
    count = len(values) + _PADDING_ZEROS
    mean = sum(values.values()) / count
    deviation = sqrt(max(sum(value * value for value in values.values()) / count - mean * mean, 0.0))
    if not deviation:
        return {}
    return {
        one: (value - mean) / (_FULL_DEVIATIONS * deviation) for one, value in values.items() if value > mean
    }


def repetition(matched: Mapping[int, Collection[str]], groups: Mapping[int, Hashable]) -> dict[int, float]:
    """In how many groups the matched words of each text occur together: 0 for one group, 1 for the most.

    Texts with a single matched word are left out: one shared word is no repetition.
    """
    groups_with: dict[frozenset[str], set[Hashable]] = {}
    for one, words in matched.items():
        if len(words) > 1:
            groups_with.setdefault(frozenset(words), set()).add(groups.get(one) or one)
    times = {
        words: log(
            len(set[Hashable]().union(*(names for more, names in groups_with.items() if words <= more)))
        )
        for words in groups_with
    }
    most = max(times.values(), default=0.0)
    if not most:
        return {}
    return {
        one: value / most
        for one, words in matched.items()
        if len(words) > 1 and (value := times[frozenset(words)])
    }


def normalised(values: Mapping[int, float]) -> dict[int, float]:
    """Divide by the best value, so that it is 1. Values that are not positive become 0."""
    best = max(values.values(), default=0.0)
    if best <= 0:
        return dict.fromkeys(values, 0.0)
    return {one: value / best if value > 0 else 0.0 for one, value in values.items()}


def weighted_sum(
    signals: Mapping[str, Mapping[int, float]], weights: Mapping[str, float]
) -> dict[int, float]:
    """Add up each value times the weight of its signal. A missing value counts as 0."""
    total: dict[int, float] = {}
    for name, values in signals.items():
        weight = weights[name]
        if not total:
            total = {one: weight * value for one, value in values.items()}
            continue
        get = total.get
        for one, value in values.items():
            total[one] = get(one, 0.0) + weight * value
    return total


def ranks(values: Mapping[int, float], of: Iterable[int]) -> dict[int, int]:
    """The rank of some texts among all by one signal: 1 is the best, equal values share a rank.

    A text without a positive value has no rank.
    """
    positive = [(one, value) for one in of if (value := values.get(one, 0.0)) > 0]
    if not positive:
        return {}
    order = sorted(values.values())
    return {one: 1 + len(order) - bisect_right(order, value) for one, value in positive}
