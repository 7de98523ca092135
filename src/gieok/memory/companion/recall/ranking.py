"""Recall across sessions: rank the rows of a persona's index for a query, and explain each hit.

Every row is scored by array operations on the index, without decrypting it. The score is the sum of all
signals, each between 0 and about 1, by the plan's weights. For a Korean query, the best memories are then
decrypted and compared by pairs of syllables as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gieok.errors import StoreDamaged
from gieok.memory.companion.hits import ConfidenceParts, Hit, MatchedField, Why, make_hit
from gieok.memory.companion.recall.confidence import Confidences, confidences, mean_distance
from gieok.memory.companion.recall.policy import RecallPolicy
from gieok.memory.companion.recall.query import (
    QUESTION_MARK,
    REPLY_MARK,
    Query,
    QueryTerms,
    find_speakers,
    look_up_terms,
)
from gieok.memory.companion.store import ENTRIES, PersonaIndex
from gieok.memory.signals import Signal
from gieok.ranking import (
    Column,
    Flags,
    Floats,
    Match,
    above_mean,
    best_of_session,
    best_rows,
    bm25_of_texts,
    bm25f,
    following_scores,
    idf,
    neighbour_scores,
    normalised,
    ranks_of,
    recency,
    session_coverage,
)
from gieok.text import Period, syllable_pairs, terms

_MEMORY = 0
"""The kind of a row that is a memory."""
_RERANKED = 30
"""How many of the best memories are compared by pairs of syllables, or more if more hits are requested."""
_LATEST_SHARE = 0.6
"""Statements that match at least this share of the best one may be about the same thing."""
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND

Positions = NDArray[np.intp]
Similarity = tuple[NDArray[np.int64], Floats]
"""The numbers of memories with a vector, and the cosine of each with the query."""


class Ranking(NamedTuple):
    """The scored memories. Arrays have one element for each of them."""

    terms: QueryTerms
    rows: Positions
    """Rows of the index: those that match, then those that only fill up."""
    matching: int
    """How many of the rows match the query."""
    ages: Floats
    """In days."""
    signals: Mapping[str, Floats]
    scores: Floats
    best: Positions
    """The places of the requested memories in `rows`, best first."""
    confidences: Confidences
    """Of the requested memories that match."""


def rank_rows(
    index: PersonaIndex,
    query: Query,
    now: datetime,
    policy: RecallPolicy,
    similarity: Similarity | None = None,
    *,
    count: int,
    memories: int = 0,
) -> tuple[Hit, ...]:
    """Find the best `count` rows and explain each. `similarity` is None without an embedder.

    If fewer than `memories` of them are memories, the next best memories follow.
    """
    ranking = _rank(index, query, now, policy, similarity, count, memories)
    return _explained(index, query, ranking, policy)


def _rank(
    index: PersonaIndex,
    query: Query,
    now: datetime,
    policy: RecallPolicy,
    similarity: Similarity | None,
    count: int,
    memories: int,
) -> Ranking:
    columns, weights = index.rows.columns, policy.weights
    matches = _match(index, query, policy, similarity)
    rows = np.flatnonzero((matches.total > 0) | (matches.time > 0))
    matching = len(rows)
    missing = max(max(policy.top_k, count) - matching, memories - int((columns.kinds[rows] == _MEMORY).sum()))
    if policy.fill and missing > 0:
        rows = np.concatenate((rows, _fillers(index, rows, now, policy, missing)))
    ages = _ages(columns.at[rows], now)
    signals = {
        "bm25": matches.bm25[rows],
        "neighbours": matches.neighbours[rows],
        **_signals_of_match(index, query, matches, rows),
        "time": matches.time[rows],
        "recency": recency(ages, policy.half_life_days),
        "importance": columns.importance[rows] / 10,
    }
    if similarity is not None:
        signals["vectors"] = matches.vectors[rows]
    scores = sum((getattr(weights, name) * values for name, values in signals.items()), np.zeros(len(rows)))

    pairs = frozenset(syllable_pairs(query.text)) if weights.pairs else frozenset[str]()
    at, numbers = columns.at[rows], columns.numbers[rows]
    is_memory = columns.kinds[rows] == _MEMORY
    best = best_rows(scores[:matching], at, numbers, max(count, _RERANKED) if pairs else count)
    if memories:
        own = np.flatnonzero(is_memory[:matching])
        own = own[best_rows(scores[own], at[own], numbers[own], memories)]
        best = np.concatenate((best, own[~np.isin(own, best)]))
    if pairs:
        signals["pairs"] = _by_pairs(index, rows, best, pairs, policy)
        scores += weights.pairs * signals["pairs"]
        best = best[best_rows(scores[best], at[best], numbers[best], len(best))]
    best = _requested(best, is_memory, count, memories)
    certain = confidences(index, query, matches.terms, matches.time, matches.meaning, rows[best])
    if policy.min_confidence:
        kept = certain.values >= policy.min_confidence
        best, certain = best[kept], Confidences(certain.words[kept], certain.meaning[kept])
    fillers = np.arange(matching, len(rows))
    best = _requested(np.concatenate((best, fillers)), is_memory, count, memories)
    return Ranking(matches.terms, rows, matching, ages, signals, scores, best, certain)


def _requested(places: Positions, is_memory: Flags, count: int, memories: int) -> Positions:
    """The first `count` places, and the next memories until there are `memories` of them."""
    first, rest = places[:count], places[count:]
    missing = max(memories - int(is_memory[first].sum()), 0)
    return np.concatenate((first, rest[is_memory[rest]][:missing]))


class _Matches(NamedTuple):
    """How well each row of the index matches the query."""

    terms: QueryTerms
    bm25: Floats
    vectors: Floats
    meaning: Floats
    """The vector's part of the confidence."""
    own: Floats
    """Words and vector together."""
    neighbours: Floats
    total: Floats
    """The row itself and its neighbours."""
    time: Floats


