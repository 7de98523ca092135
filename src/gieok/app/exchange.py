"""The facade of decisions that come from elsewhere and go elsewhere: `user.exchange`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gieok.adapters.sql.scope import SqlRooms
from gieok.app.cycles import Cycles
from gieok.app.decisions import known_domain
from gieok.errors import InputRefused
from gieok.memory.decisions.exchange import MAX_ENTRIES, DecisionEntry, EntryResult, take_out
from gieok.memory.decisions.records import DecisionPosition
from gieok.memory.decisions.rules import position_of
from gieok.memory.decisions.steps_exchange import ImportDecisions

IMPORT_PLAN = "import_decisions"
PAGE = 500


class DecisionExchange:
    """One owner's decisions, as a folder of records has them."""

    def __init__(self, cycles: Cycles) -> None:
        self._cycles = cycles
        self._scope = cycles.scope

    async def bring_in(self, entries: Sequence[DecisionEntry]) -> Sequence[EntryResult]:
        """Make the stored decisions what the entries say: all of it or nothing, and nothing twice.

        Durable when it returns. NotFound for a relation or evidence that leads nowhere, Conflict where
        someone else changed one of the decisions at the same moment.
        """
        if not entries:
            return ()
        if len(entries) > MAX_ENTRIES:
            raise InputRefused(f"one import brings at most {MAX_ENTRIES} decisions", at="entries")
        return await self._cycles.commit(IMPORT_PLAN, ImportDecisions, {"entries": tuple(entries)})

    async def take_out(
        self, keep: Callable[[Sequence[DecisionEntry]], None], *, domain: str | None = None
    ) -> None:
        """Hand every active decision to `keep`, page by page, all from one consistent view.

        `keep` runs on a database thread. `domain` leaves out global decisions and those of other domains.
        """
        name = known_domain(domain)
        await self._scope.read(lambda rooms: _take_out(rooms, keep, name))


def _take_out(rooms: SqlRooms, keep: Callable[[Sequence[DecisionEntry]], None], domain: str | None) -> None:
    after: DecisionPosition | None = None
    while page := rooms.decisions.list(scope=None, domain=domain, strength=None, after=after, limit=PAGE):
        keep(take_out(rooms, page))
        after = position_of(page[-1])
