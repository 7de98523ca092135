"""Candidates of a search: memories that match the query by words, time or vector, and their neighbours.

Words find candidates, rarest term first, so that the cost of a search is bounded. Only the best of them by
words, time and vector are scored by the other signals.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from typing import NamedTuple

from gieok.memory.companion.recall.policy import RecallPolicy
from gieok.memory.companion.recall.query import (
    ALTERNATIVE_WEIGHT,
    Query,
    QueryTerms,
    look_up_terms,
    period_marks,
    speaker_mark,
)
from gieok.memory.companion.store import Entry, Matches, MemoryIndex
from gieok.ranking import above_mean, bm25, idf, neighbour_scores, normalised, weighted_sum

QUERY_TERMS = 64
"""Most terms of a query that are looked up, rarest first."""
LENDERS = 30
"""How many of the best matches lend their score to their neighbours, and how many vectors add candidates."""
SCORED = 60
"""How many of the best matches are scored by every signal, or more if more hits are requested."""


class Candidates(NamedTuple):
    """The memories to score, by number, and how each matches."""

    terms: QueryTerms
    entries: Mapping[int, Entry]
    shared: Mapping[int, frozenset[str]]
    """The terms of the query that each contains; those without any are left out."""
    spoken: Mapping[int, float]
    """The share of the speakers named in the query that each memory is by."""
    bm25: Mapping[int, float]
    """Normalised: the best is 1."""
    vectors: Mapping[int, float]
    neighbours: Mapping[int, float]
    """Scores lent by neighbours."""
    following: Mapping[int, int]
    """The memory right after each of the best matches in its session."""
    own: Mapping[int, float]
    """Match of each memory by its own text."""
    match: Mapping[int, float]
    """The same plus the scores lent by neighbours."""


def find_candidates(
    index: MemoryIndex, query: Query, policy: RecallPolicy, similarity: Mapping[int, float], count: int
) -> Candidates:
    """Find the candidates for `count` hits. `similarity` is the cosine of each memory with the query."""
    times = period_marks(query.periods) if policy.weights.time else []
    names = [speaker_mark(term) for term in query.words]
    found = look_up_terms(index, query, {*times, *names})
    near = above_mean(similarity) if policy.weights.vectors else {}
    closest = nlargest(max(policy.top_k, LENDERS), near, key=lambda number: near[number])
    matches = _matches(index, _rarest({*found.words, *times}, found), found, policy, closest)
    scores = _bm25(index, matches, found, policy)
    close = {number: near[number] for number in {*closest, *scores} if number in near}
    own = _own(scores, close, policy)
    kept = _most_promising(own, matches, times, policy, max(count, SCORED))
    match = {number: own[number] for number in kept if number in own}
    candidates = Candidates(
        terms=found,
        entries={entry.number: entry for entry in index.entries(kept)},
        shared=_shared(matches, found.words, set(kept)),
        spoken={},
        bm25={number: scores[number] for number in kept if number in scores},
        vectors={number: close[number] for number in kept if number in close},
        neighbours={},
        following={},
        own=match,
        match=match,
    )
    if policy.weights.neighbours:
        candidates = _with_neighbours(index, candidates, policy, near)
    speakers = frozenset(name for name in names if name in found.frequencies)
    speakers |= _alternative_speakers(index, found)
    return candidates._replace(spoken=_spoken(index, speakers, candidates.entries.keys()))


def _own(scores: Mapping[int, float], close: Mapping[int, float], policy: RecallPolicy) -> dict[int, float]:
    return weighted_sum({"bm25": scores, "vectors": close}, policy.weights.by_name)


def _alternative_speakers(index: MemoryIndex, found: QueryTerms) -> frozenset[str]:
    """The marks of speakers by alternative spellings of their name: Jihoon for 지훈."""
    marks = {speaker_mark(term) for term in found.alternatives}
    return frozenset(index.document_frequencies(marks)) if marks else frozenset()


def _rarest(terms: Iterable[str], found: QueryTerms) -> list[str]:
    indexed = (term for term in terms if term in found.frequencies)
    return sorted(indexed, key=lambda term: (found.frequencies[term], term))[:QUERY_TERMS]


def _matches(
    index: MemoryIndex,
    rarest: Sequence[str],
    found: QueryTerms,
    policy: RecallPolicy,
    closest: Sequence[int],
) -> Matches:
    """Which memories contain which terms: those of the rarest terms first, up to the limit of candidates, and
    those with the closest vectors.

    Terms whose memories fit into the limit together are read at once; of the others only the newest memories.
    """
    whole, room = 0, policy.candidates
    while whole < len(rarest) and found.frequencies[rarest[whole]] <= room:
        room -= found.frequencies[rarest[whole]]
        whole += 1
    matches = index.matches(rarest[:whole])
    if whole == len(rarest):
        return matches
    numbers = dict.fromkeys(number for matched in matches.values() for number, _, _ in matched)
    for term in rarest[whole:]:
        if len(numbers) >= policy.candidates:
            break
        numbers.update(dict.fromkeys(index.with_term(term, policy.candidates)))
    among = {*list(numbers)[: policy.candidates], *closest}
    return {**matches, **index.matches(rarest[whole:], among)}


def _bm25(index: MemoryIndex, matches: Matches, found: QueryTerms, policy: RecallPolicy) -> dict[int, float]:
    tally = index.tally()
    average = tally.words / tally.memories if tally.memories else 0.0
    term_weights = {
        term: idf(tally.memories, found.frequencies[term])
        * (ALTERNATIVE_WEIGHT if term in found.alternatives else 1.0)
        for term in found.words
    }
    return normalised(bm25(matches, term_weights, average, k1=policy.k1, b=policy.b))


def _most_promising(
    own: Mapping[int, float], matches: Matches, times: Collection[str], policy: RecallPolicy, count: int
) -> list[int]:
    """The best by their own match and by time."""
    timed = {number for time in times for number, _, _ in matches.get(time, ())}
    scored = [
        (own.get(number, 0.0) + policy.weights.time, number) if number in timed else (own[number], number)
        for number in (own.keys() | timed if timed else own)
    ]
    scored.sort(reverse=True)
    return [number for _, number in scored[:count]]


def _shared(matches: Matches, words: Mapping[str, str], kept: Collection[int]) -> dict[int, frozenset[str]]:
    shared: dict[int, list[str]] = {}
    for term, found in matches.items():
        if term in words:
            for number, _, _ in found:
                if number in kept:
                    shared.setdefault(number, []).append(term)
    return {number: frozenset(terms) for number, terms in shared.items()}


def _spoken(index: MemoryIndex, speakers: Collection[str], numbers: Collection[int]) -> dict[int, float]:
    spoken: dict[int, float] = {}
    for found in index.matches(speakers, numbers).values():
        for number, _, _ in found:
            spoken[number] = spoken.get(number, 0.0) + 1 / len(speakers)
    return spoken


def _with_neighbours(
    index: MemoryIndex, candidates: Candidates, policy: RecallPolicy, near: Mapping[int, float]
) -> Candidates:
    """Let the best matches lend a part of their score to their neighbours, which become candidates too."""
    own = candidates.own
    lenders = sorted(own, key=lambda number: own[number], reverse=True)[:LENDERS]
    beside_each = index.neighbours(lenders)
    lent = neighbour_scores(own, beside_each)
    following = {
        number: other for number, others in beside_each.items() for other, away in others.items() if away == 1
    }
    beside = index.entries(lent.keys() - candidates.entries.keys())
    entries = {**candidates.entries, **{entry.number: entry for entry in beside}}
    close = {number: near[number] for number in entries if number in near}
    own = _own(candidates.bm25, close, policy)
    weights = {"own": 1.0, "neighbours": policy.weights.neighbours}
    match = weighted_sum({"own": own, "neighbours": lent}, weights)
    return candidates._replace(
        entries=entries, vectors=close, neighbours=lent, following=following, own=own, match=match
    )