def _match(
    index: PersonaIndex, query: Query, policy: RecallPolicy, similarity: Similarity | None
) -> _Matches:
    weights, none = policy.weights, np.zeros(len(index.rows))
    query_terms = look_up_terms(index, query)
    bm25 = _bm25(index, query_terms, policy)
    vectors, meaning = _vectors(index, similarity) if weights.vectors else (none, none)
    own = weights.bm25 * bm25 + weights.vectors * vectors
    neighbours = neighbour_scores(own, index.neighbours) if weights.neighbours else none
    total = own + weights.neighbours * neighbours
    time = _in_periods(index, query.periods) if weights.time else none
    return _Matches(query_terms, bm25, vectors, meaning, own, neighbours, total, time)


def _signals_of_match(
    index: PersonaIndex, query: Query, matches: _Matches, rows: Positions
) -> dict[str, Floats]:
    """Signals that depend on how well a row matches. Rows that do not match have 0.

    Of two memories that match alike, a statement is more useful than a question, and what the user said than
    what the assistant replied. The memory right after a question that matches is probably its answer.
    """
    match = normalised(matches.total)
    asks, replies = _marked(index, QUESTION_MARK, REPLY_MARK)
    none = np.zeros(len(match))
    sessions = index.rows.columns.sessions
    if matches.vectors.any():
        in_session = best_of_session(matches.total, sessions)
    else:
        near = matches.terms.near
        said = {term: match for term, match in matches.terms.matches.items() if term not in near}
        in_session = session_coverage(_weighted(index, matches.terms, said), sessions)
    is_match = (matches.total[rows] > 0) | (matches.time[rows] > 0)
    return {
        "session": normalised(in_session)[rows] * is_match,
        "speaker": (match * _spoken(index, query, matches.terms))[rows],
        "statement": (match * ~asks)[rows],
        "answer": following_scores(normalised(matches.own), asks, index.neighbours)[rows],
        "user": (match * ~replies if replies.any() and not query.is_about_reply else none)[rows],
        "latest": (_latest(index, match * ~(asks | replies)) if query.is_about_now else none)[rows],
    }


