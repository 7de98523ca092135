"""The blast radius with its paths, against a bare recursive query for the same set."""

from __future__ import annotations

from time import perf_counter

from bench.decisions.memory import OWNER, Memory, Size
from bench.rounds import Work, interleaved
from bench.table import Row, Table, at_most, millis
from gieok import Gieok
from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.scope import SqlView
from gieok.memory.decisions.graph.impact import MAX_DEPTH, MAX_LIMIT, impact_of
from gieok.memory.decisions.records import Impact

_REACHED = """
WITH RECURSIVE reached (root) AS (
    SELECT :origin
    UNION
    SELECT edge.affected FROM reached JOIN decision_impacts AS edge ON edge.origin = reached.root
    WHERE edge.owner = :owner
)
SELECT root FROM reached
"""


async def measure(few: Memory, many: Memory, size: Size) -> Table:
    """The same subgraph in both files."""
    bare = sqlite_file.connect(many.file, 5.0, read_only=True)
    async with await Gieok.open(few.settings) as small, await Gieok.open(many.settings) as large:
        await _check(large, many, bare)
        timings = await interleaved(
            size.rounds,
            {
                "bare": _bare(bare, many, size.times),
                "walk": _walks(large, many, size.times),
                "call": _calls(large, many, size.times),
                "walk few": _walks(small, few, size.times),
                "call few": _calls(small, few, size.times),
            },
        )
    bare.close()
    edges = f"a graph of {many.crowd.edges + size.edges_among_reached:,} edges"
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


async def _check(gieok: Gieok, memory: Memory, bare: sqlite_file.Connection) -> None:
    """Both give the same set, or the comparison would say nothing."""
    impact = await gieok.user(OWNER).decisions.impact(memory.origin)
    rows = bare.execute(_REACHED, {"origin": memory.origin.bytes, "owner": OWNER}).fetchall()
    if {root for (root,) in rows} != {memory.origin.bytes, *(node.root_id.bytes for node in impact.nodes)}:
        raise AssertionError("the walk and the bare query reach different decisions")


def _walks(gieok: Gieok, memory: Memory, times: int) -> Work:
    scope = gieok.scope(OWNER)

    def walk(rooms: SqlView) -> Impact:
        return impact_of(memory.origin, rooms.graph.edges, depth=MAX_DEPTH, limit=MAX_LIMIT)

    async def work() -> float:
        started = perf_counter()
        for _ in range(times):
            await scope.read(walk)
        return (perf_counter() - started) / times

    return work


def _calls(gieok: Gieok, memory: Memory, times: int) -> Work:
    decisions = gieok.user(OWNER).decisions

    async def work() -> float:
        started = perf_counter()
        for _ in range(times):
            await decisions.impact(memory.origin)
        return (perf_counter() - started) / times

    return work


def _bare(connection: sqlite_file.Connection, memory: Memory, times: int) -> Work:
    async def work() -> float:
        started = perf_counter()
        for _ in range(times):
            connection.execute(_REACHED, {"origin": memory.origin.bytes, "owner": OWNER}).fetchall()
        return (perf_counter() - started) / times

    return work
