"""Searching: one session of 10,000 items, against SQLite FTS5 over the same keywords in clear."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from bench.rounds import Timings, Work, interleaved
from bench.table import Row, Table, at_most, micros
from bench.turns.bare import FullText
from bench.turns.filler import fill, settle
from bench.turns.saving import OWNER, open_at, save, scope_of
from bench.turns.words import Words
from gieok import Gieok
from gieok.memory.turns.records import MemoryItem

TOP_K = 5
_SESSION = "s"
_BEGINNINGS = "beginnings of words"

Queries = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Size:
    """Items of the session, items of others in the crowded file, queries of each kind, and rounds."""

    items: int
    others: int
    queries: int
    rounds: int


SHORT = Size(items=300, others=1_000, queries=3, rounds=2)
LONG = Size(items=10_000, others=990_000, queries=30, rounds=15)


async def measure(folder: Path, size: Size) -> list[Table]:
    items, queries = session_and_queries(size)
    full_text = FullText(folder / "fts.db", items)
    async with (
        await open_at(f"sqlite:///{folder}/quiet.db", folder) as quiet,
        await open_at(f"sqlite:///{folder}/crowded.db", folder) as crowded,
    ):
        await save(scope_of(quiet), *items)
        await save(scope_of(crowded), *items)
        fill(folder / "crowded.db", OWNER, size.others)
        for name in ("quiet", "crowded", "fts"):
            settle(folder / f"{name}.db")
        contestants: dict[str, Work] = {}
        for kind, texts in queries.items():
            contestants[f"{kind}/quiet"] = searches(quiet, texts)
            contestants[f"{kind}/fts"] = _full_text_searches(full_text, kind, texts)
            contestants[f"{kind}/crowded"] = searches(crowded, texts)
        timings = await interleaved(size.rounds, contestants)
    full_text.close()
    return [_against_full_text(timings, queries, size), _against_quiet(timings, queries, size)]


def session_and_queries(size: Size) -> tuple[list[MemoryItem], Queries]:
    """The items of the session and what is asked of it, by kind."""
    words = Words()
    items = list(words.items(size.items, _SESSION))
    queries = {
        **words.queries(size.queries),
        "no such word": words.strangers(size.queries),
        _BEGINNINGS: words.beginnings(size.queries),
    }
    return items, queries


def searches(gieok: Gieok, texts: Sequence[str]) -> Work:
    """Seconds a search, through the owner's scope."""
    scope = scope_of(gieok)

    async def work() -> float:
        started = perf_counter()
        for text in texts:
            await scope.read(lambda rooms, text=text: rooms.turns.search(_SESSION, text, TOP_K))
        return (perf_counter() - started) / len(texts)

    return work


def _full_text_searches(full_text: FullText, kind: str, texts: Sequence[str]) -> Work:
    search: Callable[[str, int], object]
    search = full_text.search_beginning if kind == _BEGINNINGS else full_text.search

    async def work() -> float:
        started = perf_counter()
        for text in texts:
            search(text, TOP_K)
        return (perf_counter() - started) / len(texts)

    return work


def _against_full_text(timings: Timings, queries: Queries, size: Size) -> Table:
    title = f"Searching one session of {size.items:,} items, top {TOP_K}, sealed against in clear"
    return Table(title, [_row(timings, kind, "quiet", "fts", "FTS5 in clear", 5) for kind in queries])


def _against_quiet(timings: Timings, queries: Queries, size: Size) -> Table:
    title = f"Searching the same session in a file of {size.items + size.others:,} items"
    alone = f"a file of {size.items:,}"
    return Table(title, [_row(timings, kind, "crowded", "quiet", alone, 1.5) for kind in queries])


def _row(timings: Timings, kind: str, ours: str, other: str, against: str, goal: float) -> Row:
    ratio = timings.ratio(f"{kind}/{ours}", f"{kind}/{other}")
    return Row(
        kind,
        micros(timings.of(f"{kind}/{ours}")),
        against,
        micros(timings.of(f"{kind}/{other}")),
        ratio,
        at_most(ratio, goal),
    )
