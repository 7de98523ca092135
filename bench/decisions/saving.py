"""Saving a version of a decision, against a bare transaction that inserts a version and moves its head."""

from __future__ import annotations

import asyncio
import os
from itertools import count
from pathlib import Path
from time import perf_counter
from uuid import UUID, uuid4

from bench.decisions.memory import DOMAIN, OWNER, Size, settings_at
from bench.rounds import Work, interleaved
from bench.table import Row, Table, at_least, rate
from gieok import Gieok, User
from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.driver.open import open_database
from gieok.adapters.sql.scope import SqlView
from gieok.engine import utc_now
from gieok.memory.decisions.records import DecisionProposal

_INSERT = "INSERT INTO chain_versions VALUES (?, 'decision', ?, ?, ?, 1, ?, ?)"
_MOVE = "UPDATE chain_heads SET latest = ?, active = ? WHERE owner = ? AND kind = 'decision' AND root_id = ?"
_SEALED_BYTES = 380
_SAVERS = 16
_NOT_READ_YET = 1_000_000
"""A statement that was read before is read again for nothing, so no two contestants may save the same."""


async def measure(folder: Path, size: Size) -> Table:
    """A writer who waits for each, and many at once; each contestant has a file of its own on one disk."""
    await open_database(f"sqlite:///{folder}/bare.db").close()
    bare = sqlite_file.connect(folder / "bare.db", 5.0)
    async with (
        await Gieok.open(settings_at(folder / "store.db")) as store,
        await Gieok.open(settings_at(folder / "saved.db")) as saved,
        await Gieok.open(settings_at(folder / "together.db")) as together,
    ):
        timings = await interleaved(
            size.rounds,
            {
                "bare": _bare(bare, size.saves),
                "store": await _appends(store, size.saves),
                "save": await _saves(saved.user(OWNER), 1, size.saves),
                "together": await _saves(together.user(OWNER), _SAVERS, size.saves // _SAVERS),
            },
        )
    bare.close()

    def row(what: str, name: str) -> Row:
        ratio = timings.ratio("bare", name)
        against = "bare apsw, two statements"
        return Row(
            what, rate(timings.of(name)), against, rate(timings.of("bare")), ratio, at_least(ratio, 0.5)
        )

    return Table(
        "Saving a version, at synchronous=FULL",
        [
            row("append through the store", "store"),
            row("user.decisions.save()", "save"),
            row(f"user.decisions.save(), {_SAVERS} at once", "together"),
        ],
    )


def _proposal(number: int, root_id: UUID | None) -> DecisionProposal:
    return DecisionProposal(
        statement=f"재고는 창고 시스템에서만 바꾼다 ({number})",
        rationale="Two places that change stock drift apart. " * 4,
        strength="lock",
        scope="domain",
        domain=DOMAIN,
        root_id=root_id,
    )


async def _saves(user: User, savers: int, times: int) -> Work:
    numbers = count(savers * _NOT_READ_YET)
    chains = [(await user.decisions.save(_proposal(next(numbers), None))).root_id for _ in range(savers)]

    async def saver(root_id: UUID) -> None:
        for _ in range(times):
            await user.decisions.save(_proposal(next(numbers), root_id))

    async def work() -> float:
        started = perf_counter()
        await asyncio.gather(*map(saver, chains))
        return (perf_counter() - started) / (savers * times)

    return work


async def _appends(gieok: Gieok, times: int) -> Work:
    first = await gieok.user(OWNER).decisions.save(_proposal(0, None))
    scope = gieok.scope(OWNER)
    numbers = count(1)

    def append(rooms: SqlView) -> None:
        content = _proposal(next(numbers), None).content
        rooms.decisions.append(
            first.root_id, content, version_id=uuid4(), created_at=utc_now(), expected_version=None
        )

    async def work() -> float:
        started = perf_counter()
        for _ in range(times):
            await scope.write(append)
        return (perf_counter() - started) / times

    return work


def _bare(connection: sqlite_file.Connection, times: int) -> Work:
    connection.pragma("foreign_keys", 0)
    root = uuid4().bytes
    connection.execute("INSERT INTO chain_heads VALUES (?, 'decision', ?, 1, 1)", (OWNER, root))
    versions = count(1)

    async def work() -> float:
        started = perf_counter()
        for _ in range(times):
            version, sealed = next(versions), os.urandom(_SEALED_BYTES)
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_INSERT, (OWNER, root, version, uuid4().bytes, sealed, version))
            connection.execute(_MOVE, (version, version, OWNER, root))
            connection.execute("COMMIT")
        return (perf_counter() - started) / times

    return work