def _marked(index: PersonaIndex, *marks: str) -> list[Flags]:
    """Which rows have each mark."""
    marked = {mark: np.zeros(len(index.rows), np.bool_) for mark in marks}
    for mark, found in index.find(marks).items():
        marked[mark][found.rows] = True
    return list(marked.values())


def _latest(index: PersonaIndex, statements: Floats) -> Floats:
    """The place in time of each statement among those that match about as well: 1 is the latest, 0 the first.

    By place and not by age, so that of two statements that contradict each other the newer one is first,
    whether a minute or a year lies between them.
    """
    at, numbers = index.rows.columns.at, index.rows.columns.numbers
    close = np.flatnonzero((statements > 0) & (statements >= _LATEST_SHARE * statements.max(initial=0.0)))
    values = np.zeros(len(statements))
    if len(close) > 1 and at[close].min() < at[close].max():
        in_order = close[np.lexsort((numbers[close], at[close]))]
        values[in_order] = np.arange(len(close)) / (len(close) - 1)
    return values


def _weighted(
    index: PersonaIndex, terms: QueryTerms, found: Mapping[str, Match]
) -> list[tuple[Match, float]]:
    """The rows that contain each of the found terms, and its idf."""
    return [
        (match, terms.weight(term) * idf(index.count, terms.frequency(term))) for term, match in found.items()
    ]


def _bm25(index: PersonaIndex, terms: QueryTerms, policy: RecallPolicy) -> Floats:
    weighted = _weighted(index, terms, terms.matches)
    scores = bm25f(
        index.rows, weighted, index.visible, k1=policy.k1, b=policy.b, added_weight=policy.added_weight
    )
    return normalised(scores)


def _vectors(index: PersonaIndex, similarity: Similarity | None) -> tuple[Floats, Floats]:
    """How far the vector of each row that is searched is above the mean, in deviations and as a share of what
    is possible; 0 without a vector. StoreDamaged for a vector without a memory. A message may have been
    deleted since the vectors were loaded."""
    values, meaning = np.zeros(len(index.rows)), np.zeros(len(index.rows))
    if similarity is not None and len(index.rows):
        numbers, cosines = similarity
        in_order, row_of = index.rows.by_number
        places = in_order.searchsorted(numbers).clip(max=len(in_order) - 1)
        exists = in_order[places] == numbers
        if not (exists | (numbers >= ENTRIES)).all():
            raise StoreDamaged("a vector refers to a memory that does not exist; restore a backup")
        rows = row_of[places]
        searched = exists if index.visible is None else exists & index.visible[rows]
        rows, cosines = rows[searched], cosines[searched]
        values[rows], meaning[rows] = above_mean(cosines), mean_distance(cosines)
    return values, meaning


def _in_periods(index: PersonaIndex, periods: Sequence[Period]) -> Floats:
    """1 for memories in a period that the query names."""
    at = index.rows.columns.at
    inside = np.zeros(len(at), np.bool_)
    for period in periods:
        start, end = (round(time.timestamp() * _SECOND) for time in (period.start, period.end))
        inside |= (at >= start) & (at < end)
    if index.visible is not None:
        inside &= index.visible
    return inside.astype(np.float64)


def _fillers(
    index: PersonaIndex, matching: Positions, now: datetime, policy: RecallPolicy, count: int
) -> Positions:
    """The most recent and important `count` of the memories that do not match."""
    others = np.ones(len(index.rows), np.bool_) if index.visible is None else index.visible.copy()
    others[matching] = False
    others &= index.rows.columns.kinds == _MEMORY
    rows = np.flatnonzero(others)
    columns = index.rows.columns
    scores = policy.weights.recency * recency(_ages(columns.at[rows], now), policy.half_life_days)
    scores += policy.weights.importance * columns.importance[rows] / 10
    best = best_rows(scores, columns.at[rows], columns.numbers[rows], count)
    return rows[best]


