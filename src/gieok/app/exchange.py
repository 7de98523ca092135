"""The facade for import and export of decisions: `user.exchange`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gieok.app.cycles import Cycles
from gieok.app.decisions import checked_domain
from gieok.errors import InputRefused
from gieok.memory.decisions.exchange import (
    MAX_ENTRIES,
    DecisionEntry,
    EntryResult,
    ImportDecisions,
    export_entries,
)
from gieok.memory.decisions.records import DecisionPosition
from gieok.memory.decisions.rules import position_of
from gieok.memory.decisions.store import DecisionView

IMPORT_PLAN = "import_decisions"
PAGE = 500


class DecisionExchange:
    """One owner's decisions, as a folder of records holds them."""

    def __init__(self, cycles: Cycles) -> None:
        self._cycles = cycles
        self._scope = cycles.scope

    async def import_entries(self, entries: Sequence[DecisionEntry]) -> Sequence[EntryResult]:
        """Save what differs from the stored decisions: all of it or nothing. Idempotent.

        Durable when it returns. NotFound for a relation or evidence that does not exist, Conflict where
        someone else changed one of the decisions at the same time.
        """
        if not entries:
            return ()
        if len(entries) > MAX_ENTRIES:
            raise InputRefused(f"one import may have at most {MAX_ENTRIES} decisions", at="entries")
        imported = await self._cycles.output(IMPORT_PLAN, ImportDecisions, {"entries": tuple(entries)})
        return imported.results

    async def export_entries(
        self, write: Callable[[Sequence[DecisionEntry]], None], *, domain: str | None = None
    ) -> None:
        """Pass every active decision to `write`, page by page, from one consistent snapshot.

        `write` runs on a database thread. `domain` leaves out global decisions and those of other domains.
        """
        name = checked_domain(domain)

        def export(view: DecisionView) -> None:
            after: DecisionPosition | None = None
            while page := view.decisions.list(
                scope=None, domain=name, strength=None, after=after, limit=PAGE
            ):
                write(export_entries(view, page))
                after = position_of(page[-1])

        await self._scope.read(export, heavy=True)
