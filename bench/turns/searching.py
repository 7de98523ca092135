"""Searching one session of 10,000 items, compared with SQLite FTS5 over the same keywords in plain text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from bench.table import Row, Table, at_most, micros
from bench.timing import TimedRun, Timings, interleaved
from bench.turns.bare import FullText
from bench.turns.filler import checkpoint, fill
from bench.turns.saving import OWNER, open_at, save, scope_of
from bench.vocabulary import Vocabulary
from gieok import Gieok
from gieok.memory.turns.records import MemoryItem

TOP_K = 5
_SESSION = "s"
_PREFIXES = "beginnings of words"

Queries = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Size:
    """Items of the session, other items in the large file, queries of each kind, and rounds."""

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
        await open_at(f"sqlite:///{folder}/small.db", folder) as small,
        await open_at(f"sqlite:///{folder}/large.db", folder) as large,
    ):
        await save(scope_of(small), *items)
        await save(scope_of(large), *items)
        fill(folder / "large.db", OWNER, size.others)
        for name in ("small", "large", "fts"):
            checkpoint(folder / f"{name}.db")
        cases: dict[str, TimedRun] = {}
        for kind, texts in queries.items():
            cases[f"{kind}/small"] = searches(small, texts)
            cases[f"{kind}/fts"] = _full_text_searches(full_text, kind, texts)
            cases[f"{kind}/large"] = searches(large, texts)
        timings = await interleaved(size.rounds, cases)
    full_text.close()
    return [_against_full_text(timings, queries, size), _against_small(timings, queries, size)]


def session_and_queries(size: Size) -> tuple[list[MemoryItem], Queries]:
    """The items of the session, and queries by kind."""
    words = Vocabulary()
    items = list(words.items(size.items, _SESSION))
    queries = {
        **words.queries(size.queries),
        "no such word": words.unknown_words(size.queries),
        _PREFIXES: words.prefixes(size.queries),
    }
    return items, queries


def searches(gieok: Gieok, texts: Sequence[str]) -> TimedRun:
    """Times searches through the scope of the owner."""
    scope = scope_of(gieok)

    async def run_once() -> float:
        started = perf_counter()
        for text in texts:
            await scope.read(lambda view, text=text: view.turns.search(_SESSION, text, TOP_K))
        return (perf_counter() - started) / len(texts)

    return run_once


def _full_text_searches(full_text: FullText, kind: str, texts: Sequence[str]) -> TimedRun:
    search: Callable[[str, int], object]
    search = full_text.search_prefix if kind == _PREFIXES else full_text.search

    async def run_once() -> float:
        started = perf_counter()
        for text in texts:
            search(text, TOP_K)
        return (perf_counter() - started) / len(texts)

    return run_once


def _against_full_text(timings: Timings, queries: Queries, size: Size) -> Table:
    title = f"Searching one session of {size.items:,} items, top {TOP_K}, sealed against in clear"
    return Table(title, [_row(timings, kind, "small", "fts", "FTS5 in clear", 5) for kind in queries])


def _against_small(timings: Timings, queries: Queries, size: Size) -> Table:
    title = f"Searching the same session in a file of {size.items + size.others:,} items"
    alone = f"a file of {size.items:,}"
    return Table(title, [_row(timings, kind, "large", "small", alone, 1.5) for kind in queries])


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
