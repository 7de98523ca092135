"""Recall across sessions: which memories of a persona answer a query, and why.

Candidates are gathered and scored by what the index says without opening any; the best of them are opened and
read; signals that are comparable are added up, each with the plan's weight.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from gieok.memory.companion.query import read_query
from gieok.memory.companion.reading import ReadMemory
from gieok.memory.companion.recall.gathering import gather
from gieok.memory.companion.recall.policy import RecallPolicy, Weights
from gieok.memory.companion.recall.scoring import (
    Signals,
    ages_of,
    matching_signals,
    reading_signals,
    standing_signals,
)
from gieok.memory.companion.records import MemoryHit, Signal, Why
from gieok.memory.companion.store import Entry, MemoryIndex
from gieok.ranking import ranks, weighted_sum

__all__ = ["Found", "RecallPolicy", "Weights", "hits", "look_up"]

READ = 30
"""So many of the best are opened and read before the last order is made, or more where more are wanted."""


class Found(NamedTuple):
    """What one view of the memories gave, by their numbers."""

    words: Mapping[str, str]
    """The terms of the query, each with the word that it came from."""
    shared: Mapping[int, frozenset[str]]
    """Which of them a memory has."""
    ages: Mapping[int, float]
    signals: Signals
    """Each signal's values. A memory that a signal says nothing about may be missing there."""
    fillers: frozenset[int]
    """What nothing of the query matched."""
    best: Sequence[tuple[int, float]]
    """Those that are wanted with their scores, the best first."""
    memories: Mapping[int, ReadMemory]
    """Those that were opened."""


def look_up(
    index: MemoryIndex,
    text: str,
    now: datetime,
    policy: RecallPolicy,
    similarity: Mapping[int, float] | None = None,
    *,
    count: int,
) -> Found:
    """Find the best `count`, after opening and reading a few more. `similarity` is how close memories lie to
    the query in meaning, by number; None where there is no embedder."""
    query = read_query(text, now)
    gathered = gather(index, query, policy, similarity or {}, count)
    fillers = _fillers(index, gathered.entries, policy)
    entries = {**gathered.entries, **fillers}
    ages = ages_of(entries, now)
    signals = matching_signals(gathered, query)
    signals |= standing_signals(entries, ages, policy.half_life_days)
    if similarity is None:
        del signals["vectors"]
    weights = policy.weights.by_name
    scores = weighted_sum(signals, weights)
    promising = [number for number, _ in _best(scores, entries, fillers, max(count, READ))]
    memories = dict(zip(promising, index.open(promising), strict=True))
    read = reading_signals(memories, gathered, query, policy)
    more = weighted_sum(read, weights)
    scores = {number: scores[number] + more.get(number, 0.0) for number in promising}
    return Found(
        words=gathered.understood.words,
        shared=gathered.shared,
        ages=ages,
        signals=signals | read,
        fillers=frozenset(fillers),
        best=_best(scores, entries, fillers, count),
        memories=memories,
    )


def hits(found: Found, policy: RecallPolicy) -> tuple[MemoryHit, ...]:
    """The best memories in order, each with its reasons."""
    spoken = _signals(found, policy)
    return tuple(
        MemoryHit(
            memory=found.memories[number].memory,
            score=score,
            why=Why(
                matched_words=_matched(found, number),
                signals=spoken[number],
                age_days=found.ages[number],
                filled=number in found.fillers,
            ),
        )
        for number, score in found.best
    )


def _signals(found: Found, policy: RecallPolicy) -> dict[int, dict[str, Signal]]:
    """Which signals speak for each of the best, and where it stands by each of them alone."""
    spoken: dict[int, dict[str, Signal]] = {number: {} for number, _ in found.best}
    for name, weight in policy.weights.by_name.items():
        values = found.signals.get(name)
        if values and weight:
            for number, rank in ranks(values, spoken).items():
                spoken[number][name] = Signal(value=values[number], weight=weight, rank=rank)
    return spoken


def _fillers(index: MemoryIndex, entries: Mapping[int, Entry], policy: RecallPolicy) -> dict[int, Entry]:
    if not policy.fill or len(entries) >= policy.top_k:
        return {}
    numbers = {*index.recent(policy.top_k), *index.important(policy.top_k)} - entries.keys()
    return {entry.number: entry for entry in index.entries(numbers)}


def _best(
    scores: Mapping[int, float], entries: Mapping[int, Entry], fillers: Collection[int], count: int
) -> list[tuple[int, float]]:
    """The best numbers with their scores: matches before fillers, then by score; of equals the newest."""
    order = [
        (number not in fillers, score, entries[number].occurred_at, number)
        for number, score in scores.items()
    ]
    order.sort(reverse=True)
    return [(number, score) for _, score, _, number in order[:count]]


def _matched(found: Found, number: int) -> tuple[str, ...]:
    shared = found.shared.get(number, frozenset())
    return tuple(dict.fromkeys(word for term, word in found.words.items() if term in shared))
