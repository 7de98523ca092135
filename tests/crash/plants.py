"""Bugs to plant in a writer. A harness that does not catch them proves nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gieok.adapters.sql.driver.database import Session, Tx, Value
from gieok.adapters.sql.driver.thread_pool import WorkItem
from gieok.adapters.sql.scope import OwnerScope
from gieok.engine import cycle
from gieok.engine.registry import CheckedStep

# pyright: reportPrivateUsage=false
# A bug may be planted anywhere.


def split_cycle() -> None:
    """Each write of a cycle in a transaction of its own."""
    commit_all = cycle._Cycle._commit

    async def commit(self: cycle._Cycle, steps: Sequence[CheckedStep]) -> None:
        for step in steps:
            await commit_all(self, [step])

    cycle._Cycle._commit = commit


def split_memory() -> None:
    """A memory in one transaction, and the postings that find it in the next."""
    late: list[tuple[str, Sequence[Mapping[str, Value]]]] = []
    run_now, write_all = Tx.run_many, OwnerScope.write

    def run_later(self: Tx, query: str, rows: Sequence[Mapping[str, Value]]) -> None:
        late.append((query, rows))

    def catch_up(tx: Tx) -> None:
        while late:
            run_now(tx, *late.pop())

    async def write(self: OwnerScope, work: Callable[..., Any], *, heavy: bool = False) -> Any:
        result = await write_all(self, work, heavy=heavy)
        await self._database.write(self.owner, catch_up)
        return result

    Tx.run_many = run_later
    OwnerScope.write = write


def answer_early() -> None:
    """The caller has the answer while the commit is still on its way."""
    run_item = WorkItem[Any].run

    def run(self: WorkItem[Any], session: Session) -> None:
        run_item(self, session)
        if self.writes:
            self.loop.call_soon_threadsafe(self.wake_caller)
            time.sleep(0.005)

    WorkItem.run = run


PLANTS: Mapping[str, Callable[[], None]] = {
    plant.__name__: plant for plant in (split_cycle, split_memory, answer_early)
}
