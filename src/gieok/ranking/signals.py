"""What else speaks for a text: its age, the texts around it, what it means, how often it is told."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from math import log, sqrt

_UNRELATED = 4
_FAR = 4.0


def recency(ages: Mapping[int, float], half_life: float) -> dict[int, float]:
    """1 now, a half after one half-life, a quarter after two."""
    return {one: 0.5 ** (age / half_life) for one, age in ages.items()}


def neighbourhood(scores: Mapping[int, float], beside: Mapping[int, Mapping[int, int]]) -> dict[int, float]:
    """What each text is lent by those near it: half of the score of the next, a quarter of the one beyond.

    `beside` names the texts near each lender with their distance from it, before it or after.
    """
    lent: dict[int, float] = {}
    lent_to = lent.get
    for one, others in beside.items():
        score = scores[one]
        for other, distance in others.items():
            lent[other] = lent_to(other, 0.0) + score * 0.5 ** abs(distance)
    return lent


def best_of_group(scores: Mapping[int, float], groups: Mapping[int, Hashable]) -> dict[int, float]:
    """For each text, the best score in its group. One without a group is a group of its own."""
    best: dict[Hashable, float] = {}
    for one, score in scores.items():
        group = groups.get(one)
        if group is not None and score > best.get(group, 0.0):
            best[group] = score
    return {one: best.get(groups.get(one), score) for one, score in scores.items()}


def standing_out(values: Mapping[int, float]) -> dict[int, float]:
    """How far each value stands out from all of them: 1 is four standard deviations above their mean.

    Models differ in how close they put texts that have nothing in common, and this does not. A few values of
    0 are counted in, so that the first texts of somebody are compared with something.
    """
    count = len(values) + _UNRELATED
    mean = sum(values.values()) / count
    spread = sqrt(max(sum(value * value for value in values.values()) / count - mean * mean, 0.0))
    if not spread:
        return {}
    return {one: (value - mean) / (_FAR * spread) for one, value in values.items() if value > mean}


def told_again(matched: Mapping[int, Collection[str]], groups: Mapping[int, Hashable]) -> dict[int, float]:
    """How often what a text says of the query is said in other groups too: 0 for never, 1 for the most often.

    One shared word is no repetition: a text must share two.
    """
    told: dict[frozenset[str], set[Hashable]] = {}
    for one, words in matched.items():
        if len(words) > 1:
            told.setdefault(frozenset(words), set()).add(groups.get(one) or one)
    times = {
        words: log(len(set[Hashable]().union(*(where for more, where in told.items() if words <= more))))
        for words in told
    }
    most = max(times.values(), default=0.0)
    if not most:
        return {}
    return {
        one: value / most
        for one, words in matched.items()
        if len(words) > 1 and (value := times[frozenset(words)])
    }
