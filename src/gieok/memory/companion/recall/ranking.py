"""Recall across sessions: rank the memories of a persona for a query, and explain each hit.

Candidates are found and scored with the index. The best of them are decrypted and re-ranked with the signals
of their text. A score is the sum of all signals, each with the plan's weight.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from gieok.memory.companion.recall.candidates import find_candidates
from gieok.memory.companion.recall.policy import RecallPolicy
from gieok.memory.companion.recall.query import parse_query
from gieok.memory.companion.recall.signals import (
    Signals,
    ages_of,
    index_signals,
    prior_signals,
    text_signals,
)
from gieok.memory.companion.records import MemoryHit, Signal, Why
from gieok.memory.companion.store import AnalyzedMemory, Entry, MemoryIndex
from gieok.ranking import ranks, weighted_sum

RERANKED = 30
"""How many of the best candidates are decrypted and re-ranked, or more if more hits are requested."""


class Ranking(NamedTuple):
    """Result of a search, by the numbers of the memories."""

    words: Mapping[str, str]
    """The terms of the query, each with the word that it came from."""
    shared: Mapping[int, frozenset[str]]
    """Which of them each memory contains."""
    ages: Mapping[int, float]
    signals: Signals
    """The values of each signal. A memory with value 0 may be left out."""
    fillers: frozenset[int]
    """Memories that do not match the query."""
    best: Sequence[tuple[int, float]]
    """The requested number of memories with their scores, best first."""
    memories: Mapping[int, AnalyzedMemory]
    """The decrypted memories."""


def rank_memories(
    index: MemoryIndex,
    text: str,
    now: datetime,
    policy: RecallPolicy,
    similarity: Mapping[int, float] | None = None,
    *,
    count: int,
) -> Ranking:
    """Find the best `count` memories. `similarity` is the cosine of each memory with the query, by number;
    None without an embedder."""
    query = parse_query(text, now)
    candidates = find_candidates(index, query, policy, similarity or {}, count)
    fillers = _fillers(index, candidates.entries, policy)
    entries = {**candidates.entries, **fillers}
    ages = ages_of(entries, now)
    signals = index_signals(candidates, query)
    signals |= prior_signals(entries, ages, policy.half_life_days)
    if similarity is None:
        del signals["vectors"]
    weights = policy.weights.by_name
    scores = weighted_sum(signals, weights)
    first = [number for number, _ in _best(scores, entries, fillers, max(count, RERANKED))]
    memories = dict(zip(first, index.open(first), strict=True))
    by_text = text_signals(memories, candidates, query, policy)
    added = weighted_sum(by_text, weights)
    scores = {number: scores[number] + added.get(number, 0.0) for number in first}
    return Ranking(
        words=candidates.terms.words,
        shared=candidates.shared,
        ages=ages,
        signals=signals | by_text,
        fillers=frozenset(fillers),
        best=_best(scores, entries, fillers, count),
        memories=memories,
    )


def explained_hits(ranking: Ranking, policy: RecallPolicy) -> tuple[MemoryHit, ...]:
    """The best memories in order, each with the reasons for its score."""
    signals = _signals(ranking, policy)
    return tuple(
        MemoryHit(
            memory=ranking.memories[number].memory,
            score=score,
            why=Why(
                matched_words=_matched_words(ranking, number),
                signals=signals[number],
                age_days=ranking.ages[number],
                filled=number in ranking.fillers,
            ),
        )
        for number, score in ranking.best
    )


def _signals(ranking: Ranking, policy: RecallPolicy) -> dict[int, dict[str, Signal]]:
    """The signals of each of the best memories, with its rank by each of them alone."""
    signals: dict[int, dict[str, Signal]] = {number: {} for number, _ in ranking.best}
    for name, weight in policy.weights.by_name.items():
        values = ranking.signals.get(name)
        if values and weight:
            for number, rank in ranks(values, signals).items():
                signals[number][name] = Signal(value=values[number], weight=weight, rank=rank)
    return signals


def _fillers(index: MemoryIndex, entries: Mapping[int, Entry], policy: RecallPolicy) -> dict[int, Entry]:
    if not policy.fill or len(entries) >= policy.top_k:
        return {}
    numbers = {*index.recent(policy.top_k), *index.important(policy.top_k)} - entries.keys()
    return {entry.number: entry for entry in index.entries(numbers)}


def _best(
    scores: Mapping[int, float], entries: Mapping[int, Entry], fillers: Collection[int], count: int
) -> list[tuple[int, float]]:
    """The best numbers with their scores: matches before fillers, then by score, then newest first."""
    order = [
        (number not in fillers, score, entries[number].occurred_at, number)
        for number, score in scores.items()
    ]
    order.sort(reverse=True)
    return [(number, score) for _, score, _, number in order[:count]]


def _matched_words(ranking: Ranking, number: int) -> tuple[str, ...]:
    shared = ranking.shared.get(number, frozenset())
    return tuple(dict.fromkeys(word for term, word in ranking.words.items() if term in shared))
