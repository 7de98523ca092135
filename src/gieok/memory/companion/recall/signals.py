"""Signals of each candidate, each between 0 and about 1. The score is their sum by the plan's weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from gieok.memory.companion.recall.candidates import Candidates
from gieok.memory.companion.recall.policy import RecallPolicy
from gieok.memory.companion.recall.query import Query
from gieok.memory.companion.store import AnalyzedMemory, Entry
from gieok.ranking import best_of_group, local_bm25, normalised, recency, repetition
from gieok.text import Period, syllable_pairs

Signals = dict[str, Mapping[int, float]]
_DAY = 86_400


def index_signals(candidates: Candidates, query: Query) -> Signals:
    """Signals that the index gives, without decrypting memories."""
    match = candidates.match
    sessions = {number: entry.session_ref for number, entry in candidates.entries.items()}
    return {
        "bm25": candidates.bm25,
        "vectors": candidates.vectors,
        "neighbours": candidates.neighbours,
        "session": normalised(best_of_group(match, sessions)),
        "speaker": _by_speaker(candidates.spoken, match),
        "time": _in_time(candidates.entries, query.periods),
        "repeated": repetition(candidates.shared, sessions),
    }


def prior_signals(entries: Mapping[int, Entry], ages: Mapping[int, float], half_life_days: float) -> Signals:
    """Signals that do not depend on the query."""
    return {
        "recency": recency(ages, half_life_days),
        "importance": {number: entry.importance / 10 for number, entry in entries.items()},
    }


def text_signals(
    memories: Mapping[int, AnalyzedMemory], candidates: Candidates, query: Query, policy: RecallPolicy
) -> Signals:
    """Signals that need the decrypted text: statement, answer, and pairs of syllables.

    Of two memories that match alike, a statement is more useful than a question; and the memory right after
    a question that matches is probably its answer.
    """
    questions = {number for number, memory in memories.items() if memory.is_question}
    match, own = normalised(candidates.match), normalised(candidates.own)
    pairs = frozenset(syllable_pairs(query.text))
    texts = {number: memory.syllable_pairs for number, memory in memories.items()} if pairs else {}
    return {
        "statement": {
            number: match[number] for number in memories if number in match and number not in questions
        },
        "answer": {
            answer: own[number]
            for number, answer in candidates.following.items()
            if number in questions and answer in memories
        },
        "pairs": normalised(local_bm25(texts, pairs, k1=policy.k1, b=policy.b)),
    }


def ages_of(entries: Mapping[int, Entry], now: datetime) -> dict[int, float]:
    """Age of each memory in days, at least 0."""
    today = now.timestamp()
    return {
        number: (today - entry.occurred_at) / _DAY if entry.occurred_at < today else 0.0
        for number, entry in entries.items()
    }


def _by_speaker(spoken: Mapping[int, float], match: Mapping[int, float]) -> dict[int, float]:
    """The match of memories by a speaker whom the query names, times their share of the named speakers."""
    if not spoken:
        return {}
    return {number: value * spoken[number] for number, value in normalised(match).items() if number in spoken}


def _in_time(entries: Mapping[int, Entry], periods: Sequence[Period]) -> dict[int, float]:
    """1 for memories in a period that the query names."""
    spans = [(period.start.timestamp(), period.end.timestamp()) for period in periods]
    return {
        number: 1.0
        for start, end in spans
        for number, entry in entries.items()
        if start <= entry.occurred_at < end
    }
