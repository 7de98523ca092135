"""The keys of the owners that were used last."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from gieok.vault.keys import OwnerKeys


class KeyCache:
    """Bounded and thread-safe. Keys that were dropped while someone loaded them do not come back. What was
    opened with keys goes when they go."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = Lock()
        self._kept: OrderedDict[str, OwnerKeys] = OrderedDict()
        self._drops = 0

    @property
    def drops(self) -> int:
        """Note it before loading keys, and give it to `put`."""
        return self._drops

    def get(self, owner: str) -> OwnerKeys | None:
        with self._lock:
            keys = self._kept.get(owner)
            if keys is not None:
                self._kept.move_to_end(owner)
            return keys

    def put(self, keys: OwnerKeys, drops: int) -> None:
        """Keep `keys`, unless something was dropped since `drops` was noted: they may be stale by now."""
        with self._lock:
            if drops != self._drops:
                keys.let_go()
                return
            self._remove(keys.owner)
            self._kept[keys.owner] = keys
            if len(self._kept) > self._limit:
                self._remove(next(iter(self._kept)))

    def drop(self, owner: str) -> None:
        with self._lock:
            self._drops += 1
            self._remove(owner)

    def _remove(self, owner: str) -> None:
        removed = self._kept.pop(owner, None)
        if removed is not None:
            removed.let_go()
