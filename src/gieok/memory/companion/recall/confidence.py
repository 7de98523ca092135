"""Confidence of hits: how much of the question a row and its neighbours contain, from 0 to 1.

A score depends on the other rows of a search. Confidence does not, so it can be compared between queries, and
a threshold on it means the same for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gieok.memory.companion.recall.query import Query, QueryTerms
from gieok.memory.companion.store import PersonaIndex
from gieok.ranking import Flags, Floats, idf

_NEAR = 0.5
"""What a word counts that is not in the row, but in the one before or after it in its session."""
_LEAST_ROWS = 100
"""An index with fewer rows counts as one with so many: in a few messages about one thing, its word is not
common but what they are about."""
_MOST_WORDS = 6
"""A message with more words than this tells more than one thing, and a hit need not be about all of them."""
_NONE = -1

Positions = NDArray[np.intp]


class Confidences(NamedTuple):
    """The confidence of some rows and its parts. Arrays have one element for each of them."""

    words: Floats
    """The share of the question's words, each by how rare it is, that the row and its neighbours contain."""
    meaning: Floats
    """How much closer the row's vector is to the question's than vectors are on average."""

    @property
    def values(self) -> Floats:
        """Either part alone may be evidence enough."""
        return 1 - (1 - self.words) * (1 - self.meaning)


def confidences(
    index: PersonaIndex,
    query: Query,
    terms: QueryTerms,
    in_period: Floats,
    meaning: Floats,
    rows: Positions,
) -> Confidences:
    """The confidence of these rows. `in_period` and `meaning` have an element for each row of the index.

    A time that the query names counts as one of its words, in place of those that name it. A word that the
    index does not contain counts too.
    """
    count, (before, after) = max(index.count, _LEAST_ROWS), _neighbours_of(index, rows)

    def found(match: NDArray[np.int32]) -> Floats:
        near = _NEAR * (_contains(match, before) | _contains(match, after))
        return np.where(_contains(match, rows), 1.0, near)

    total, matched = 0.0, np.zeros(len(rows))
    for own in _terms_of_words(query, terms).values():
        weight, best = 0.0, np.zeros(len(rows))
        for term in own:
            match = terms.matches.get(term)
            importance = idf(count, terms.frequency(term))
            weight = max(weight, importance)
            if match is not None:
                np.maximum(best, terms.weight(term) * importance * found(match.rows), out=best)
        total, matched = total + weight, matched + best
    if query.periods:
        weight = idf(count, int(np.count_nonzero(in_period)))
        total, matched = total + weight, matched + weight * (in_period[rows] > 0)
    total = min(total, _MOST_WORDS * idf(count, 0))
    words = np.minimum(matched / total, 1.0) if total else matched
    return Confidences(words, meaning[rows])


def mean_distance(cosines: Floats) -> Floats:
    """How far each cosine is above their mean, as a share of what is possible. Models differ in the cosine of
    unrelated texts."""
    mean = float(cosines.mean()) if len(cosines) else 0.0
    return np.clip((cosines - mean) / (1 - mean), 0.0, 1.0) if mean < 1 else np.zeros(len(cosines))


def _terms_of_words(query: Query, terms: QueryTerms) -> dict[str, list[str]]:
    """The terms of each word of the query, with alternative spellings that the index contains. A word with
    several terms, such as a compound, counts once."""
    of_word: dict[str, list[str]] = {}
    for term, word in query.words.items():
        if term not in query.dated:
            of_word.setdefault(word, []).append(term)
    for term in (*terms.alternatives, *terms.near):
        # Two words that are written as one in the index are alternatives of both.
        for word in _parts(terms.words[term], of_word):
            of_word[word].append(term)
    return of_word


def _parts(word: str, known: Iterable[str]) -> list[str]:
    return [word] if word in known else [part for part in word.split() if part in known]


def _neighbours_of(index: PersonaIndex, rows: Positions) -> tuple[Positions, Positions]:
    """The row before and the row after each of these in its session, -1 where there is none."""
    order, next_is_near, _ = index.neighbours
    before, after = np.full(len(rows), _NONE), np.full(len(rows), _NONE)
    places = np.flatnonzero(np.isin(order, rows))
    of_row = {int(order[place]): int(place) for place in places}
    for position, row in enumerate(rows.tolist()):
        place = of_row.get(row)
        if place is not None:
            if place > 0 and next_is_near[place - 1]:
                before[position] = order[place - 1]
            if place < len(next_is_near) and next_is_near[place]:
                after[position] = order[place + 1]
    return before, after


def _contains(match: NDArray[np.int32], rows: Positions) -> Flags:
    """Which of these rows are in a match. A match has rows, in ascending order."""
    return match[np.minimum(match.searchsorted(rows), len(match) - 1)] == rows
