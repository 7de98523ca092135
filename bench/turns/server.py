"""The same on PostgreSQL, for information: its server runs beside the benchmark, on the same cores."""

from __future__ import annotations

from pathlib import Path

import psycopg

from bench.rounds import Work, interleaved
from bench.table import Row, Table, micros, rate
from bench.turns import saving, searching
from bench.turns.saving import many_writers, one_writer, open_at, save, scope_of
from bench.turns.searching import searches, session_and_queries
from bench.turns.words import Words
from tests.postgres import Postgres

_ROUNDS = 5


async def measure(folder: Path, saves: saving.Size, finds: searching.Size) -> Table:
    server = Postgres()
    try:
        with psycopg.connect(server.admin_url(), autocommit=True) as admin:
            admin.execute("ALTER SYSTEM SET fsync = on")  # the tests do without
            admin.execute("SELECT pg_reload_conf()")
        return await _compare(folder, server.new_database(), saves, finds)
    finally:
        server.close()


async def _compare(folder: Path, url: str, saves: saving.Size, finds: searching.Size) -> Table:
    items, queries = session_and_queries(finds)
    contestants: dict[str, Work] = {}
    rows: list[Row] = []
    async with (
        await open_at(url, folder) as postgres,
        await open_at(f"sqlite:///{folder}/beside.db", folder) as sqlite,
    ):
        for name, gieok in (("postgres", postgres), ("sqlite", sqlite)):
            await save(scope_of(gieok), *items)
            fresh = Words().items(saves.items * (saves.rounds + 1), "alone")
            contestants[f"save an item, one writer/{name}"] = one_writer(gieok, fresh, saves)
            contestants[f"save an item, 32 writers/{name}"] = many_writers(gieok, saves)
            for kind, texts in queries.items():
                contestants[f"search: {kind}/{name}"] = searches(gieok, texts)
        timings = await interleaved(min(saves.rounds, _ROUNDS), contestants)
    for what in dict.fromkeys(name.partition("/")[0] for name in contestants):
        ours, other = f"{what}/postgres", f"{what}/sqlite"
        figure = micros if what.startswith("search") else rate
        seconds = timings.ratio(ours, other)
        ratio = seconds if what.startswith("search") else 1 / seconds
        rows.append(Row(what, figure(timings.of(ours)), "SQLite", figure(timings.of(other)), ratio))
    return Table("PostgreSQL, for information", rows)
