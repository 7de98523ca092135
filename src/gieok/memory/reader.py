"""How a step reads: inside one owner, in one consistent view of the database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")


class Reader(Protocol[R_co]):
    """Runs synchronous store code. `R_co` is the rooms that the work may enter."""

    async def read(self, work: Callable[[R_co], T], *, brief: bool = False) -> T:
        """What `work` returns, or the error that it raised.

        On a database thread; `brief` work, which is over within milliseconds, may run on this one.
        """
        ...
