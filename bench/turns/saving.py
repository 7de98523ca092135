"""Saving: one memory item through its store, and whole turns, against bare inserts of the same bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter

from bench.rounds import Timings, Work, interleaved
from bench.table import Row, Table, at_least, rate
from bench.turns.bare import BareWriter, StoredItem, make_file, read_stored
from bench.turns.words import Words
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
    """How often each contestant has its turn, and how many items it saves then."""

    rounds: int
    items: int
    items_together: int


SHORT = Size(rounds=2, items=5, items_together=64)
LONG = Size(rounds=25, items=40, items_together=640)


async def open_at(database_url: str, folder: Path) -> Gieok:
    """Gieok with the offline model on this database. The root key may not lie in the folder of the data."""
    return await Gieok.open(settings_for(database_url, folder.parent / "root.key"))


def scope_of(gieok: Gieok) -> OwnerScope:
    return gieok.scope(OWNER)


async def measure(folder: Path, size: Size) -> Table:
    """Every contestant has a file of its own on the same disk."""
    items = list(Words().items(size.items * (size.rounds + 1), "s"))
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


def one_writer(gieok: Gieok, items: Iterator[MemoryItem], size: Size) -> Work:
    """Seconds an item, by one writer who waits for each."""
    scope = scope_of(gieok)

    async def work() -> float:
        return await _save_all(scope, list(islice(items, size.items)), writers=1)

    return work


def many_writers(gieok: Gieok, size: Size) -> Work:
    """Seconds an item, by 32 writers who save at the same time and each wait for their own."""
    scope = scope_of(gieok)
    items = Words().items(size.items_together * (size.rounds + 1), "crowd")

    async def work() -> float:
        return await _save_all(scope, list(islice(items, size.items_together)), writers=WRITERS)

    return work


async def _save_all(scope: OwnerScope, items: list[MemoryItem], *, writers: int) -> float:
    left = iter(items)

    async def writer() -> None:
        for item in left:
            await save(scope, item)

    started = perf_counter()
    await asyncio.gather(*(writer() for _ in range(writers)))
    return (perf_counter() - started) / len(items)


async def save(scope: OwnerScope, *items: MemoryItem) -> None:
    def save_all(rooms: TurnView) -> None:
        for item in items:
            rooms.turns.save(item)

    await scope.write(save_all)


async def _as_stored(folder: Path, items: Iterable[MemoryItem]) -> list[StoredItem]:
    """The items as the rows that Gieok makes of them, so that the bare inserts write the same bytes."""
    async with await open_at(f"sqlite:///{folder}/made.db", folder) as gieok:
        await save(scope_of(gieok), *items)
    return read_stored(folder / "made.db")


def _bare_inserts(writer: BareWriter, stored: Iterator[StoredItem], size: Size) -> Work:
    async def work() -> float:
        batch = list(islice(stored, size.items))
        started = perf_counter()
        for item in batch:
            writer.save(item)
        return (perf_counter() - started) / size.items

    return work


def _turns(user: User, size: Size) -> Work:
    """Whole recorded turns: recall, reply, summary, keywords, commit."""
    messages = iter(Words().messages(size.items * (size.rounds + 1)))

    async def work() -> float:
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

    return work


def _rows(timings: Timings) -> list[Row]:
    """A rate is the inverse of seconds, so that the ratio of two rates is theirs to ours."""

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
