"""BM25: how well a text answers a query, by the words that they share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import log


def idf(documents: int, with_term: int) -> float:
    """How much a term says: the rarer, the more. Never negative, so that a common term cannot cost a text.

    `with_term` may not be more than `documents`.
    """
    return log(1 + (documents - with_term + 0.5) / (with_term + 0.5))


def bm25(
    frequencies: Mapping[str, int],
    weights: Mapping[str, float],
    length: int,
    average_length: float,
    *,
    k1: float,
    b: float,
) -> float:
    """The score of one text. `frequencies` counts the query's terms in it, `weights` is the idf of each.

    `k1` says how soon repeating a term stops helping, `b` how much a long text is held back.
    """
    held_back = k1 * (1 - b + b * length / average_length) if average_length else k1
    return sum(weights[term] * times * (k1 + 1) / (times + held_back) for term, times in frequencies.items())


def bm25_among(
    texts: Mapping[int, Mapping[str, int]], asked: Collection[str], *, k1: float, b: float
) -> dict[int, float]:
    """The scores of a few texts by themselves: what is rare is what is rare among them.

    `texts` counts the terms of each, `asked` are those of the query.
    """
    if not texts:
        return {}
    with_term = {term: sum(term in counted for counted in texts.values()) for term in asked}
    weights = {term: idf(len(texts), count) for term, count in with_term.items() if count}
    lengths = {one: sum(counted.values()) for one, counted in texts.items()}
    average = sum(lengths.values()) / len(texts)
    return {
        one: bm25(
            {term: counted[term] for term in weights if term in counted},
            weights,
            lengths[one],
            average,
            k1=k1,
            b=b,
        )
        for one, counted in texts.items()
    }
