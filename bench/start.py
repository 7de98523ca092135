"""Start-up time of import, `--help` and demo, compared with an empty Python program."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from bench.table import Goal, Row, Table, at_most, millis
from bench.timing import TimedRun, interleaved

_GIEOK = str(Path(sys.executable).with_name("gieok"))
_IMPORT = (sys.executable, "-c", "import gieok")
_IMPORT_ALL = (sys.executable, "-c", "import gieok.app")
_HELP = (_GIEOK, "--help")
_DEMO = (_GIEOK, "demo")
_NOTHING = (sys.executable, "-c", "")

# The peak memory of a child includes that of its parent at the fork, so a small process starts it.
_PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


async def run(*, short: bool) -> list[Table]:
    rounds = 1 if short else 15
    commands = {
        "import": _IMPORT,
        "import all": _IMPORT_ALL,
        "help": _HELP,
        "demo": _DEMO,
        "nothing": _NOTHING,
    }
    timings = await interleaved(rounds, {name: _timed(command) for name, command in commands.items()})

    def row(name: str, what: str, goal_ms: float | None) -> Row:
        seconds = timings.of(name)
        goal = None if goal_ms is None else at_most(seconds * 1000, goal_ms, " ms")
        return Row(what, millis(seconds), "python -c ''", bare, timings.ratio(name, "nothing"), goal)

    bare = millis(timings.of("nothing"))
    rows = [
        row("import", "import gieok", 150),
        row("import all", "import gieok.app (everything)", None),
        row("help", "gieok --help", 300),
        row("demo", "gieok demo", 10_000),
        _memory_row(),
    ]
    return [Table("Start-up: complete processes from start to exit", rows)]


def _timed(command: tuple[str, ...]) -> TimedRun:
    async def run_once() -> float:
        started = perf_counter()
        await asyncio.to_thread(subprocess.run, command, check=True, stdout=subprocess.DEVNULL)
        return perf_counter() - started

    return run_once


def _memory_row() -> Row:
    demo, nothing = _peak_mb(_DEMO), _peak_mb(_NOTHING)
    return Row(
        "peak memory of gieok demo",
        f"{demo:.0f} MB",
        "python -c ''",
        f"{nothing:.0f} MB",
        demo / nothing,
        Goal("≤ 120 MB", demo <= 120),
    )


def _peak_mb(command: tuple[str, ...]) -> float:
    ran = subprocess.run([sys.executable, "-c", _PEAK, *command], check=True, capture_output=True, text=True)
    return int(ran.stdout) / (1024 * 1024 if sys.platform == "darwin" else 1024)
