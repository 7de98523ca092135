"""Search of documents: rank the index, then open documents best first until the page is full."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from pydantic import Field

from gieok.engine import Data
from gieok.errors import InputRefused
from gieok.memory.documents.records import (
    Document,
    DocumentWhy,
    FoundDocument,
    ListNamespaces,
    QueryVector,
    SearchDocuments,
)
from gieok.memory.documents.rules import check_filter, matches, namespace_matches, query_terms
from gieok.memory.documents.store import Candidates, DocumentStore
from gieok.memory.signals import Signal
from gieok.ranking import (
    Column,
    Floats,
    Match,
    best_rows,
    bm25f,
    idf,
    normalised,
    ranks_of,
    recency,
    unit_rows,
)

SPELLING_WEIGHT = 0.5
"""Weight of a term that is not in the query, but another spelling of one that is."""
OPENED = 100
"""How many documents are opened at a time, at most."""
MAX_RESULT_CHARS = 3_000_000
_MICROS_PER_DAY = 86_400_000_000


class SearchWeights(Data):
    """The weights of the signals in a score."""

    bm25: float = Field(ge=0, le=10)
    recency: float = Field(ge=0, le=10)


class DocumentSearchPolicy(Data):
    """How documents are ranked."""

    k1: float = Field(gt=0, le=10)
    b: float = Field(ge=0, le=1)
    half_life_days: float = Field(gt=0, le=36_500)
    weights: SearchWeights


class _Ranking(NamedTuple):
    """The rows of the index that match, best first, with their signals. Without a query, `scores` is None.

    Where there are fewer scores than rows, the rest of the rows have none."""

    rows: Column
    scores: Floats | None = None
    signals: Mapping[str, Floats] = {}
    weights: Mapping[str, float] = {}
    ages: Floats = np.zeros(0)
    """In days."""


def search_documents(
    store: DocumentStore, asked: SearchDocuments, policy: DocumentSearchPolicy, now: datetime
) -> tuple[FoundDocument, ...]:
    """One page of documents: by score with a query or a vector, else those that were updated last.

    InputRefused for an unknown operator in the filter, and for a page that would be too large.
    """
    check_filter(asked.filter)
    query = asked.query.strip() if asked.query else ""
    by_term, spelled = query_terms(query)
    candidates = store.candidates(asked.namespace, [*by_term, *spelled])
    if asked.vector is not None:
        ranking = _rank_by_vector(store, candidates, spelled, policy, asked.vector, now)
    else:
        ranking = _rank(candidates, spelled, policy, now) if query else _newest(candidates)
    explain = _explainer(candidates, ranking, {**spelled, **by_term})
    page: list[FoundDocument] = []
    chars = skipped = 0
    first = OPENED if asked.filter else min(asked.offset + asked.limit, OPENED)
    for place, document in _opened(store, candidates, ranking.rows, now, first):
        if not matches(document.value, asked.filter):
            continue
        if skipped < asked.offset:
            skipped += 1
            continue
        page.append(FoundDocument.model_construct(**dict(document), **explain(place)))
        chars += len(str(document.value))
        if chars > MAX_RESULT_CHARS:
            raise InputRefused("finds documents that are too large together; ask for fewer", at="limit")
        if len(page) == asked.limit:
            break
    return tuple(page)


def list_namespaces(
    store: DocumentStore, asked: ListNamespaces, now: datetime
) -> tuple[tuple[str, ...], ...]:
    """One page of the namespaces that match, in alphabetical order."""
    found = (each for each in store.namespaces(now) if namespace_matches(each, asked.matching))
    cut = sorted({each[: asked.max_depth] for each in found})
    return tuple(cut[asked.offset : asked.offset + asked.limit])


def _opened(
    store: DocumentStore, candidates: Candidates, rows: Column, now: datetime, first: int
) -> Iterator[tuple[int, Document]]:
    """The documents of these rows in order, each with its place, without expired ones. They are opened in
    chunks: as many as a page needs if none is left out, then more."""
    ids = candidates.rows.columns.ids
    start, size = 0, first
    while start < len(rows):
        roots = [UUID(bytes=ids[row].tobytes()) for row in rows[start : start + size]]
        documents = store.open(roots, now)
        yield from ((start + place, documents[root]) for place, root in enumerate(roots) if root in documents)
        start, size = start + size, OPENED


def _newest(candidates: Candidates) -> _Ranking:
    """All candidates, those that were updated last first."""
    columns, rows = candidates.rows.columns, _below(candidates)
    return _Ranking(rows[np.lexsort((columns.numbers[rows], columns.at[rows]))[::-1]])


def _rank(
    candidates: Candidates, spelled: Mapping[str, str], policy: DocumentSearchPolicy, now: datetime
) -> _Ranking:
    """The candidates with a word of the query: best score first, then those that were updated last."""
    index = candidates.rows
    bm25 = _bm25(candidates, spelled, policy)
    rows = np.flatnonzero(bm25 if candidates.below is None else bm25 * candidates.below)
    at, numbers = index.columns.at[rows], index.columns.numbers[rows]
    ages = _ages(at, now)
    signals = {"bm25": normalised(bm25[rows]), "recency": recency(ages, policy.half_life_days)}
    weights = dict(policy.weights)
    scores = sum((weights[name] * values for name, values in signals.items()), np.zeros(len(rows)))
    best = best_rows(scores, at, numbers, len(rows))
    ordered = {name: values[best] for name, values in signals.items()}
    return _Ranking(rows[best], scores[best], ordered, weights, ages[best])


def _rank_by_vector(
    store: DocumentStore,
    candidates: Candidates,
    spelled: Mapping[str, str],
    policy: DocumentSearchPolicy,
    query: QueryVector,
    now: datetime,
) -> _Ranking:
    """The candidates by similarity: the cosine of their most similar vector. Then those without a vector,
    first the ones that share words with the query."""
    columns, rows = candidates.rows.columns, _below(candidates)
    roots = [UUID(bytes=columns.ids[row].tobytes()) for row in rows]
    vectors = store.vectors(query.full_space, len(query.values), roots)
    direction = unit_rows(np.asarray([query.values], dtype=np.float32))[0]
    has_vector = np.array([root in vectors for root in roots], np.bool_)
    cosines = np.array([float((vectors[root] @ direction).max()) for root in roots if root in vectors])
    scored, rest = rows[has_vector], rows[~has_vector]
    best = best_rows(cosines, columns.at[scored], columns.numbers[scored], len(scored))
    bm25 = _bm25(candidates, spelled, policy)
    rest = rest[np.lexsort((columns.numbers[rest], columns.at[rest], bm25[rest]))[::-1]]
    ordered = np.concatenate([scored[best], rest])
    scores = cosines[best]
    return _Ranking(ordered, scores, {"vector": scores}, {"vector": 1.0}, _ages(columns.at[ordered], now))


def _below(candidates: Candidates) -> Column:
    """The rows of the index below the namespace."""
    below = candidates.below
    return np.arange(len(candidates.rows)) if below is None else np.flatnonzero(below)


def _ages(at: Column, now: datetime) -> Floats:
    return np.maximum(now.timestamp() * 1_000_000 - at, 0) / _MICROS_PER_DAY


def _bm25(candidates: Candidates, spelled: Mapping[str, str], policy: DocumentSearchPolicy) -> Floats:
    """BM25 of each row of the index. Words are as rare as they are below the namespace."""
    index, below, found = candidates
    count = len(index) if below is None else int(below.sum())
    weighted: list[tuple[Match, float]] = []
    for term, match in found.items():
        frequency = len(match.rows) if below is None else int(below[match.rows].sum())
        weighted.append((match, (SPELLING_WEIGHT if term in spelled else 1.0) * idf(count, frequency)))
    return bm25f(index, weighted, below, k1=policy.k1, b=policy.b, added_weight=0.0)


def _explainer(
    candidates: Candidates, ranking: _Ranking, words: Mapping[str, str]
) -> Callable[[int], Mapping[str, Any]]:
    """Gives the score of the document at a place of the ranking, and the reasons for it."""
    scores, weights = ranking.scores, ranking.weights
    if scores is None:
        return lambda _place: {"score": None, "why": None}
    having = {term: frozenset(match.rows.tolist()) for term, match in candidates.matches.items()}
    ranks = {name: ranks_of(values, values) for name, values in ranking.signals.items()}

    def explain(place: int) -> Mapping[str, Any]:
        row, is_scored = int(ranking.rows[place]), place < len(scores)
        why = DocumentWhy(
            matched_words=tuple(dict.fromkeys(words[term] for term in having if row in having[term])),
            signals={
                name: Signal(float(values[place]), weights[name], ranks[name][place])
                for name, values in ranking.signals.items()
                if is_scored and weights[name] and values[place]
            },
            age_days=float(ranking.ages[place]),
        )
        return {"score": float(scores[place]) if is_scored else None, "why": why}

    return explain
