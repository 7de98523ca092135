"""The limits of the service, and those that are counted here: rate and concurrency, for each owner."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

from gieok.app.cache import SharedBuckets
from gieok.app.owner_data import MAX_IMPORT_BYTES
from gieok.errors import RateLimited
from gieok.settings.sections import DEFAULT_SERVICE, ServiceSettings

EXPORT = ("GET", "/api/v1/me/export")
IMPORT = ("POST", "/api/v1/me/import")
"""The one request whose body is read as a stream, by its route."""
CARD_IMPORT = ("POST", "/api/v1/personas/import")
"""The one request whose body may be multipart, with a file."""
_EXPORTS = (EXPORT, ("POST", "/console/data/export"))
_IMPORTS = (IMPORT, CARD_IMPORT, ("POST", "/console/data/import"))
_MODEL_CALLS = re.compile(
    r"POST /api/v1/(chat/.+|context|memory/summarize|sessions/[^/]+/(close|messages))"
    r"|POST /api/v1/decisions/(compact|walks)"
    r"|GET /api/v1/memory/search"
    r"|POST /console/(chat/.+|memories|memories/[^/]+/why)"
    r"|POST /v1/chat/completions"
    r"|POST /mcp"
)
"""Requests that may wait for a language model or an embedder: tests/rest/test_model_slots.py checks them."""
MAX_OWNERS = 10_000
"""Owners whose requests are counted. Beyond that, the least recently active owner is forgotten."""


LEASE_SECONDS = 1.0
"""How long a process keeps tokens of a shared limit that it has not used."""


class Slots(NamedTuple):
    """How many requests of one kind run at once, in total and of one owner, and how many may wait."""

    total: int
    per_owner: int
    waiting: int


REQUESTS = Slots(256, per_owner=64, waiting=1024)
MODEL_CALLS = Slots(256, per_owner=32, waiting=1024)
EXPORTS = IMPORTS = Slots(16, per_owner=1, waiting=64)


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
    card_bytes: int = 16 * 1024 * 1024
    """Size of a multipart body: a character card with its picture."""
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
    requests: Slots = REQUESTS
    """Concurrent requests, except for those below."""
    model_calls: Slots = MODEL_CALLS
    """Concurrent requests that may wait for a language model."""
    exports: Slots = EXPORTS
    imports: Slots = IMPORTS
    wait_seconds: float = 5.0
    """Time that a request waits for a slot."""
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
            raise _too_many(self._per_second, (1 - tokens) / self._per_second)


def _too_many(per_second: float, retry_after: float) -> RateLimited:
    return RateLimited(f"more than {per_second:g} requests per second; wait, then send fewer", retry_after)


class SharedRateLimiter:
    """The same bucket for all processes, in a shared cache. If that is away, all requests pass: the process
    has its own limiter besides.

    A process takes up to a hundredth of the burst at a time, so that a busy owner does not cost one command a
    request. What it has not used after a second is lost: together, processes never allow more than the limit.
    """

    def __init__(
        self, buckets: SharedBuckets, per_second: float, burst: int, clock: Callable[[], float] = monotonic
    ) -> None:
        self._buckets = buckets
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._wanted = max(1, burst // 100)
        self._taken: OrderedDict[str, tuple[int, float]] = OrderedDict()
        """Tokens of each owner that this process has taken and not used, and when they are lost."""

    async def take(self, owner: str) -> None:
        """Take one token. RateLimited if the owner's bucket is empty."""
        if self._use(owner):
            return
        taken = await self._buckets.take(owner, self._wanted, self._per_second, self._burst)
        if taken is None or self._use(owner, taken[0]):
            return
        raise _too_many(self._per_second, taken[1])

    def _use(self, owner: str, granted: int = 0) -> bool:
        """Use one token of those that are left and those that were granted now, if there is one."""
        now = self._clock()
        left, until = self._taken.pop(owner, (0, now))
        tokens = granted + (left if now < until else 0)
        if tokens > 1:
            self._taken[owner] = tokens - 1, now + LEASE_SECONDS if granted else until
            if len(self._taken) > MAX_OWNERS:
                self._taken.popitem(last=False)
        return tokens > 0


class ConcurrencyLimiter:
    """Slots for concurrent requests, with a bounded queue of requests that wait for one.

    An owner who holds all slots of one owner waits for the own ones, so that others get theirs. No owner may
    take more than a quarter of the queue.
    """

    def __init__(self, slots: Slots, wait_seconds: float) -> None:
        self._slots = slots
        self._wait_seconds = wait_seconds
        self._free = asyncio.Semaphore(slots.total)
        self._owners: dict[str, _OwnerSlots] = {}
        self._waiting = 0

    @asynccontextmanager
    async def slot(self, owner: str) -> AsyncGenerator[None]:
        """Hold a slot. RateLimited if the queue is full, or if no slot becomes free in time."""
        own = self._owners.setdefault(owner, _OwnerSlots(asyncio.Semaphore(self._slots.per_owner)))
        own.users += 1
        try:
            await self._acquire(own)
            try:
                yield
            finally:
                self._free.release()
                own.free.release()
        finally:
            own.users -= 1
            if not own.users:
                del self._owners[owner]

    async def _acquire(self, own: _OwnerSlots) -> None:
        if not own.free.locked() and not self._free.locked():
            await own.free.acquire()
            await self._free.acquire()
            return
        if self._waiting >= self._slots.waiting or own.waiting >= max(1, self._slots.waiting // 4):
            raise self._busy()
        self._waiting += 1
        own.waiting += 1
        try:
            async with asyncio.timeout(self._wait_seconds):
                await own.free.acquire()
                try:
                    await self._free.acquire()
                except BaseException:
                    own.free.release()
                    raise
        except TimeoutError:
            raise self._busy() from None
        finally:
            self._waiting -= 1
            own.waiting -= 1

    def _busy(self) -> RateLimited:
        return RateLimited(
            "too many of these requests run at once, of this user or of all; retry in a moment",
            self._wait_seconds,
        )


@dataclass(slots=True)
class _OwnerSlots:
    """The slots of one owner, while the owner has requests."""

    free: asyncio.Semaphore
    users: int = 0
    waiting: int = 0


class RequestLimits:
    """Which slots a request needs: exports, imports and model calls have their own."""

    def __init__(self, options: ServiceOptions) -> None:
        self._requests = ConcurrencyLimiter(options.requests, options.wait_seconds)
        self._model_calls = ConcurrencyLimiter(options.model_calls, options.wait_seconds)
        self._exports = ConcurrencyLimiter(options.exports, options.wait_seconds)
        self._imports = ConcurrencyLimiter(options.imports, options.wait_seconds)

    def of(self, method: str, path: str) -> ConcurrencyLimiter:
        """The slots for a request."""
        if (method, path) in _EXPORTS:
            return self._exports
        if (method, path) in _IMPORTS:
            return self._imports
        return self._model_calls if _MODEL_CALLS.fullmatch(f"{method} {path}") else self._requests
