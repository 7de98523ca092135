"""BM25: the score of a row for a query, by the terms that they share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import log

import numpy as np
from numpy.typing import NDArray

from gieok.ranking.index import Flags, Match, SearchIndex

Floats = NDArray[np.float64]


def idf(documents: int, with_term: int) -> float:
    """Inverse document frequency: the rarer a term, the higher. Never negative.

    `with_term` must not be more than `documents`.
    """
    return log(1 + (documents - with_term + 0.5) / (with_term + 0.5))


def bm25f(
    index: SearchIndex,
    matches: Iterable[tuple[Match, float]],
    visible: Flags | None,
    *,
    k1: float,
    b: float,
    added_weight: float,
) -> Floats:
    """The BM25F score of each row: the counts of a term in both fields are added before they saturate.

    A match comes with the idf of its term. `k1` limits the effect of repetition, `b` sets the penalty for
    long fields, and a word of the second field counts `added_weight` of a word of the row itself. The average
    lengths are those of the visible rows (None: all).
    """
    scores = np.zeros(len(index))
    own_words, added_words = index.columns.own_words, index.columns.added_words
    own_average = _average(own_words, visible)
    added_average = _average(added_words, visible) if added_weight else 0.0
    for (rows, own, added), weight in matches:
        count = own / (1 - b + b / own_average * own_words[rows]) if own_average else own.astype(np.float64)
        if added_average:
            count += added_weight * added / (1 - b + b / added_average * added_words[rows])
        scores[rows] += weight * (k1 + 1) * count / (k1 + count)
    return scores


def _average(words: NDArray[np.uint16], visible: Flags | None) -> float:
    counted = words if visible is None else words[visible]
    return int(counted.sum(dtype=np.int64)) / len(counted) if len(counted) else 0.0


def bm25_of_texts(
    texts: Mapping[int, Mapping[str, int]], query: Collection[str], *, k1: float, b: float
) -> dict[int, float]:
    """The scores of a few texts, with the idf and average length of these texts only.

    `texts` holds the term counts of each text, `query` the terms of the query.
    """
    lengths = {one: sum(counted.values()) for one, counted in texts.items()}
    average = sum(lengths.values()) / len(texts) if texts else 0.0
    scores = dict.fromkeys(texts, 0.0)
    for term in query:
        having = [one for one, counted in texts.items() if term in counted]
        weight = idf(len(texts), len(having)) * (k1 + 1)
        for one in having:
            count = texts[one][term]
            scores[one] += weight * count / (count + k1 * (1 - b + b * lengths[one] / average))
    return scores
