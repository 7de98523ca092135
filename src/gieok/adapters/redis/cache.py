"""The cache that the processes of a service share: windows of sessions, revisions of personas, rate limits.

Nothing depends on it: a value that is missing, late or wrong is a miss, and a limit that cannot be read is
left to the process. After the first error no command is sent until the server answers a PING again, so that a
server that hangs costs each running request `SECONDS` once, and later ones nothing. Names of owners, sessions
and personas are keyed hashes, values arrive here sealed, and every key expires.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar, cast

from redis.asyncio import BlockingConnectionPool, Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as ConnectionFailed
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as TimedOut
from redis.retry import Retry

from gieok.errors import SettingsInvalid

T = TypeVar("T")
SECONDS = 0.05
"""How long a command may take, the connection included."""
PROBE_SECONDS = 0.25
"""How often a server that failed is tried again."""
CONNECTIONS = 32
PENDING = 256
"""Commands that wait to be sent. One more is not sent."""
VALUE_SECONDS = 30 * 60
VALUES_PER_OWNER = 64
"""With more sessions and personas, the other values of the owner are dropped."""

_log = logging.getLogger(__name__)

_SAVE_VALUES = """
for place = 3, #ARGV, 2 do
    local name, value = ARGV[place], ARGV[place + 1]
    if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[2]) and redis.call('HEXISTS', KEYS[1], name) == 0 then
        redis.call('DEL', KEYS[1])
    end
    redis.call('HSET', KEYS[1], name, value)
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
"""
_TAKE_TOKENS = """
local wanted, per_second, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(bucket[1]) or burst, tonumber(bucket[2]) or now
tokens = math.min(burst, tokens + math.max(0, now - at) * per_second)
local granted = math.min(wanted, math.floor(tokens))
tokens = tokens - granted
redis.call('HSET', KEYS[1], 'tokens', tokens, 'at', now)
redis.call('PEXPIRE', KEYS[1], math.ceil(burst / per_second * 1000) + 1000)
return {granted, tostring(tokens)}
"""
"""A token bucket by the server's clock. Grants up to `wanted` tokens; returns them and how many are left."""


@dataclass(frozen=True, slots=True)
class CacheStatus:
    """Facts for an operator. `problem` says why the others are empty."""

    problem: str | None = None
    version: str = ""
    milliseconds: float = 0.0
    """Time of a PING."""
    used_bytes: int = 0
    max_bytes: int = 0
    """0: no limit."""
    policy: str = ""
    """What is evicted when the memory is full."""
    keys: int = 0
    """Of Gieok and of other programs in the same database of the server."""


