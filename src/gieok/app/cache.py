"""The cache that the processes of a service share. Optional, and never trusted: see docs/howto/cache.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from gieok.adapters.sql.stores.cached import CacheName
from gieok.errors import SettingsInvalid
from gieok.settings import Settings
from gieok.vault import Vault

if TYPE_CHECKING:
    from gieok.adapters.redis.cache import CacheStatus, RedisCache


class SharedBuckets(Protocol):
    """Token buckets of owners, for rate limits."""

    async def take(self, owner: str, wanted: int, per_second: float, burst: int) -> tuple[int, float] | None:
        """Take up to `wanted` tokens from the owner's bucket. Returns how many were granted and the seconds
        until there is another one; None if this is not known."""
        ...


class SharedCache(SharedBuckets, Protocol):
    """What Gieok uses of it. No call raises an error, and none takes long: a server that does not answer
    counts as empty."""

    async def values(self, owner: str, names: Sequence[CacheName]) -> Sequence[bytes | None]:
        """The sealed values of these names, each None if it is not there."""
        ...

    def save(self, owner: str, values: Mapping[CacheName, bytes]) -> None:
        """Write sealed values in the background."""
        ...

    async def forget(self, owner: str) -> None:
        """Delete everything of an owner."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


def open_cache(settings: Settings, vault: Vault) -> SharedCache | None:
    """The cache of the settings; None if there is none. It connects when it is first used.

    SettingsInvalid if the library is missing, or the URL cannot be read.
    """
    return None if settings.cache_url is None else _open(settings.cache_url, vault.cache_name)


async def cache_status(url: str) -> CacheStatus:
    """The state of a cache. SettingsInvalid as in `open_cache`."""
    cache = _open(url, lambda *_: "")
    try:
        return await cache.status()
    finally:
        await cache.close()


def _open(url: str, name: Callable[..., str]) -> RedisCache:
    try:
        from gieok.adapters.redis.cache import RedisCache  # noqa: PLC0415  an extra, loaded if it is configured
    except ImportError as error:
        raise SettingsInvalid(
            "cache_url needs a library that is not installed: pip install 'gieok[redis]'"
        ) from error
    return RedisCache(url, name)
