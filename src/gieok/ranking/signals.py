"""What else speaks for a text: its age, the texts beside it, its direction in a vector space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt


def recency(age_days: float, half_life_days: float) -> float:
    """1 now, a half after one half-life, a quarter after two. What lies ahead counts as now."""
    return 0.5 ** (max(age_days, 0.0) / half_life_days)


def neighbourhood(scores: Mapping[int, float], beside: Mapping[int, Iterable[int]]) -> dict[int, float]:
    """What each text is lent by those beside it: half of the score of each, so at most the whole of one.

    `beside` names the texts on both sides of each lender.
    """
    lent: dict[int, float] = {}
    for one, others in beside.items():
        for other in others:
            lent[other] = lent.get(other, 0.0) + scores[one] / 2
    return lent


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """How much two vectors point the same way: 1 the same, 0 nothing in common or no direction at all."""
    length = sqrt(sum(x * x for x in one) * sum(y * y for y in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / length if length else 0.0
