"""The facade of decisions that come from elsewhere and go elsewhere: `user.exchange`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from gieok.adapters.sql.scope import OwnerScope, SqlRooms
from gieok.engine import CycleResult, ExecutionPlan
from gieok.errors import InputRefused
from gieok.memory.decisions.domain import normal_domain
from gieok.memory.decisions.exchange import MAX_ENTRIES, DecisionEntry, EntryResult, take_out
from gieok.memory.decisions.records import DecisionPosition
from gieok.memory.decisions.rules import position_of

IMPORT_PLAN = "import_decisions"
PAGE = 500


class DecisionExchange:
    """One owner's decisions, as a folder of records has them."""

    def __init__(
        self,
        scope: OwnerScope,
        run: Callable[[str | ExecutionPlan, Mapping[str, Any]], Awaitable[CycleResult]],
    ) -> None:
        self._scope = scope
        self._run = run

    async def bring_in(self, entries: Sequence[DecisionEntry]) -> Sequence[EntryResult]:
        """Make the stored decisions what the entries say: all of it or nothing, and nothing twice.

        Durable when it returns. NotFound for a relation or evidence that leads nowhere, Conflict where
        someone else changed one of the decisions at the same moment.
        """
        if not entries:
            return ()
        if len(entries) > MAX_ENTRIES:
            raise InputRefused(f"one import brings at most {MAX_ENTRIES} decisions", at="entries")
        result = await self._run(IMPORT_PLAN, {"entries": tuple(entries)})
        return result.committed["import"][0]

    async def take_out(
        self, keep: Callable[[Sequence[DecisionEntry]], None], *, domain: str | None = None
    ) -> None:
        """Hand every active decision to `keep`, page by page, all from one consistent view.

        `keep` runs on a database thread. `domain` leaves out global decisions and those of other domains.
        """
        name = _domain(domain)
        await self._scope.read(lambda rooms: _take_out(rooms, keep, name))


def _take_out(rooms: SqlRooms, keep: Callable[[Sequence[DecisionEntry]], None], domain: str | None) -> None:
    after: DecisionPosition | None = None
    while page := rooms.decisions.list(scope=None, domain=domain, strength=None, after=after, limit=PAGE):
        keep(take_out(rooms, page))
        after = position_of(page[-1])


def _domain(name: str | None) -> str | None:
    try:
        return None if name is None else normal_domain(name)
    except ValueError as error:
        raise InputRefused(str(error), at="domain") from None
