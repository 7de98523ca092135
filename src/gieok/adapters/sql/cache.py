"""Caches of one process: one of decrypted values, one of search indexes, which hold tokens instead of words.

Both are bounded in bytes. Sizes are estimates that the caller gives: exact sizes of Python objects would cost
more than they are worth. An owner's entries are cleared together with the owner's keys.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple

VALUES_BYTES = 64 * 2**20
INDEXES_BYTES = 256 * 2**20
OWNER_BYTES = 500
"""Estimated size of an owner without entries."""


class DecryptedCache:
    """LRU cache of decrypted data, shared by all owners and bounded in bytes. Evicts whole owners, least
    recently used first."""

    def __init__(self, limit_bytes: int) -> None:
        self.bytes = 0
        """Estimated size of all entries."""
        self._limit = limit_bytes
        self._lock = Lock()
        self._owners: OrderedDict[str, OwnerCache] = OrderedDict()

    def of(self, owner: str) -> OwnerCache:
        """The owner's entries, now the most recently used ones. Call it once per transaction, before loading
        keys: if the keys are dropped after that, the transaction caches nothing more."""
        with self._lock:
            entries = self._owners.get(owner)
            if entries is None:
                entries = self._owners[owner] = OwnerCache(self)
                self.bytes += OWNER_BYTES
            self._owners.move_to_end(owner)
            self._evict()
            return entries

    def clear(self, owner: str) -> None:
        """Remove the owner's entries. Transactions that still hold them cache nothing more."""
        with self._lock:
            if owner in self._owners:
                self._remove(owner)

    def put(self, entries: OwnerCache, key: Hashable, value: object, size: int) -> None:
        """Add an entry for one owner and evict others if necessary. Does nothing once `entries` is
        cleared."""
        with self._lock:
            if entries.is_cleared:
                return
            _, replaced = entries.values.get(key, (None, 0))
            entries.values[key] = value, size
            self.bytes += size - replaced
            self._evict()

    def _evict(self) -> None:
        while self.bytes > self._limit:
            self._remove(next(iter(self._owners)))

    def _remove(self, owner: str) -> None:
        entries = self._owners.pop(owner)
        self.bytes -= OWNER_BYTES + sum(size for _, size in entries.values.values())
        entries.is_cleared = True
        entries.values.clear()


class OwnerCache:
    """The entries of one owner in a `DecryptedCache`."""

    __slots__ = ("_cache", "is_cleared", "values")

    def __init__(self, cache: DecryptedCache) -> None:
        self._cache = cache
        self.is_cleared = False
        self.values: dict[Hashable, tuple[Any, int]] = {}

    def get(self, key: Hashable) -> Any:
        """The value; None if it is not cached."""
        found = self.values.get(key)
        return None if found is None else found[0]

    def put(self, key: Hashable, value: object, size: int) -> None:
        """Cache a value of about `size` bytes, replacing the one under the same key."""
        self._cache.put(self, key, value, size)


class OwnerCaches(NamedTuple):
    """Both caches of one owner, for one transaction."""

    values: OwnerCache
    indexes: OwnerCache


@dataclass(frozen=True, slots=True)
class Caches:
    """The caches of an open database. Register `clear` with `Vault.on_keys_removed`."""

    values: DecryptedCache
    indexes: DecryptedCache

    @classmethod
    def create(cls, values_bytes: int = VALUES_BYTES, indexes_bytes: int = INDEXES_BYTES) -> Caches:
        return cls(DecryptedCache(values_bytes), DecryptedCache(indexes_bytes))

    @property
    def bytes(self) -> int:
        """Estimated size of everything that this process holds in clear."""
        return self.values.bytes + self.indexes.bytes

    def of(self, owner: str) -> OwnerCaches:
        """The owner's part of both. See `DecryptedCache.of`."""
        return OwnerCaches(self.values.of(owner), self.indexes.of(owner))

    def clear(self, owner: str) -> None:
        """Remove everything of an owner."""
        self.values.clear(owner)
        self.indexes.clear(owner)


UNCACHED = Caches.create(0, 0).of("")
"""Caches nothing."""
