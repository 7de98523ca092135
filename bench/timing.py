"""Fair timing on a busy machine: the cases run interleaved in short rounds, and medians are compared."""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable, Mapping, Sequence
from statistics import median

TimedRun = Callable[[], Awaitable[float]]
"""Runs one case for one round and returns the seconds per operation."""


class Timings:
    """Seconds per operation, by case and round."""

    def __init__(self, names: Mapping[str, TimedRun]) -> None:
        self._seconds: dict[str, list[float]] = {name: [] for name in names}

    def add(self, name: str, seconds: float) -> None:
        self._seconds[name].append(seconds)

    def of(self, name: str) -> float:
        """The median over the rounds."""
        return median(self._seconds[name])

    def ratio(self, name: str, other: str) -> float:
        """The median of the ratios per round, so that a slow round affects both sides."""
        pairs = zip(self._seconds[name], self._seconds[other], strict=True)
        return median(ours / theirs for ours, theirs in pairs)


async def interleaved(rounds: int, cases: Mapping[str, TimedRun]) -> Timings:
    """Run every case once per round, in reverse order every other round. The first round is a warm-up."""
    timings = Timings(cases)
    order = list(cases)
    gc.freeze()  # keep existing objects out of the collections below, which would take long
    for number in range(rounds + 1):
        for name in order:
            gc.collect()
            seconds = await cases[name]()
            if number:
                timings.add(name, seconds)
        order.reverse()
    gc.unfreeze()
    return timings


def p99(seconds: Sequence[float]) -> float:
    """The latency that one request of a hundred exceeds."""
    return sorted(seconds)[len(seconds) * 99 // 100]
