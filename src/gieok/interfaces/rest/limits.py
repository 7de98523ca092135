"""How often one owner may call, and how many requests are worked on at once."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

from gieok.errors import RateLimited

OWNERS = 10_000
"""Owners whose calls are counted. Beyond that, the one who was quiet for longest starts anew."""


class Rate:
    """A bucket of tokens for each owner: full at first, one taken by a call, filled at a steady rate."""

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = monotonic) -> None:
        self._per_second = per_second
        self._burst = float(burst)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, owner: str) -> None:
        """Count one call. RateLimited where the owner's bucket is empty."""
        now = self._clock()
        left, since = self._buckets.pop(owner, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._per_second)
        self._buckets[owner] = (left - 1 if left >= 1 else left, now)
        if len(self._buckets) > OWNERS:
            self._buckets.popitem(last=False)
        if left < 1:
            raise RateLimited(
                f"more than {self._per_second:g} requests a second; wait, then go on more slowly",
                (1 - left) / self._per_second,
            )


class Places:
    """Room for so many requests at once; some more wait for a moment, and the rest are told to come later."""

    def __init__(self, at_once: int, waiting: int, wait_seconds: float) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._waiting = 0
        self._most_waiting = waiting
        self._wait_seconds = wait_seconds

    async def enter(self) -> None:
        """Take a place. RateLimited where none becomes free in time."""
        if not self._free.locked():
            await self._free.acquire()
            return
        if self._waiting >= self._most_waiting:
            raise self._full()
        self._waiting += 1
        try:
            async with asyncio.timeout(self._wait_seconds):
                await self._free.acquire()
        except TimeoutError:
            raise self._full() from None
        finally:
            self._waiting -= 1

    def leave(self) -> None:
        """Give the place to the next."""
        self._free.release()

    def _full(self) -> RateLimited:
        return RateLimited(
            "the service is busy with other requests; try again in a moment", self._wait_seconds
        )
