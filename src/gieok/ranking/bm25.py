"""BM25: the score of a text for a query, by the terms that they share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import log


def idf(documents: int, with_term: int) -> float:
    """Inverse document frequency: the rarer a term, the higher. Never negative.

    `with_term` must not be more than `documents`.
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
    """The scores of texts. A match of a term is a text, how often it has the term, and the text's length.

    `weights` is the idf of each term; a term without a weight is ignored. `k1` limits the effect of
    repetition, `b` sets the penalty for long texts.
    """
    scores: dict[int, float] = {}
    get = scores.get
    short, longer = (k1 * (1 - b), k1 * b / average_length) if average_length else (k1, 0.0)
    for term, texts in matches.items():
        if term in weights:
            weight = weights[term] * (k1 + 1)
            for one, times, length in texts:
                scores[one] = get(one, 0.0) + weight * times / (times + short + longer * length)
    return scores


def local_bm25(
    texts: Mapping[int, Mapping[str, int]], query: Collection[str], *, k1: float, b: float
) -> dict[int, float]:
    """The scores of a few texts, with the idf and average length of these texts only.

    `texts` holds the term counts of each text, `query` the terms of the query.
    """
    if not texts:
        return {}
    lengths = {one: sum(counted.values()) for one, counted in texts.items()}
    matches = {
        term: [(one, counted[term], lengths[one]) for one, counted in texts.items() if term in counted]
        for term in query
    }
    weights = {term: idf(len(texts), len(with_term)) for term, with_term in matches.items()}
    return bm25(matches, weights, sum(lengths.values()) / len(texts), k1=k1, b=b)
