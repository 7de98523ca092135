"""Comparing on a machine that is busy with other things: short turns, one after another, and medians."""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable, Mapping
from statistics import median

Work = Callable[[], Awaitable[float]]
"""One turn of one contestant; it returns the seconds that one operation took."""


class Timings:
    """Seconds an operation, by contestant and round."""

    def __init__(self, names: Mapping[str, Work]) -> None:
        self._seconds: dict[str, list[float]] = {name: [] for name in names}

    def add(self, name: str, seconds: float) -> None:
        self._seconds[name].append(seconds)

    def of(self, name: str) -> float:
        """The median over the rounds."""
        return median(self._seconds[name])

    def ratio(self, name: str, other: str) -> float:
        """The median of each round's ratio, so that what slows a whole round slows both."""
        pairs = zip(self._seconds[name], self._seconds[other], strict=True)
        return median(ours / theirs for ours, theirs in pairs)


async def interleaved(rounds: int, contestants: Mapping[str, Work]) -> Timings:
    """Let each take its turn in every round, every other round backwards. The first round only warms up."""
    timings = Timings(contestants)
    order = list(contestants)
    gc.freeze()  # what was there before is no rubbish, and looking through it again and again takes long
    for number in range(rounds + 1):
        for name in order:
            gc.collect()
            seconds = await contestants[name]()
            if number:
                timings.add(name, seconds)
        order.reverse()
    gc.unfreeze()
    return timings
