"""BM25: how well a text answers a query, by the words that they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from math import log


def idf(documents: int, with_term: int) -> float:
    """How much a term says: the rarer, the more. Never negative, so that a common term cannot cost a text.

    `with_term` may not be more than `documents`.
    """
    return log(1 + (documents - with_term + 0.5) / (with_term + 0.5))


def bm25(
    matches: Iterable[tuple[int, str, int, int]],
    weights: Mapping[str, float],
    average_length: float,
    *,
    k1: float,
    b: float,
) -> dict[int, float]:
    """The scores of texts. Each match is a text, a term that it has, how often, and how long the text is.

    `weights` is the idf of each term; one without a weight says nothing. `k1` says how soon repeating a term
    stops helping, `b` how much a long text is held back.
    """
    scores: dict[int, float] = {}
    for one, term, times, length in matches:
        weight = weights.get(term)
        if weight is not None:
            held_back = k1 * (1 - b + b * length / average_length) if average_length else k1
            scores[one] = scores.get(one, 0.0) + weight * times * (k1 + 1) / (times + held_back)
    return scores


def bm25_among(
    texts: Mapping[int, Mapping[str, int]], asked: Collection[str], *, k1: float, b: float
) -> dict[int, float]:
    """The scores of a few texts by themselves: what is rare is what is rare among them.

    `texts` counts the terms of each, `asked` are those of the query.
    """
    if not texts:
        return {}
    lengths = {one: sum(counted.values()) for one, counted in texts.items()}
    matches = [
        (one, term, counted[term], lengths[one])
        for one, counted in texts.items()
        for term in asked
        if term in counted
    ]
    with_term = Counter(term for _, term, _, _ in matches)
    weights = {term: idf(len(texts), count) for term, count in with_term.items()}
    return bm25(matches, weights, sum(lengths.values()) / len(texts), k1=k1, b=b)
