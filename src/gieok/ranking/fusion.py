"""Several signals to one order: a weighted sum of values that are comparable.

Not the sum of ranks: measured on two collections of real conversations, it lost to BM25 alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping


def normalised(values: Mapping[int, float]) -> dict[int, float]:
    """The same values with the best as 1. Values that are not positive become 0."""
    best = max(values.values(), default=0.0)
    if best <= 0:
        return dict.fromkeys(values, 0.0)
    return {one: value / best if value > 0 else 0.0 for one, value in values.items()}


def weighted_sum(
    signals: Mapping[str, Mapping[int, float]], weights: Mapping[str, float]
) -> dict[int, float]:
    """Every value times the weight of its signal, added up. A missing value adds nothing."""
    total: dict[int, float] = {}
    for name, values in signals.items():
        weight = weights[name]
        if not total:
            total = {one: weight * value for one, value in values.items()}
            continue
        sum_of = total.get
        for one, value in values.items():
            total[one] = sum_of(one, 0.0) + weight * value
    return total


def ranks(values: Mapping[int, float], of: Iterable[int]) -> dict[int, int]:
    """Where these stand among all by this signal alone: 1 for the best, and equal values share a rank.

    What has no value has no rank.
    """
    asked = [(one, value) for one in of if (value := values.get(one, 0.0)) > 0]
    if not asked:
        return {}
    order = sorted(values.values())
    return {one: 1 + len(order) - bisect_right(order, value) for one, value in asked}
