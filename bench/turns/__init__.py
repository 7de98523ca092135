"""Turn memory: saving and searching, on SQLite against something bare, on PostgreSQL for information."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from bench.table import Table
from bench.turns import saving, searching, server


async def run(*, short: bool) -> list[Table]:
    """Files are made where temporary files go; set TMPDIR to measure another disk."""
    saves = saving.SHORT if short else saving.LONG
    finds = searching.SHORT if short else searching.LONG
    with TemporaryDirectory(prefix="gieok-bench-") as place:
        folder = Path(place) / "data"
        return [
            await saving.measure(folder, saves),
            *await searching.measure(folder, finds),
            await server.measure(folder, saves, finds),
        ]
