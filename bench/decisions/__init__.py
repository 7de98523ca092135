"""Decision memory: loading, blast radius and saving, in a small and in a large database."""

from __future__ import annotations

import asyncio
import os
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from uuid import UUID, uuid4

from bench.decisions.sample import DOMAIN, LONG, OWNER, SHORT, Sample, Size, create_sample, settings_at
from bench.table import Row, Table, at_least, at_most, millis, rate
from bench.timing import TimedRun, interleaved
from gieok import Gieok, User
from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.driver.open import open_database
from gieok.adapters.sql.scope import SqlView
from gieok.engine import utc_now
from gieok.memory.decisions.graph.impact import MAX_DEPTH, MAX_LIMIT, impact_of
from gieok.memory.decisions.records import DecisionProposal, Impact

_QUESTION = "재고는 어디에서 바꾸나"
_REACHED = """
WITH RECURSIVE reached (root) AS (
    SELECT :origin
    UNION
    SELECT edge.affected FROM reached JOIN decision_impacts AS edge ON edge.origin = reached.root
    WHERE edge.owner = :owner
)
SELECT root FROM reached
"""
_INSERT = "INSERT INTO chain_versions VALUES (?, 'decision', ?, ?, ?, 1, ?, ?)"
_MOVE = "UPDATE chain_heads SET latest = ?, active = ? WHERE owner = ? AND kind = 'decision' AND root_id = ?"
_SEALED_BYTES = 380
_WRITERS = 16
_NUMBERS_PER_CASE = 1_000_000
"""Analysed statements are cached, so no two cases may save the same statement."""


async def run(*, short: bool) -> list[Table]:
    """Run on files in the temporary folder. Set TMPDIR to measure another disk."""
    size = SHORT if short else LONG
    with TemporaryDirectory(prefix="gieok-bench-") as temporary:
        folder = Path(temporary) / "data"
        folder.mkdir()
        few = await create_sample(folder / "few.db", size, size.few)
        many = await create_sample(folder / "many.db", size, size.many)
        loading_table = await measure_loading(few, many, size)
        impact_table = await measure_impact(few, many, size)
        saving_table = await measure_saving(folder, size)
    return [loading_table, impact_table, saving_table]


async def measure_loading(few: Sample, many: Sample, size: Size) -> Table:
    """Load the same domain from both files with the shipped plan."""
    async with await Gieok.open(few.settings) as small, await Gieok.open(many.settings) as large:
        timings = await interleaved(
            size.rounds,
            {
                "few": _loads(small.user(OWNER), size.times),
                "many": _loads(large.user(OWNER), size.times),
                "few with question": _loads(small.user(OWNER), size.times, _QUESTION),
                "many with question": _loads(large.user(OWNER), size.times, _QUESTION),
            },
        )
    filling = many.filling
    rows = [
        Row(
            f"{what}, {filling.active:,} active × {filling.versions} versions",
            millis(timings.of(f"many{kind}")),
            f"{few.filling.active:,} active × {few.filling.versions}",
            millis(timings.of(f"few{kind}")),
            ratio := timings.ratio(f"many{kind}", f"few{kind}"),
            at_most(ratio, 1.5),
        )
        for what, kind in (("load a domain", ""), ("load it with a question", " with question"))
    ]
    return Table("Loading a domain of 100 decisions, and 9 global ones", rows)


def _loads(user: User, times: int, question: str | None = None) -> TimedRun:
    async def run_once() -> float:
        started = perf_counter()
        for _ in range(times):
            await user.decisions.context(DOMAIN, q=question)
        return (perf_counter() - started) / times

    return run_once


async def measure_impact(few: Sample, many: Sample, size: Size) -> Table:
    """Walk the same subgraph in both files."""
    bare = sqlite_file.connect(many.file, 5.0, read_only=True)
    async with await Gieok.open(few.settings) as small, await Gieok.open(many.settings) as large:
        await _check_same_set(large, many, bare)
        timings = await interleaved(
            size.rounds,
            {
                "bare": _bare_query(bare, many, size.times),
                "walk": _walks(large, many, size.times),
                "call": _calls(large, many, size.times),
                "walk few": _walks(small, few, size.times),
                "call few": _calls(small, few, size.times),
            },
        )
    bare.close()
    edges = f"a graph of {many.filling.edges + size.edges_among_reached:,} edges"
    nothing_else = "nothing else in the graph"

    def row(what: str, name: str, against: str, other: str, goal: float) -> Row:
        ratio = timings.ratio(name, other)
        return Row(
            what, millis(timings.of(name)), against, millis(timings.of(other)), ratio, at_most(ratio, goal)
        )

    return Table(
        f"A blast radius of {size.reached:,} decisions with their paths, in {edges}",
        [
            row("the walk in its transaction", "walk", "bare recursive query, the set only", "bare", 2),
            row("user.decisions.impact()", "call", "bare recursive query, the set only", "bare", 2),
            row("the walk in its transaction", "walk", nothing_else, "walk few", 1.5),
            row("user.decisions.impact()", "call", nothing_else, "call few", 1.5),
        ],
    )


