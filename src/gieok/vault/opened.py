"""What was opened lately, in clear: a conversation brings the same memories to mind turn after turn."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar, cast

T = TypeVar("T")


class Opened:
    """A bounded number of values, of all owners together. Where there is no more room, everything goes of the
    owner for whom nothing was opened for longest."""

    def __init__(self, limit: int) -> None:
        self.count = 0
        self._limit = limit
        self._lock = Lock()
        self._shelves: OrderedDict[Shelf, dict[Hashable, Any]] = OrderedDict()

    def keep(self, shelf: Shelf, key: Hashable, value: object) -> None:
        """Keep a value on a shelf, unless that was cleared for good meanwhile."""
        with self._lock:
            if shelf.is_closed:
                return
            kept = self._shelves.setdefault(shelf, shelf.values)
            self._shelves.move_to_end(shelf)
            self.count += key not in kept
            kept[key] = value
            while self.count > self._limit:
                self._clear(next(iter(self._shelves)))

    def close(self, shelf: Shelf) -> None:
        """Clear a shelf for good."""
        with self._lock:
            shelf.is_closed = True
            if shelf in self._shelves:
                self._clear(shelf)

    def _clear(self, shelf: Shelf) -> None:
        values = self._shelves.pop(shelf)
        self.count -= len(values)
        values.clear()


class Shelf:
    """What was opened with one owner's keys, for as long as these are held."""

    __slots__ = ("_opened", "is_closed", "values")

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self.is_closed = False
        self.values: dict[Hashable, Any] = {}

    def once(self, sealed: Hashable, open_it: Callable[[], T]) -> T:
        """What `open_it` gives, or gave before for the same `sealed`: everything that it depends on."""
        found = self.values.get(sealed)
        if found is None:
            found = open_it()
            self._opened.keep(self, sealed, found)
        return cast(T, found)

    def close(self) -> None:
        """Keep nothing any more."""
        self._opened.close(self)
