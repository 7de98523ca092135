"""`python -m bench`: run the benchmarks and print their tables."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
from datetime import UTC, datetime

from bench import (
    cache,
    call_paths,
    companion,
    decisions,
    engine,
    growing,
    mind,
    offline,
    service,
    start,
    turns,
)
from bench.table import render

BENCHMARKS = {
    "cache": cache.run,
    "call_paths": call_paths.run,
    "companion": companion.run,
    "decisions": decisions.run,
    "engine": engine.run,
    "growing": growing.run,
    "mind": mind.run,
    "offline": offline.run,
    "service": service.run,
    "start": start.run,
    "turns": turns.run,
}


async def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Run benchmarks. Each figure is a ratio to a baseline."
    )
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(BENCHMARKS))
    parser.add_argument("--short", action="store_true", help="small sizes and few rounds")
    options = parser.parse_args()
    if unknown := set(options.names) - set(BENCHMARKS):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    load = os.getloadavg()[0]
    print(
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores "
        f"(load {load:.1f}), Python {platform.python_version()}\n"
    )
    for name in options.names or BENCHMARKS:
        for table in await BENCHMARKS[name](short=options.short):
            print(render(table), flush=True)


asyncio.run(main())
