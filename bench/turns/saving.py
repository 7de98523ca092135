"""Saving items through the store and complete turns, compared with bare inserts of the same bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter

from bench.table import Row, Table, at_least, rate
from bench.timing import TimedRun, Timings, interleaved
from bench.turns.bare import BareWriter, make_file, read_stored
from bench.turns.bare import Row as StoredRow
from bench.vocabulary import Vocabulary
from gieok import Gieok, Persona, User
from gieok.adapters.sql.scope import OwnerScope
from gieok.memory.turns.records import MemoryItem
from gieok.memory.turns.store import TurnView
from gieok.testing.settings import settings_for

WRITERS = 32
OWNER = "minsu"
_PERSONA = Persona(name="하나", language="ko", system_prompt="너는 하나야. 따뜻하게 대답해.")


@dataclass(frozen=True)
class Size:
    """Rounds, and items per round with one writer and with many."""

    rounds: int
    items: int
    concurrent_items: int


SHORT = Size(rounds=2, items=5, concurrent_items=64)
LONG = Size(rounds=25, items=40, concurrent_items=640)


async def open_at(database_url: str, folder: Path) -> Gieok:
    """Gieok with the offline model on this database. The root key must be outside its folder."""
    return await Gieok.open(settings_for(database_url, folder.parent / "root.key"))


def scope_of(gieok: Gieok) -> OwnerScope:
    return gieok.scope(OWNER)


async def measure(folder: Path, size: Size) -> Table:
    """Measure every case on its own file on the same disk."""
    items = list(Vocabulary().items(size.items * (size.rounds + 1), "s"))
    stored = await _as_stored(folder, items)
    await make_file(folder / "bare.db")
    bare = BareWriter(folder / "bare.db")
    async with (
        await open_at(f"sqlite:///{folder}/one.db", folder) as one,
        await open_at(f"sqlite:///{folder}/many.db", folder) as many,
        await open_at(f"sqlite:///{folder}/turns.db", folder) as turns,
    ):
        timings = await interleaved(
            size.rounds,
            {
                "bare": _bare_inserts(bare, iter(stored), size),
                "one": one_writer(one, iter(items), size),
                "many": many_writers(many, size),
                "turns": _turns(turns.user(OWNER), size),
            },
        )
    bare.close()
    return Table("Saving, at synchronous=FULL", _rows(timings))


def one_writer(gieok: Gieok, items: Iterator[MemoryItem], size: Size) -> TimedRun:
    """Times one writer."""
    scope = scope_of(gieok)

    async def run_once() -> float:
        return await _save_all(scope, list(islice(items, size.items)), writers=1)

    return run_once


def many_writers(gieok: Gieok, size: Size) -> TimedRun:
    """Times 32 concurrent writers."""
    scope = scope_of(gieok)
    items = Vocabulary().items(size.concurrent_items * (size.rounds + 1), "crowd")

    async def run_once() -> float:
        return await _save_all(scope, list(islice(items, size.concurrent_items)), writers=WRITERS)

    return run_once


async def _save_all(scope: OwnerScope, items: list[MemoryItem], *, writers: int) -> float:
    left = iter(items)

    async def writer() -> None:
        for item in left:
            await save(scope, item)

    started = perf_counter()
    await asyncio.gather(*(writer() for _ in range(writers)))
    return (perf_counter() - started) / len(items)


async def save(scope: OwnerScope, *items: MemoryItem) -> None:
    def save_all(view: TurnView) -> None:
        for item in items:
            view.turns.save(item)

    await scope.write(save_all)


async def _as_stored(folder: Path, items: Iterable[MemoryItem]) -> list[StoredRow]:
    """The rows that Gieok stores for these items, so that the bare inserts write the same bytes."""
    async with await open_at(f"sqlite:///{folder}/stored.db", folder) as gieok:
        await save(scope_of(gieok), *items)
    return read_stored(folder / "stored.db")


def _bare_inserts(writer: BareWriter, stored: Iterator[StoredRow], size: Size) -> TimedRun:
    async def run_once() -> float:
        batch = list(islice(stored, size.items))
        started = perf_counter()
        for item in batch:
            writer.save(item)
        return (perf_counter() - started) / size.items

    return run_once


def _turns(user: User, size: Size) -> TimedRun:
    """Times complete turns: recall, reply, summary, keywords, commit."""
    messages = iter(Vocabulary().messages(size.items * (size.rounds + 1)))

    async def run_once() -> float:
        batch = list(islice(messages, size.items))
        started = perf_counter()
        for message in batch:
            await user.run(
                "turn_memory",
                {
                    "sessionRef": "s",
                    "message": message,
                    "persona": _PERSONA,
                    "state": (),
                    "recentMessages": (),
                },
            )
        return (perf_counter() - started) / size.items

    return run_once


def _rows(timings: Timings) -> list[Row]:
    """The ratios of rates, which are the inverse ratios of the seconds."""

    def row(what: str, name: str, against: str, other: str, goal: float) -> Row:
        ratio = timings.ratio(other, name)
        return Row(
            what, rate(timings.of(name)), against, rate(timings.of(other)), ratio, at_least(ratio, goal)
        )

    bare = "bare apsw, the same rows"
    return [
        row("save an item, one writer", "one", bare, "bare", 0.5),
        row("save an item, 32 writers", "many", "one writer", "one", 2.5),
        row("a whole turn, one writer", "turns", bare, "bare", 0.25),
    ]
