"""Which memories are scored: those that share a word, a time or a meaning with the query, or stand by one.

Words find candidates, rarest first, so that a search costs what it may and not what a user has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from heapq import nlargest
from typing import NamedTuple

from gieok.memory.companion.query import GUESSED, Query, Understood, understand
from gieok.memory.companion.recall.policy import RecallPolicy
from gieok.memory.companion.store import Entry, MemoryIndex
from gieok.memory.companion.terms import period_marks, speaker_mark
from gieok.ranking import bm25, idf, neighbourhood, normalised, standing_out, weighted_sum

QUERY_TERMS = 64
"""Of a longer query, only its rarest terms are looked up."""
LENDERS = 40
"""So many of the best matches lend their score to their neighbours, and so many are found by meaning."""


class Gathered(NamedTuple):
    """The memories to be scored, by their numbers, and how each matches."""

    understood: Understood
    speakers: frozenset[str]
    """The marks of those who are asked about."""
    entries: Mapping[int, Entry]
    bm25: Mapping[int, float]
    """Of which the best is 1."""
    vectors: Mapping[int, float]
    neighbours: Mapping[int, float]
    """What they are lent."""
    following: Mapping[int, int]
    """What was said right after each of the best matches."""
    own: Mapping[int, float]
    """How well each answers the query by what it says itself."""
    match: Mapping[int, float]
    """The same, with what was said around it."""


def gather(
    index: MemoryIndex, query: Query, policy: RecallPolicy, similarity: Mapping[int, float]
) -> Gathered:
    """Find what may answer. `similarity` is how close each memory lies to the query in meaning."""
    times = period_marks(query.periods) if policy.weights.time else []
    names = [speaker_mark(term) for term in query.words]
    understood = understand(index, query, {*times, *names})
    rarest = _rarest(understood.words, understood)
    speakers = frozenset(name for name in names if name in understood.rarity) | _guessed(index, understood)
    near = standing_out(similarity) if policy.weights.vectors else {}
    numbers = {
        *_with_terms(index, _rarest({*rarest, *times}, understood), policy),
        *nlargest(max(policy.top_k, LENDERS), near, key=lambda number: near[number]),
    }
    entries = {entry.number: entry for entry in index.entries(numbers, {*rarest, *speakers})}
    scores = _bm25(index, entries, rarest, understood, policy)
    close = {number: near[number] for number in entries if number in near}
    own = _own(scores, close, policy)
    gathered = Gathered(understood, speakers, entries, scores, close, {}, {}, own, own)
    return _with_neighbours(index, gathered, policy, near) if policy.weights.neighbours else gathered


def _own(scores: Mapping[int, float], close: Mapping[int, float], policy: RecallPolicy) -> dict[int, float]:
    return weighted_sum({"bm25": scores, "vectors": close}, dict(policy.weights))


def _guessed(index: MemoryIndex, understood: Understood) -> frozenset[str]:
    """The marks of speakers whose name may be meant: Jihoon, where 지훈 is asked about."""
    marks = {speaker_mark(term) for term in understood.guessed}
    return frozenset(index.rarity(marks)) if marks else frozenset()


def _rarest(terms: Iterable[str], understood: Understood) -> list[str]:
    known = (term for term in terms if term in understood.rarity)
    return sorted(known, key=lambda term: (understood.rarity[term], term))[:QUERY_TERMS]


def _with_terms(index: MemoryIndex, rarest: Iterable[str], policy: RecallPolicy) -> Collection[int]:
    """The memories that have a term, of the rarest terms first, up to the limit."""
    numbers: dict[int, None] = {}
    for term in rarest:
        numbers.update(dict.fromkeys(index.with_term(term, policy.candidates)))
        if len(numbers) >= policy.candidates:
            break
    return list(numbers)[: policy.candidates]


def _bm25(
    index: MemoryIndex,
    entries: Mapping[int, Entry],
    rarest: Collection[str],
    understood: Understood,
    policy: RecallPolicy,
) -> dict[int, float]:
    tally = index.tally()
    average = tally.words / tally.memories if tally.memories else 0.0
    telling = {
        term: idf(tally.memories, understood.rarity[term]) * (GUESSED if term in understood.guessed else 1.0)
        for term in rarest
    }
    scores: dict[int, float] = {}
    for number, entry in entries.items():
        shared = {term: times for term, times in entry.frequencies.items() if term in telling}
        if shared:
            scores[number] = bm25(shared, telling, entry.words, average, k1=policy.k1, b=policy.b)
    return normalised(scores)


def _with_neighbours(
    index: MemoryIndex, gathered: Gathered, policy: RecallPolicy, near: Mapping[int, float]
) -> Gathered:
    """The best matches lend of their score; what it is lent to is gathered too."""
    own = gathered.own
    beside_each = index.neighbours(nlargest(LENDERS, own, key=lambda number: own[number]))
    lent = neighbourhood(own, beside_each)
    following = {
        number: other for number, others in beside_each.items() for other, away in others.items() if away == 1
    }
    beside = index.entries(lent.keys() - gathered.entries.keys(), gathered.speakers)
    entries = {**gathered.entries, **{entry.number: entry for entry in beside}}
    close = {number: near[number] for number in entries if number in near}
    own = _own(gathered.bm25, close, policy)
    weights = {"own": 1.0, "neighbours": policy.weights.neighbours}
    match = weighted_sum({"own": own, "neighbours": lent}, weights)
    return gathered._replace(
        entries=entries, vectors=close, neighbours=lent, following=following, own=own, match=match
    )
