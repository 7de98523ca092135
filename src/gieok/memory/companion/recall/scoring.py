"""What speaks for each memory: the signals, each between 0 and about 1, that the plan's weights add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from gieok.memory.companion.query import Query
from gieok.memory.companion.reading import ReadMemory
from gieok.memory.companion.recall.gathering import Gathered
from gieok.memory.companion.recall.policy import RecallPolicy
from gieok.memory.companion.store import Entry
from gieok.ranking import best_of_group, local_bm25, normalised, recency, repetition
from gieok.text import Period, syllable_pairs

Signals = dict[str, Mapping[int, float]]
_DAY = 86_400


def matching_signals(gathered: Gathered, query: Query) -> Signals:
    """What the index says of those that were gathered."""
    match = gathered.match
    sessions = {number: entry.session_ref for number, entry in gathered.entries.items()}
    return {
        "bm25": gathered.bm25,
        "vectors": gathered.vectors,
        "neighbours": gathered.neighbours,
        "session": normalised(best_of_group(match, sessions)),
        "speaker": _by_speaker(gathered.spoken, match),
        "time": _in_time(gathered.entries, query.periods),
        "repeated": repetition(gathered.shared, sessions),
    }


def standing_signals(
    entries: Mapping[int, Entry], ages: Mapping[int, float], half_life_days: float
) -> Signals:
    """What speaks for a memory whatever is asked."""
    return {
        "recency": recency(ages, half_life_days),
        "importance": {number: entry.importance / 10 for number, entry in entries.items()},
    }


def reading_signals(
    memories: Mapping[int, ReadMemory], gathered: Gathered, query: Query, policy: RecallPolicy
) -> Signals:
    """What only the opened memories say: which of them tell and which ask, and the pairs of syllables.

    Whoever asks does not tell: of two memories that match alike, the one that is no question has the answer,
    and what was said right after a question that matches is the answer to it.
    """
    asking = {number for number, memory in memories.items() if memory.is_question}
    telling, own = normalised(gathered.match), normalised(gathered.own)
    asked = frozenset(syllable_pairs(query.text))
    texts = {number: memory.syllable_pairs for number, memory in memories.items()} if asked else {}
    return {
        "statement": {
            number: telling[number] for number in memories if number in telling and number not in asking
        },
        "answer": {
            answer: own[number]
            for number, answer in gathered.following.items()
            if number in asking and answer in memories
        },
        "pairs": normalised(local_bm25(texts, asked, k1=policy.k1, b=policy.b)),
    }


def ages_of(entries: Mapping[int, Entry], now: datetime) -> dict[int, float]:
    """Days since each of them was; none lies ahead."""
    today = now.timestamp()
    return {
        number: (today - entry.occurred_at) / _DAY if entry.occurred_at < today else 0.0
        for number, entry in entries.items()
    }


def _by_speaker(spoken: Mapping[int, float], match: Mapping[int, float]) -> dict[int, float]:
    """A memory whose speaker is asked about, as far as it matches; of several names, the share it has."""
    if not spoken:
        return {}
    return {number: value * spoken[number] for number, value in normalised(match).items() if number in spoken}


def _in_time(entries: Mapping[int, Entry], periods: Sequence[Period]) -> dict[int, float]:
    """1 for what was in a time that the query names."""
    spans = [(period.start.timestamp(), period.end.timestamp()) for period in periods]
    return {
        number: 1.0
        for start, end in spans
        for number, entry in entries.items()
        if start <= entry.occurred_at < end
    }
