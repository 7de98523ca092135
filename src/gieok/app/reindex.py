"""Search indexes made anew after a change of the analyzer: in the background, owner by owner, in small parts.

Words are found as they were cut when they were stored. Until this is done, what an older analyzer indexed
may be missed under terms that only the new one makes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from gieok.adapters.sql.driver.database import Database
from gieok.adapters.sql.lifecycle.owners import owners_after
from gieok.adapters.sql.scope import OwnerScope, SqlView
from gieok.app.opening import ANALYZER
from gieok.errors import GieokError, OwnerErased, StoreUnavailable
from gieok.text import ANALYZER_VERSION
from gieok.vault import Vault

_log = logging.getLogger(__name__)

BATCH = 100
"""How many rows are indexed anew in one transaction: few, because writers wait for it."""


class Reindexing:
    """One walk through all owners. Several at once, and one that was cut off, do no harm and lose nothing:
    each part and the place where the next one begins are one commit."""

    def __init__(
        self, database: Database, vault: Vault, *, analyzer: str = str(ANALYZER_VERSION), batch: int = BATCH
    ) -> None:
        self._database = database
        self._vault = vault
        self._analyzer = analyzer
        self._batch = batch
        self._owners: list[str] | None = None
        self._last = ""
        self._failed = 0
        self._is_over = False

    async def run_once(self) -> bool:
        """Do a small part of what is left. False where nothing is.

        An owner whose rows are damaged does not stop the others; then the next start tries again.
        """
        if self._is_over or not await self._is_needed():
            self._is_over = True
            return False
        if not self._owners and not await self._next_owners():
            await self._finish()
            return False
        await self._advance()
        return True

    async def _is_needed(self) -> bool:
        """Asked once: only opening with another analyzer makes it needed."""
        return self._owners is not None or await self._database.get_meta(ANALYZER) != self._analyzer

    async def _next_owners(self) -> bool:
        self._owners = await self._database.system_read(owners_after(self._last))
        return bool(self._owners)

    async def _advance(self) -> None:
        assert self._owners  # noqa: S101  run_once has looked
        owner = self._owners[0]
        scope = OwnerScope(self._database, self._vault, owner)
        try:
            is_more = await scope.write(_part(self._analyzer, self._batch))
        except StoreUnavailable:
            raise
        except GieokError as error:
            is_more = False
            if not isinstance(error, OwnerErased):
                self._failed += 1
                _log.warning("the search indexes of an owner stay as they are: %s", error.code)
        if not is_more:
            self._last = self._owners.pop(0)

    async def _finish(self) -> None:
        self._is_over = True
        if self._failed:
            _log.warning(
                "the search indexes of %d owners could not be made anew; the next start tries again",
                self._failed,
            )
            return
        await self._database.set_meta(ANALYZER, self._analyzer)
        _log.info("every search index is made by analyzer %s now", self._analyzer)


def _part(analyzer: str, limit: int) -> Callable[[SqlView], bool]:
    """Make the next rows of an owner anew. It returns False where all of them are."""

    def make(rooms: SqlView) -> bool:
        for name, reindex in rooms.reindexes.items():
            after = rooms.search_indexes.hold(name, analyzer)
            if after is not None:
                rooms.search_indexes.move(name, analyzer, reindex(after, limit))
                return True
        return False

    return make
