"""Bugs to plant in a writer. A harness that does not catch them proves nothing."""

from __future__ import annotations

import asyncio
import random
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

PAUSE_SECONDS = 0.1
"""Longer than the work around it takes, so that most kills fall into it on a slow machine too."""


async def pause() -> None:
    """A time of its own for each task, so that they do not all pause at once."""
    await asyncio.sleep(random.uniform(0.0, 2 * PAUSE_SECONDS))


def split_cycle() -> None:
    """The first write of a cycle in one transaction, and the others in the next."""
    commit_all = cycle._Cycle._commit

    async def commit(self: cycle._Cycle, steps: Sequence[CheckedStep]) -> None:
        scope: Any = self._scope
        after = getattr(scope, "_after", None)
        scope._after = None  # the record of the cycle is stored once
        await commit_all(self, steps[:1])
        scope._after = after
        await pause()
        await commit_all(self, steps[1:])

    cycle._Cycle._commit = commit


def split_memory() -> None:
    """A memory in one transaction, and the terms that find it in the next."""
    late: dict[str, list[Mapping[str, Value]]] = {}
    run_now, write_all = Tx.run, OwnerScope.write

    def run_in_part(self: Tx, query: str, /, *about: Mapping[str, str], **params: Any) -> int:
        if query != "save_turn_memory":
            return run_now(self, query, *about, **params)
        later = {name: params[name] for name in ("id", "terms", "changed")}
        late.setdefault(self.owner, []).append(later)
        return run_now(self, query, **{**params, "terms": params["terms"][:12]})

    def catch_up(tx: Tx) -> None:
        while late.get(tx.owner):
            run_now(tx, "reindex_turn_memory", **late[tx.owner].pop())

    async def write(self: OwnerScope, work: Callable[..., Any], **options: Any) -> Any:
        result = await write_all(self, work, **options)
        await pause()
        await self._database.write(self.owner, catch_up)
        return result

    Tx.run = run_in_part
    OwnerScope.write = write


def answer_early() -> None:
    """The caller has the answer while the commit is still on its way."""
    run_item = WorkItem[Any].run

    def run(self: WorkItem[Any], session: Session) -> None:
        run_item(self, session)
        if self.writes:
            self.loop.call_soon_threadsafe(self.wake_caller)
            time.sleep(PAUSE_SECONDS)

    WorkItem.run = run


PLANTS: Mapping[str, Callable[[], None]] = {
    plant.__name__: plant for plant in (split_cycle, split_memory, answer_early)
}
