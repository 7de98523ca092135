"""BM25: how well a text answers a query, by the words that they share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import log


def idf(documents: int, with_term: int) -> float:
    """How much a term says: the rarer, the more. Never negative, so that a common term cannot cost a text.

    `with_term` may not be more than `documents`.
    """
    return log(1 + (documents - with_term + 0.5) / (with_term + 0.5))


def bm25(
    matches: Mapping[str, Iterable[tuple[int, int, int]]],
    weights: Mapping[str, float],
    average_length: float,
    *,
    k1: float,
    b: float,
) -> dict[int, float]:
    """The scores of texts. Each match of a term is a text that has it, how often, and how long the text is.

    `weights` is the idf of each term; one without a weight says nothing. `k1` says how soon repeating a term
    stops helping, `b` how much a long text is held back.
    """
    scores: dict[int, float] = {}
    score_of = scores.get
    short, longer = (k1 * (1 - b), k1 * b / average_length) if average_length else (k1, 0.0)
    for term, found in matches.items():
        if term in weights:
            weight = weights[term] * (k1 + 1)
            for one, times, length in found:
                scores[one] = score_of(one, 0.0) + weight * times / (times + short + longer * length)
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
    matches = {
        term: [(one, counted[term], lengths[one]) for one, counted in texts.items() if term in counted]
        for term in asked
    }
    weights = {term: idf(len(texts), len(found)) for term, found in matches.items()}
    return bm25(matches, weights, sum(lengths.values()) / len(texts), k1=k1, b=b)
