"""Decision memory: loading, blast radius and saving, with much history and many others beside them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from bench.decisions import loading, saving, walking
from bench.decisions.memory import LONG, SHORT, make
from bench.table import Table


async def run(*, short: bool) -> list[Table]:
    """Files are made where temporary files go; set TMPDIR to measure another disk."""
    size = SHORT if short else LONG
    with TemporaryDirectory(prefix="gieok-bench-") as place:
        folder = Path(place) / "data"
        folder.mkdir()
        few = await make(folder / "few.db", size, size.few)
        many = await make(folder / "many.db", size, size.many)
        loaded = await loading.measure(few, many, size)
        walked = await walking.measure(few, many, size)
        saved = await saving.measure(folder, size)
    return [loaded, walked, saved]
