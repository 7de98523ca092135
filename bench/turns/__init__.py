"""Turn memory: saving and searching on SQLite, compared with bare SQLite and with PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from bench.table import Row, Table, micros, rate
from bench.timing import TimedRun, interleaved
from bench.turns import saving, searching
from bench.turns.saving import many_writers, one_writer, open_at, save, scope_of
from bench.turns.searching import searches, session_and_queries
from bench.vocabulary import Vocabulary
from tests.postgres import Postgres

_ROUNDS = 5


async def run(*, short: bool) -> list[Table]:
    """Run on files in the temporary folder. Set TMPDIR to measure another disk."""
    save_size = saving.SHORT if short else saving.LONG
    search_size = searching.SHORT if short else searching.LONG
    with TemporaryDirectory(prefix="gieok-bench-") as temporary:
        folder = Path(temporary) / "data"
        return [
            await saving.measure(folder, save_size),
            *await searching.measure(folder, search_size),
            await _measure_postgres(folder, save_size, search_size),
        ]


async def _measure_postgres(folder: Path, save_size: saving.Size, search_size: searching.Size) -> Table:
    server = Postgres()
    try:
        with psycopg.connect(server.admin_url(), autocommit=True) as admin:
            admin.execute("ALTER SYSTEM SET fsync = on")  # the test server turns it off
            admin.execute("SELECT pg_reload_conf()")
        return await _compare_with_sqlite(folder, server.new_database(), save_size, search_size)
    finally:
        server.close()


async def _compare_with_sqlite(
    folder: Path, url: str, save_size: saving.Size, search_size: searching.Size
) -> Table:
    items, queries = session_and_queries(search_size)
    cases: dict[str, TimedRun] = {}
    rows: list[Row] = []
    async with (
        await open_at(url, folder) as postgres,
        await open_at(f"sqlite:///{folder}/sqlite.db", folder) as sqlite,
    ):
        for name, gieok in (("postgres", postgres), ("sqlite", sqlite)):
            await save(scope_of(gieok), *items)
            fresh = Vocabulary().items(save_size.items * (save_size.rounds + 1), "alone")
            cases[f"save an item, one writer/{name}"] = one_writer(gieok, fresh, save_size)
            cases[f"save an item, 32 writers/{name}"] = many_writers(gieok, save_size)
            for kind, texts in queries.items():
                cases[f"search: {kind}/{name}"] = searches(gieok, texts)
        timings = await interleaved(min(save_size.rounds, _ROUNDS), cases)
    for what in dict.fromkeys(name.partition("/")[0] for name in cases):
        ours, other = f"{what}/postgres", f"{what}/sqlite"
        figure = micros if what.startswith("search") else rate
        seconds = timings.ratio(ours, other)
        ratio = seconds if what.startswith("search") else 1 / seconds
        rows.append(Row(what, figure(timings.of(ours)), "SQLite", figure(timings.of(other)), ratio))
    return Table("PostgreSQL, for information", rows)
