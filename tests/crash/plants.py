"""Bugs to plant in a writer. A harness that does not catch them proves nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gieok.adapters.sql.driver.database import Tx, Value
from gieok.adapters.sql.scope import OwnerScope, SqlRooms
from gieok.engine import Write


def split_cycle() -> None:
    """Each write of a cycle in a transaction of its own."""

    async def commit(self: OwnerScope, writes: Sequence[Write]) -> list[Any]:
        return [await self.write(write) for write in writes]

    OwnerScope.commit = commit


def split_memory() -> None:
    """A memory in one transaction, and the postings that find it in the next."""
    late: list[tuple[str, Sequence[Mapping[str, Value]]]] = []
    at_once = Tx.run_many

    def later(self: Tx, query: str, rows: Sequence[Mapping[str, Value]]) -> None:
        late.append((query, rows))

    def catch_up(tx: Tx) -> None:
        while late:
            at_once(tx, *late.pop())

    async def commit(self: OwnerScope, writes: Sequence[Write]) -> list[Any]:
        def write_all(rooms: SqlRooms) -> list[Any]:
            return [write(rooms) for write in writes]

        results = await self.write(write_all)
        await self._database.write(self.owner, catch_up)  # pyright: ignore[reportPrivateUsage] - a bug may
        return results

    Tx.run_many = later
    OwnerScope.commit = commit


def answer_early() -> None:
    """The caller has the answer while the commit is still on its way."""
    late: set[asyncio.Task[list[Any]]] = set()
    in_time = OwnerScope.commit

    async def commit(self: OwnerScope, writes: Sequence[Write]) -> list[Any]:
        late.add(asyncio.create_task(in_time(self, writes)))
        return [None] * len(writes)

    OwnerScope.commit = commit


PLANTS: Mapping[str, Callable[[], None]] = {
    plant.__name__: plant for plant in (split_cycle, split_memory, answer_early)
}
