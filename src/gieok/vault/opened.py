"""What was opened lately, in clear: a conversation brings the same memories to mind turn after turn.

A value that is made of many others says so by a `weight`; any other counts as one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar, cast

T = TypeVar("T")


class Opened:
    """A bounded weight of values, of all owners together. Where there is no more room, everything goes of the
    owner for whom nothing was opened or looked up by name for longest."""

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
            self.count += _weight(value) - (_weight(kept[key]) if key in kept else 0)
            kept[key] = value
            while self.count > self._limit:
                self._clear(next(iter(self._shelves)))

    def used(self, shelf: Shelf) -> None:
        """Something on the shelf is of use again."""
        with self._lock:
            if shelf in self._shelves:
                self._shelves.move_to_end(shelf)

    def close(self, shelf: Shelf) -> None:
        """Clear a shelf for good."""
        with self._lock:
            shelf.is_closed = True
            if shelf in self._shelves:
                self._clear(shelf)

    def _clear(self, shelf: Shelf) -> None:
        values = self._shelves.pop(shelf)
        self.count -= sum(map(_weight, values.values()))
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

    def find(self, name: Hashable) -> Any:
        """What is kept under a name; None where nothing is."""
        found = self.values.get(name)
        if found is not None:
            self._opened.used(self)
        return found

    def keep(self, name: Hashable, value: object) -> None:
        """Keep a value under a name, in the place of the one before."""
        self._opened.keep(self, name, value)

    def close(self) -> None:
        """Keep nothing any more."""
        self._opened.close(self)


def _weight(value: object) -> int:
    return getattr(value, "weight", 1)
