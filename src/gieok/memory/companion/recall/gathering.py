"""Which memories are scored: those that share a word, a time or a meaning with the query, or stand by one.

Words find candidates, rarest first, so that a search costs what it may and not what a user has. Only the best
of them by words, time and meaning are looked at by everything else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from typing import NamedTuple

from gieok.memory.companion.query import GUESSED, Query, Understood, understand
from gieok.memory.companion.recall.policy import RecallPolicy
from gieok.memory.companion.store import Entry, Matches, MemoryIndex
from gieok.memory.companion.terms import period_marks, speaker_mark
from gieok.ranking import above_mean, bm25, idf, neighbour_scores, normalised, weighted_sum

QUERY_TERMS = 64
"""Of a longer query, only its rarest terms are looked up."""
LENDERS = 30
"""So many of the best matches lend their score to their neighbours, and so many are found by meaning."""
SCORED = 60
"""So many of the best matches are scored by every signal, or as many as are wanted."""


class Gathered(NamedTuple):
    """The memories to be scored, by their numbers, and how each matches."""

    understood: Understood
    entries: Mapping[int, Entry]
    shared: Mapping[int, frozenset[str]]
    """The terms of the query that each has; one that has none is missing."""
    spoken: Mapping[int, float]
    """Of the speakers who are asked about, the share that each memory is by."""
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
    index: MemoryIndex, query: Query, policy: RecallPolicy, similarity: Mapping[int, float], count: int
) -> Gathered:
    """Find what may answer, so that `count` can be chosen. `similarity` is how close each memory lies to the
    query in meaning."""
    times = period_marks(query.periods) if policy.weights.time else []
    names = [speaker_mark(term) for term in query.words]
    understood = understand(index, query, {*times, *names})
    near = above_mean(similarity) if policy.weights.vectors else {}
    closest = nlargest(max(policy.top_k, LENDERS), near, key=lambda number: near[number])
    matches = _matches(index, _rarest({*understood.words, *times}, understood), understood, policy, closest)
    scores = _bm25(index, matches, understood, policy)
    close = {number: near[number] for number in {*closest, *scores} if number in near}
    own = _own(scores, close, policy)
    kept = _most_promising(own, matches, times, policy, max(count, SCORED))
    match = {number: own[number] for number in kept if number in own}
    gathered = Gathered(
        understood=understood,
        entries={entry.number: entry for entry in index.entries(kept)},
        shared=_shared(matches, understood.words, set(kept)),
        spoken={},
        bm25={number: scores[number] for number in kept if number in scores},
        vectors={number: close[number] for number in kept if number in close},
        neighbours={},
        following={},
        own=match,
        match=match,
    )
    if policy.weights.neighbours:
        gathered = _with_neighbours(index, gathered, policy, near)
    speakers = frozenset(name for name in names if name in understood.rarity) | _guessed(index, understood)
    return gathered._replace(spoken=_spoken(index, speakers, gathered.entries.keys()))


def _own(scores: Mapping[int, float], close: Mapping[int, float], policy: RecallPolicy) -> dict[int, float]:
    return weighted_sum({"bm25": scores, "vectors": close}, policy.weights.by_name)


def _guessed(index: MemoryIndex, understood: Understood) -> frozenset[str]:
    """The marks of speakers whose name may be meant: Jihoon, where 지훈 is asked about."""
    marks = {speaker_mark(term) for term in understood.guessed}
    return frozenset(index.rarity(marks)) if marks else frozenset()


def _rarest(terms: Iterable[str], understood: Understood) -> list[str]:
    known = (term for term in terms if term in understood.rarity)
    return sorted(known, key=lambda term: (understood.rarity[term], term))[:QUERY_TERMS]


def _matches(
    index: MemoryIndex,
    rarest: Sequence[str],
    understood: Understood,
    policy: RecallPolicy,
    closest: Sequence[int],
) -> Matches:
    """Which memories have which terms: those of the rarest terms first, up to the limit, and those that lie
    close in meaning.

    Terms whose memories are within the limit together are read at once; of the others the newest, one by one.
    """
    whole, room = 0, policy.candidates
    while whole < len(rarest) and understood.rarity[rarest[whole]] <= room:
        room -= understood.rarity[rarest[whole]]
        whole += 1
    matches = index.matches(rarest[:whole])
    if whole == len(rarest):
        return matches
    numbers = dict.fromkeys(number for found in matches.values() for number, _, _ in found)
    for term in rarest[whole:]:
        if len(numbers) >= policy.candidates:
            break
        numbers.update(dict.fromkeys(index.with_term(term, policy.candidates)))
    among = {*list(numbers)[: policy.candidates], *closest}
    return {**matches, **index.matches(rarest[whole:], among)}


def _bm25(
    index: MemoryIndex, matches: Matches, understood: Understood, policy: RecallPolicy
) -> dict[int, float]:
    tally = index.tally()
    average = tally.words / tally.memories if tally.memories else 0.0
    telling = {
        term: idf(tally.memories, understood.rarity[term]) * (GUESSED if term in understood.guessed else 1.0)
        for term in understood.words
    }
    return normalised(bm25(matches, telling, average, k1=policy.k1, b=policy.b))


def _most_promising(
    own: Mapping[int, float], matches: Matches, times: Collection[str], policy: RecallPolicy, count: int
) -> list[int]:
    """The best by what they say themselves and by when they were."""
    timed = {number for time in times for number, _, _ in matches.get(time, ())}
    prospects = [
        (own.get(number, 0.0) + policy.weights.time, number) if number in timed else (own[number], number)
        for number in (own.keys() | timed if timed else own)
    ]
    prospects.sort(reverse=True)
    return [number for _, number in prospects[:count]]


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
    index: MemoryIndex, gathered: Gathered, policy: RecallPolicy, near: Mapping[int, float]
) -> Gathered:
    """The best matches lend of their score; what it is lent to is gathered too."""
    own = gathered.own
    lenders = sorted(own, key=lambda number: own[number], reverse=True)[:LENDERS]
    beside_each = index.neighbours(lenders)
    lent = neighbour_scores(own, beside_each)
    following = {
        number: other for number, others in beside_each.items() for other, away in others.items() if away == 1
    }
    beside = index.entries(lent.keys() - gathered.entries.keys())
    entries = {**gathered.entries, **{entry.number: entry for entry in beside}}
    close = {number: near[number] for number in entries if number in near}
    own = _own(gathered.bm25, close, policy)
    weights = {"own": 1.0, "neighbours": policy.weights.neighbours}
    match = weighted_sum({"own": own, "neighbours": lent}, weights)
    return gathered._replace(
        entries=entries, vectors=close, neighbours=lent, following=following, own=own, match=match
    )