async def _check_same_set(gieok: Gieok, sample: Sample, bare: sqlite_file.Connection) -> None:
    """Check that both give the same set."""
    impact = await gieok.user(OWNER).decisions.impact(sample.origin)
    rows = bare.execute(_REACHED, {"origin": sample.origin.bytes, "owner": OWNER}).fetchall()
    if {root for (root,) in rows} != {sample.origin.bytes, *(node.root_id.bytes for node in impact.nodes)}:
        raise AssertionError("the walk and the bare query reach different decisions")


def _walks(gieok: Gieok, sample: Sample, times: int) -> TimedRun:
    scope = gieok.scope(OWNER)

    def walk(view: SqlView) -> Impact:
        return impact_of(sample.origin, view.graph.edges, depth=MAX_DEPTH, limit=MAX_LIMIT)

    async def run_once() -> float:
        started = perf_counter()
        for _ in range(times):
            await scope.read(walk)
        return (perf_counter() - started) / times

    return run_once


def _calls(gieok: Gieok, sample: Sample, times: int) -> TimedRun:
    decisions = gieok.user(OWNER).decisions

    async def run_once() -> float:
        started = perf_counter()
        for _ in range(times):
            await decisions.impact(sample.origin)
        return (perf_counter() - started) / times

    return run_once


def _bare_query(connection: sqlite_file.Connection, sample: Sample, times: int) -> TimedRun:
    async def run_once() -> float:
        started = perf_counter()
        for _ in range(times):
            connection.execute(_REACHED, {"origin": sample.origin.bytes, "owner": OWNER}).fetchall()
        return (perf_counter() - started) / times

    return run_once


async def measure_saving(folder: Path, size: Size) -> Table:
    """Measure one writer and many concurrent writers. Each case has its own file on the same disk."""
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
                "bare": _bare_inserts(bare, size.saves),
                "store": await _appends(store, size.saves),
                "save": await _saves(saved.user(OWNER), 1, size.saves),
                "together": await _saves(together.user(OWNER), _WRITERS, size.saves // _WRITERS),
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
            row(f"user.decisions.save(), {_WRITERS} at once", "together"),
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


async def _saves(user: User, writers: int, times: int) -> TimedRun:
    numbers = count(writers * _NUMBERS_PER_CASE)
    chains = [(await user.decisions.save(_proposal(next(numbers), None))).root_id for _ in range(writers)]

    async def write_all(root_id: UUID) -> None:
        for _ in range(times):
            await user.decisions.save(_proposal(next(numbers), root_id))

    async def run_once() -> float:
        started = perf_counter()
        await asyncio.gather(*map(write_all, chains))
        return (perf_counter() - started) / (writers * times)

    return run_once


async def _appends(gieok: Gieok, times: int) -> TimedRun:
    first = await gieok.user(OWNER).decisions.save(_proposal(0, None))
    scope = gieok.scope(OWNER)
    numbers = count(1)

    def append(view: SqlView) -> None:
        content = _proposal(next(numbers), None).content
        view.decisions.append(
            first.root_id, content, version_id=uuid4(), created_at=utc_now(), expected_version=None
        )

    async def run_once() -> float:
        started = perf_counter()
        for _ in range(times):
            await scope.write(append)
        return (perf_counter() - started) / times

    return run_once


def _bare_inserts(connection: sqlite_file.Connection, times: int) -> TimedRun:
    connection.pragma("foreign_keys", 0)
    root = uuid4().bytes
    connection.execute("INSERT INTO chain_heads VALUES (?, 'decision', ?, 1, 1)", (OWNER, root))
    versions = count(1)

    async def run_once() -> float:
        started = perf_counter()
        for _ in range(times):
            version, sealed = next(versions), os.urandom(_SEALED_BYTES)
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_INSERT, (OWNER, root, version, uuid4().bytes, sealed, version))
            connection.execute(_MOVE, (version, version, OWNER, root))
            connection.execute("COMMIT")
        return (perf_counter() - started) / times

    return run_once
