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
    SearchDocuments,
)
from gieok.memory.documents.rules import check_filter, matches, namespace_matches, query_terms
from gieok.memory.documents.store import Candidates, DocumentStore
from gieok.memory.signals import Signal
from gieok.ranking import Column, Floats, Match, best_rows, bm25f, idf, normalised, ranks_of, recency

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
    """The rows of the index that match, best first, with their signals. Without a query, `scores` is None."""

    rows: Column
    scores: Floats | None = None
    signals: Mapping[str, Floats] = {}
    ages: Floats = np.zeros(0)
    """In days."""


def search_documents(
    store: DocumentStore, asked: SearchDocuments, policy: DocumentSearchPolicy, now: datetime
) -> tuple[FoundDocument, ...]:
    """One page of documents: by score with a query, else those that were updated last.

    InputRefused for an unknown operator in the filter, and for a page that would be too large.
    """
    check_filter(asked.filter)
    query = asked.query.strip() if asked.query else ""
    by_term, spelled = query_terms(query)
    candidates = store.candidates(asked.namespace, [*by_term, *spelled])
    ranking = _rank(candidates, spelled, policy, now) if query else _newest(candidates)
    explain = _explainer(candidates, ranking, {**spelled, **by_term}, policy)
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
    columns, below = candidates.rows.columns, candidates.below
    rows = np.arange(len(candidates.rows)) if below is None else np.flatnonzero(below)
    return _Ranking(rows[np.lexsort((columns.numbers[rows], columns.at[rows]))[::-1]])


def _rank(
    candidates: Candidates, spelled: Mapping[str, str], policy: DocumentSearchPolicy, now: datetime
) -> _Ranking:
    """The candidates with a word of the query: best score first, then those that were updated last."""
    index, below, found = candidates
    count = len(index) if below is None else int(below.sum())
    weighted: list[tuple[Match, float]] = []
    for term, match in found.items():
        frequency = len(match.rows) if below is None else int(below[match.rows].sum())
        weighted.append((match, (SPELLING_WEIGHT if term in spelled else 1.0) * idf(count, frequency)))
    bm25 = bm25f(index, weighted, below, k1=policy.k1, b=policy.b, added_weight=0.0)
    rows = np.flatnonzero(bm25 if below is None else bm25 * below)
    at, numbers = index.columns.at[rows], index.columns.numbers[rows]
    ages = np.maximum(now.timestamp() * 1_000_000 - at, 0) / _MICROS_PER_DAY
    signals = {"bm25": normalised(bm25[rows]), "recency": recency(ages, policy.half_life_days)}
    weights = dict(policy.weights)
    scores = sum((weights[name] * values for name, values in signals.items()), np.zeros(len(rows)))
    best = best_rows(scores, at, numbers, len(rows))
    ordered = {name: values[best] for name, values in signals.items()}
    return _Ranking(rows[best], scores[best], ordered, ages[best])


def _explainer(
    candidates: Candidates, ranking: _Ranking, words: Mapping[str, str], policy: DocumentSearchPolicy
) -> Callable[[int], Mapping[str, Any]]:
    """Gives the score of the document at a place of the ranking, and the reasons for it."""
    scores, weights = ranking.scores, dict(policy.weights)
    if scores is None:
        return lambda _place: {"score": None, "why": None}
    having = {term: frozenset(match.rows.tolist()) for term, match in candidates.matches.items()}
    ranks = {name: ranks_of(values, values) for name, values in ranking.signals.items()}

    def explain(place: int) -> Mapping[str, Any]:
        row = int(ranking.rows[place])
        why = DocumentWhy(
            matched_words=tuple(dict.fromkeys(words[term] for term in having if row in having[term])),
            signals={
                name: Signal(float(values[place]), weights[name], ranks[name][place])
                for name, values in ranking.signals.items()
                if weights[name] and values[place]
            },
            age_days=float(ranking.ages[place]),
        )
        return {"score": float(scores[place]), "why": why}

    return explain
