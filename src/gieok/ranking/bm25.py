"""BM25: how well a text answers a query, by the words that they share."""

from __future__ import annotations

from collections.abc import Mapping
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
