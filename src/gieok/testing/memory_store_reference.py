"""Turn memory search as one would explain it: look at every item, count, sort. Slow, and obviously right."""

from __future__ import annotations

from collections.abc import Iterable

from gieok.memory.turns.records import MemoryItem, RecalledMemory
from gieok.memory.turns.rules import match_terms, matches_part, matches_whole, query_stems


def reference_search(
    items: Iterable[MemoryItem], session_ref: str, query: str, top_k: int
) -> list[RecalledMemory]:
    """What `MemoryStore.search` must return when these are all the items of the owner."""
    terms, stems = match_terms(query), query_stems(query)
    ranked: list[tuple[int, int, float, bytes, MemoryItem]] = []
    for item in items:
        if item.session_ref != session_ref:
            continue
        whole = sum(matches_whole(keyword, terms) for keyword in item.keywords)
        part = sum(matches_part(keyword, stems) for keyword in item.keywords)
        if whole or part:
            rank, count = (1, whole) if whole else (2, part)
            ranked.append((rank, -count, -item.timestamp.timestamp(), item.id.bytes, item))
    ranked.sort(key=lambda entry: entry[:4])
    return [
        RecalledMemory(id=item.id, summary=item.summary, timestamp=item.timestamp)
        for *_, item in ranked[:top_k]
    ]
