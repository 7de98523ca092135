"""Where a cycle reads and writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Scope(Protocol):
    """One owner's data, as the engine sees it: a read transaction and a write transaction.

    `work` gets a view of the stores that is valid until it returns.
    """

    async def read(self, work: Callable[[Any], T], *, heavy: bool = False) -> T:
        """Run `work` on one consistent snapshot. `heavy` work must not run on the event loop's thread."""
        ...

    async def write(self, work: Callable[[Any], T]) -> T:
        """Run `work` in one transaction and return when it is durable. If it raises, nothing is stored."""
        ...