class RedisCache:
    """Implements `SharedCache`. Use it in one event loop."""

    def __init__(self, url: str, name: Callable[..., str], *, seconds: float | None = None) -> None:
        """`name` makes a keyed hash of the parts of a name, the same in all processes. Connects when it is
        first used. `seconds` is how long a command may take (default: SECONDS). SettingsInvalid for a URL
        that cannot be read."""
        self._seconds = SECONDS if seconds is None else seconds
        try:
            pool = cast(Any, BlockingConnectionPool).from_url(
                url,
                max_connections=CONNECTIONS,
                timeout=self._seconds,
                socket_timeout=None,  # `_run` limits the time of the whole command
                socket_connect_timeout=None,
                retry=Retry(NoBackoff(), 0),
                protocol=2,
                client_name="gieok",
            )
        except ValueError as error:
            raise SettingsInvalid(f"cache_url cannot be read: {error}") from None
        self._redis = cast(Any, Redis(connection_pool=pool))
        self._pool = pool
        self._save_values = self._redis.register_script(_SAVE_VALUES)
        self._take_tokens = self._redis.register_script(_TAKE_TOKENS)
        self._name = name
        self._probe: asyncio.Task[None] | None = None
        self._writes: set[asyncio.Task[object]] = set()

    @property
    def is_up(self) -> bool:
        """Whether commands are sent. False from the first error to the next answer."""
        return self._probe is None

    async def values(self, owner: str, names: Sequence[tuple[str, str]]) -> Sequence[bytes | None]:
        """The sealed values of these names; None for each that is not there, or not in time."""
        key, fields = self._values(owner), [self._field(owner, name) for name in names]
        found: object = await self._run(lambda: self._redis.hmget(key, fields))
        if not isinstance(found, list):
            return [None] * len(fields)
        return [each if isinstance(each, bytes) else None for each in cast("list[object]", found)]

    def save(self, owner: str, values: Mapping[tuple[str, str], bytes]) -> None:
        """Write values in the background, replacing earlier ones of the same names."""
        if not self.is_up or len(self._writes) >= PENDING:
            return
        key, arguments = self._values(owner), [VALUE_SECONDS, VALUES_PER_OWNER]
        for name, sealed in values.items():
            arguments += [self._field(owner, name), sealed]
        write = asyncio.create_task(self._run(lambda: self._save_values(keys=[key], args=arguments)))
        self._writes.add(write)
        write.add_done_callback(self._writes.discard)

    async def take(self, owner: str, wanted: int, per_second: float, burst: int) -> tuple[int, float] | None:
        """Take up to `wanted` tokens from the owner's bucket: `burst` tokens, refilled at `per_second`.

        Returns how many were granted, and the seconds until there is another one; None if the server does not
        answer in time, or not as it should.
        """
        key, arguments = self._rate(owner), [wanted, per_second, burst]
        found: Any = await self._run(lambda: self._take_tokens(keys=[key], args=arguments))
        try:
            granted, left = int(found[0]), float(found[1])
        except (TypeError, ValueError, IndexError, KeyError):
            return None
        if not 0 <= granted <= wanted or not 0 <= left <= burst:
            return None
        return granted, max(0.0, 1 - left) / per_second

    async def forget(self, owner: str) -> None:
        """Delete every key of an owner. Those of an erased owner cannot be read in any case."""
        await asyncio.gather(*self._writes)
        await self._run(lambda: self._redis.unlink(self._values(owner), self._rate(owner)))

    async def status(self) -> CacheStatus:
        """The state of the server."""
        try:
            async with asyncio.timeout(20 * self._seconds):
                await self._redis.ping()
                started = perf_counter()
                await self._redis.ping()
                milliseconds = (perf_counter() - started) * 1000
                info = cast("dict[str, Any]", await self._redis.info())
                keys = await self._redis.dbsize()
        except TimeoutError:
            return CacheStatus("no answer in time")
        except (RedisError, OSError) as error:
            return CacheStatus(type(error).__name__)
        return CacheStatus(
            version=str(info.get("redis_version", "")),
            milliseconds=milliseconds,
            used_bytes=int(info.get("used_memory", 0)),
            max_bytes=int(info.get("maxmemory", 0)),
            policy=str(info.get("maxmemory_policy", "")),
            keys=int(keys),
        )

    async def close(self) -> None:
        """Finish the writes, which takes no longer than one command may, and close the connections."""
        await asyncio.gather(*self._writes)
        if self._probe is not None:
            self._probe.cancel()
            with suppress(asyncio.CancelledError):
                await self._probe
        with suppress(RedisError, OSError):
            await self._pool.disconnect()

    def _values(self, owner: str) -> str:
        return f"gieok:values:{self._name('owner', owner)}"

    def _field(self, owner: str, name: tuple[str, str]) -> str:
        kind, identity = name
        return self._name(kind, owner, identity)

    def _rate(self, owner: str) -> str:
        return f"gieok:rate:{self._name('owner', owner)}"

    async def _run(self, command: Callable[[], Awaitable[T]]) -> T | None:
        """The answer of the server; None after an error, or while the server is down."""
        if not self.is_up:
            return None
        try:
            async with asyncio.timeout(self._seconds):
                return await command()
        except (TimeoutError, TimedOut, ConnectionFailed, OSError) as error:
            self._go_down(error)
        except RedisError:  # for example: out of memory, a key of another type, a read-only replica
            pass
        return None

    def _go_down(self, error: Exception) -> None:
        if self._probe is None:
            _log.warning("the cache does not answer (%s) and is not used until it does", type(error).__name__)
            self._probe = asyncio.create_task(self._wait_until_up())

    async def _wait_until_up(self) -> None:
        while True:
            await asyncio.sleep(PROBE_SECONDS)
            with suppress(TimeoutError, RedisError, OSError):
                async with asyncio.timeout(self._seconds):
                    await self._redis.ping()
                break
        _log.info("the cache answers again")
        self._probe = None
