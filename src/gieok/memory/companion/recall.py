"""Recall across sessions: which memories of a persona answer a query, and why.

Words find candidates, rarest first, so that a search costs what it may and not what a user has. Signals that
are comparable are then added up, each with the plan's weight.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from heapq import nlargest
from typing import Annotated, NamedTuple

from pydantic import Field

from gieok.engine import Data
from gieok.memory.companion.records import Memory, MemoryHit, Signal, Why
from gieok.memory.companion.rules import check_query, query_words
from gieok.memory.companion.store import Entry, MemoryIndex
from gieok.ranking import bm25, idf, neighbourhood, normalised, ranks, recency, weighted_sum

MAX_TOP_K = 1_000
QUERY_TERMS = 64
"""Of a longer query, only its rarest terms are looked up."""
LENDERS = 4
"""For each place, so many of the best matches lend their score to their neighbours."""

Weight = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]


class Weights(Data):
    """How much each signal counts. `vectors` counts only where there is an embedder."""

    bm25: Weight
    neighbours: Weight
    recency: Weight
    importance: Weight
    vectors: Weight


class RecallPolicy(Data):
    """What a plan says about recall."""

    top_k: Annotated[int, Field(ge=1, le=MAX_TOP_K)]
    candidates: Annotated[int, Field(ge=1, le=10_000)]
    """How many memories that share a word are scored at most."""
    k1: Annotated[float, Field(gt=0, le=10)]
    b: Annotated[float, Field(ge=0, le=1)]
    half_life_days: Annotated[float, Field(gt=0, le=1_000_000)]
    weights: Weights
    fill: bool
    """Whether recent and important memories take the places that no match takes."""
    include_archived: bool


class Found(NamedTuple):
    """What one view of the memories gave, by their numbers."""

    words: Mapping[str, str]
    """The terms of the query, each with the word that it came from."""
    entries: Mapping[int, Entry]
    ages: Mapping[int, float]
    signals: Mapping[str, Mapping[int, float]]
    """Each signal's values. A memory that a signal says nothing about may be missing there."""
    fillers: frozenset[int]
    """What nothing of the query matched."""
    memories: Mapping[int, Memory]
    """Those that were opened."""


NOTHING = Found({}, {}, {}, {}, frozenset(), {})


def look_up(index: MemoryIndex, query: str, now: datetime, policy: RecallPolicy, *, open_all: bool) -> Found:
    """Find and score. Opens only the best ones, or all that were found where more signals are to come."""
    check_query(query)
    words = query_words(query)
    entries, scores, lent = _matches(index, words, policy)
    fillers: dict[int, Entry] = {}
    if policy.fill and len(entries) < policy.top_k:
        numbers = {*index.recent(policy.top_k), *index.important(policy.top_k)} - entries.keys()
        fillers = {entry.number: entry for entry in index.entries(numbers, ())}
    everything = entries | fillers
    ages = {
        number: max((now - entry.occurred_at) / timedelta(days=1), 0.0)
        for number, entry in everything.items()
    }
    signals = {
        "bm25": scores,
        "neighbours": lent,
        "recency": {number: recency(age, policy.half_life_days) for number, age in ages.items()},
        "importance": {number: entry.importance / 10 for number, entry in everything.items()},
    }
    found = Found(words, everything, ages, signals, frozenset(fillers), {})
    wanted = list(everything) if open_all else [number for number, _ in _best(found, policy)]
    return found._replace(memories=dict(zip(wanted, index.open(wanted), strict=True)))


def with_vectors(found: Found, similarity: Mapping[int, float]) -> Found:
    """The same with one more signal. What lies close to the query in meaning is a match like any other."""
    close = {number: value for number, value in similarity.items() if value > 0}
    return found._replace(
        signals={**found.signals, "vectors": close}, fillers=found.fillers.difference(close)
    )


def hits(found: Found, policy: RecallPolicy) -> tuple[MemoryHit, ...]:
    """The best memories in order, each with its reasons."""
    weights = dict(policy.weights)
    places = {name: ranks(values) for name, values in found.signals.items()}
    return tuple(
        MemoryHit(
            memory=found.memories[number],
            score=score,
            why=Why(
                matched_words=_matched(found, number),
                signals={
                    name: Signal(
                        value=values.get(number, 0.0), weight=weights[name], rank=places[name].get(number)
                    )
                    for name, values in found.signals.items()
                },
                age_days=found.ages[number],
                filled=number in found.fillers,
            ),
        )
        for number, score in _best(found, policy)
    )


def _matches(
    index: MemoryIndex, words: Mapping[str, str], policy: RecallPolicy
) -> tuple[dict[int, Entry], dict[int, float], dict[int, float]]:
    """The memories that share words with the query or stand beside one that does; their BM25, of which the
    best is 1; and what they are lent by their neighbours.
    """
    tally, rarity = index.tally(), index.rarity(words.keys())
    rarest = sorted(rarity, key=lambda term: rarity[term])[:QUERY_TERMS]
    telling = {term: idf(tally.memories, rarity[term]) for term in rarest}
    average = tally.words / tally.memories if tally.memories else 0.0
    entries = {entry.number: entry for entry in index.entries(_with_words(index, rarest, policy), rarest)}
    scores = normalised(
        {
            number: bm25(entry.frequencies, telling, entry.words, average, k1=policy.k1, b=policy.b)
            for number, entry in entries.items()
        }
    )
    if not policy.weights.neighbours:
        return entries, scores, {}
    lenders = nlargest(LENDERS * policy.top_k, scores, key=lambda number: scores[number])
    lent = neighbourhood(scores, index.neighbours(lenders))
    beside = {entry.number: entry for entry in index.entries(lent.keys() - entries.keys(), ())}
    return entries | beside, scores, lent


def _with_words(index: MemoryIndex, rarest: Iterable[str], policy: RecallPolicy) -> Collection[int]:
    """The memories that have a term, of the rarest terms first, up to the limit."""
    numbers: dict[int, None] = {}
    for term in rarest:
        numbers.update(dict.fromkeys(index.with_term(term, policy.candidates)))
        if len(numbers) >= policy.candidates:
            break
    return list(numbers)[: policy.candidates]


def _best(found: Found, policy: RecallPolicy) -> list[tuple[int, float]]:
    """The best numbers with their scores: matches before fillers, then by score; of equals the newest."""
    scores = weighted_sum(found.signals, dict(policy.weights))
    best = nlargest(
        policy.top_k,
        scores,
        key=lambda number: (
            number not in found.fillers,
            scores[number],
            found.entries[number].occurred_at,
            number,
        ),
    )
    return [(number, scores[number]) for number in best]


def _matched(found: Found, number: int) -> tuple[str, ...]:
    frequencies = found.entries[number].frequencies
    return tuple(dict.fromkeys(word for term, word in found.words.items() if term in frequencies))