def _ages(at: Column, now: datetime) -> Floats:
    """In days, at least 0."""
    return np.maximum(now.timestamp() * _SECOND - at, 0.0) / _DAY


def _spoken(index: PersonaIndex, query: Query, terms: QueryTerms) -> Floats:
    """The share of the speakers named in the query that each memory is by."""
    spoken = np.zeros(len(index.rows))
    speakers = find_speakers(index, {*query.words, *terms.alternatives})
    for match in speakers.values():
        spoken[match.rows] += 1 / len(speakers)
    return spoken


def _by_pairs(
    index: PersonaIndex, rows: Positions, first: Positions, pairs: frozenset[str], policy: RecallPolicy
) -> Floats:
    """How many pairs of adjacent syllables of the query each of the first memories contains."""
    memories = index.open(rows[first].tolist())
    texts = {place: memory.syllable_pairs for place, memory in enumerate(memories)}
    found = bm25_of_texts(texts, pairs, k1=policy.k1, b=policy.b)
    values = np.zeros(len(rows))
    values[first] = normalised(np.array([found[place] for place in range(len(first))]))
    return values


def _explained(index: PersonaIndex, query: Query, ranking: Ranking, policy: RecallPolicy) -> tuple[Hit, ...]:
    """The hits in order, each with its reasons: the matched words, and its value and rank by each signal."""
    rows = ranking.rows[ranking.best]
    memories = index.open(rows.tolist())
    found = _found_words(ranking.terms, rows)
    signals = _signals_of(ranking, policy)
    asked = dict.fromkeys(query.words.values())
    fillers = np.zeros(len(rows) - len(ranking.confidences.words))
    words, meaning = (np.concatenate((part, fillers)).tolist() for part in ranking.confidences)
    values = np.concatenate((ranking.confidences.values, fillers)).tolist()
    scores, ages = ranking.scores[ranking.best].tolist(), ranking.ages[ranking.best].tolist()
    is_filler = (ranking.best >= ranking.matching).tolist()
    return tuple(
        make_hit(
            memory.record,
            scores[place],
            values[place],
            Why(
                matched_words=tuple(found[place].words),
                missing_words=tuple(word for word in asked if word not in found[place].words),
                matched_fields=tuple(found[place].fields),
                known=tuple(
                    label for label in memory.labels if not found[place].known.isdisjoint(terms(label))
                ),
                signals=signals[place],
                confidence=ConfidenceParts(words[place], meaning[place]),
                age_days=ages[place],
                filled=is_filler[place],
            ),
        )
        for place, memory in enumerate(memories)
    )


def _signals_of(ranking: Ranking, policy: RecallPolicy) -> list[dict[str, Signal]]:
    """The signals of each hit that are not 0."""
    signals: list[dict[str, Signal]] = [{} for _ in ranking.best]
    for name, values in ranking.signals.items():
        weight = getattr(policy.weights, name)
        if weight and values.any():
            some = values[ranking.best]
            for place, (value, rank) in enumerate(zip(some.tolist(), ranks_of(some, values), strict=True)):
                if value > 0:
                    signals[place][name] = Signal(value=value, weight=weight, rank=rank)
    return signals


class _Found(NamedTuple):
    """What a row contains of the query."""

    words: dict[str, None]
    """In the order of the query."""
    fields: dict[MatchedField, None]
    known: set[str]
    """The terms in what is known of the row."""


def _found_words(terms: QueryTerms, rows: Positions) -> list[_Found]:
    found = [_Found({}, {}, set()) for _ in rows]
    for term, word in terms.words.items():
        having, own, added = terms.matches[term]
        nearest = np.minimum(having.searchsorted(rows), len(having) - 1)
        for place in np.flatnonzero(having[nearest] == rows).tolist():
            found[place].words[f"{word} ~ {term}" if term in terms.near else word] = None
            if own[nearest[place]]:
                found[place].fields["text"] = None
            if added[nearest[place]]:
                found[place].fields["known"] = None
                found[place].known.add(term)
    return found
