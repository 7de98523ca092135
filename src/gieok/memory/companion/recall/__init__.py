"""Recall across sessions: which memories of a persona answer a query, and why.

Candidates are gathered and scored by what the index says without opening any; the best of them are opened and
read; signals that are comparable are added up, each with the plan's weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from heapq import nlargest
from typing import NamedTuple

from gieok.memory.companion.query import read_query
from gieok.memory.companion.recall.gathering import gather
from gieok.memory.companion.recall.policy import RecallPolicy, Weights
from gieok.memory.companion.recall.scoring import (
    Signals,
    ages_of,
    matching_signals,
    reading_signals,
    standing_signals,
)
from gieok.memory.companion.records import Memory, MemoryHit, Signal, Why
from gieok.memory.companion.store import Entry, MemoryIndex
from gieok.ranking import ranks, weighted_sum

__all__ = ["NOTHING", "Found", "RecallPolicy", "Weights", "hits", "look_up"]

READ = 40
"""So many of the best are opened and read before the last order is made, or more where more are wanted."""


class Found(NamedTuple):
    """What one view of the memories gave, by their numbers."""

    words: Mapping[str, str]
    """The terms of the query, each with the word that it came from."""
    entries: Mapping[int, Entry]
    ages: Mapping[int, float]
    signals: Signals
    """Each signal's values. A memory that a signal says nothing about may be missing there."""
    fillers: frozenset[int]
    """What nothing of the query matched."""
    memories: Mapping[int, Memory]
    """Those that were opened."""


NOTHING = Found({}, {}, {}, {}, frozenset(), {})


def look_up(
    index: MemoryIndex,
    text: str,
    now: datetime,
    policy: RecallPolicy,
    similarity: Mapping[int, float] | None = None,
    *,
    count: int,
) -> Found:
    """Find, score and open the best, `count` of them or a few more. `similarity` is how close memories lie to
    the query in meaning, by number; None where there is no embedder."""
    query = read_query(text, now)
    gathered = gather(index, query, policy, similarity or {})
    fillers = _fillers(index, gathered.entries, policy)
    entries = {**gathered.entries, **fillers}
    ages = ages_of(entries, now)
    signals = matching_signals(gathered, query, policy)
    signals |= standing_signals(entries, ages, policy.half_life_days)
    if similarity is None:
        del signals["vectors"]
    found = Found(gathered.understood.words, entries, ages, signals, frozenset(fillers), {})
    best = [number for number, _ in _best(found, policy, max(count, READ))]
    memories = dict(zip(best, index.open(best), strict=True))
    read = reading_signals(memories, gathered, query, policy)
    return found._replace(memories=memories, signals=signals | read)


def hits(found: Found, policy: RecallPolicy, count: int) -> tuple[MemoryHit, ...]:
    """The best `count` memories in order, each with its reasons.

    A signal is made of our own numbers, a dozen for each hit, so it is not checked once more.
    """
    weights = dict(policy.weights)
    best = _best(found, policy, count)
    places = {name: ranks(values, [number for number, _ in best]) for name, values in found.signals.items()}
    return tuple(
        MemoryHit(
            memory=found.memories[number],
            score=score,
            why=Why(
                matched_words=_matched(found, number),
                signals={
                    name: Signal.trusted(
                        value=values.get(number, 0.0), weight=weights[name], rank=places[name].get(number)
                    )
                    for name, values in found.signals.items()
                },
                age_days=found.ages[number],
                filled=number in found.fillers,
            ),
        )
        for number, score in best
    )


def _fillers(index: MemoryIndex, entries: Mapping[int, Entry], policy: RecallPolicy) -> dict[int, Entry]:
    if not policy.fill or len(entries) >= policy.top_k:
        return {}
    numbers = {*index.recent(policy.top_k), *index.important(policy.top_k)} - entries.keys()
    return {entry.number: entry for entry in index.entries(numbers, ())}


def _best(found: Found, policy: RecallPolicy, count: int) -> list[tuple[int, float]]:
    """The best numbers with their scores: matches before fillers, then by score; of equals the newest.

    Once some are opened, the best are among them.
    """
    scores = weighted_sum(found.signals, dict(policy.weights))
    best = nlargest(
        count,
        found.memories or scores,
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
