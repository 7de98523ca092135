"""The limits of the service, and the two of them that are counted here: rate per owner and concurrency."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from gieok.app.owner_data import MAX_IMPORT_BYTES
from gieok.errors import RateLimited
from gieok.settings.sections import DEFAULT_SERVICE, ServiceSettings

MAX_OWNERS = 10_000
"""Owners whose requests are counted. Beyond that, the least recently active owner is forgotten."""


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """The limits of one process."""

    connections: int = DEFAULT_SERVICE.max_connections
    """Open connections. Fewer where the process may not open as many files."""
    connections_per_address: int = DEFAULT_SERVICE.max_connections_per_address
    """Open connections of one IPv4 address or one IPv6 /64 network."""
    header_bytes: int = 64 * 1024
    """Size of the request line and the headers."""
    header_lines: int = 100
    """Number of headers."""
    header_seconds: float = 10.0
    """Time for the headers to arrive."""
    discard_bytes: int = 128 * 1024 * 1024
    """Size up to which a refused request is read, so that a client that is still sending gets its answer."""
    discard_seconds: float = 20.0
    """Time for which it is read."""
    body_bytes: int = 1024 * 1024
    """Size of a JSON body."""
    upload_bytes: int = MAX_IMPORT_BYTES
    """Size of a body that is read as a stream: an import."""
    body_seconds: float = 20.0
    """Time for a JSON body to arrive."""
    request_seconds: float = 150.0
    """Time to the answer, or to the start of a stream. Longer than the limit of a step."""
    stream_seconds: float = 900.0
    """Time from the start of a stream to its end."""
    rate_per_second: float = DEFAULT_SERVICE.rate_per_second
    """Sustained requests of one owner."""
    rate_burst: int = DEFAULT_SERVICE.rate_burst
    """Requests of one owner at once."""
    requests_at_once: int = 256
    """Concurrent requests of all owners."""
    requests_waiting: int = 1024
    """Requests that may wait for one of those slots."""
    wait_seconds: float = 5.0
    """Time that they wait."""
    metrics_open: bool = False
    """Serve /metrics without a token to clients on this machine."""


def options_from(settings: ServiceSettings) -> ServiceOptions:
    """The limits that an operator has set, and the defaults for the others."""
    return ServiceOptions(
        connections=settings.max_connections,
        connections_per_address=settings.max_connections_per_address,
        rate_per_second=settings.rate_per_second,
        rate_burst=settings.rate_burst,
        metrics_open=settings.metrics_open,
    )


class RateLimiter:
    """A token bucket per owner: `burst` tokens, refilled at `per_second`."""

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = monotonic) -> None:
        self._per_second = per_second
        self._burst = float(burst)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, owner: str) -> None:
        """Take one token. RateLimited if the owner's bucket is empty."""
        now = self._clock()
        tokens, since = self._buckets.pop(owner, (self._burst, now))
        tokens = min(self._burst, tokens + (now - since) * self._per_second)
        self._buckets[owner] = (tokens - 1 if tokens >= 1 else tokens, now)
        if len(self._buckets) > MAX_OWNERS:
            self._buckets.popitem(last=False)
        if tokens < 1:
            raise RateLimited(
                f"more than {self._per_second:g} requests per second; wait, then send fewer",
                (1 - tokens) / self._per_second,
            )


class ConcurrencyLimiter:
    """A number of slots for concurrent requests, with a bounded queue of requests that wait for one."""

    def __init__(self, slots: int, max_waiting: int, wait_seconds: float) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._waiting = 0
        self._max_waiting = max_waiting
        self._wait_seconds = wait_seconds

    async def acquire(self) -> None:
        """Take a slot. RateLimited if the queue is full, or if no slot becomes free in time."""
        if not self._slots.locked():
            await self._slots.acquire()
            return
        if self._waiting >= self._max_waiting:
            raise self._busy()
        self._waiting += 1
        try:
            async with asyncio.timeout(self._wait_seconds):
                await self._slots.acquire()
        except TimeoutError:
            raise self._busy() from None
        finally:
            self._waiting -= 1

    def release(self) -> None:
        """Return a slot."""
        self._slots.release()

    def _busy(self) -> RateLimited:
        return RateLimited("the service is busy; retry in a moment", self._wait_seconds)
