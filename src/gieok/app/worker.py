"""The worker: finds what is due, for any owner, and does it. Any number of them may run at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from time import monotonic

from gieok.adapters.sql.lifecycle.owners import erase_owner
from gieok.adapters.sql.stores.jobs import claim_due
from gieok.app import Gieok
from gieok.app.embedding import claim_personas, embed_claimed
from gieok.app.jobs import LEASE, run_job
from gieok.app.reindex import Reindexing
from gieok.errors import GieokError
from gieok.memory.jobs.records import ClaimedJob, JobKind

_log = logging.getLogger(__name__)

JOBS_AT_ONCE = 4
IDLE_SECONDS = 1.0
ERASURES_SECONDS = 60.0
"""How often to look for erasures that another process left half done."""


class Worker:
    """Does jobs on an open Gieok, whose clock decides what is due, and gives memories their vectors."""

    def __init__(
        self,
        gieok: Gieok,
        *,
        jobs_at_once: int = JOBS_AT_ONCE,
        idle_seconds: float = IDLE_SECONDS,
        erasures_seconds: float = ERASURES_SECONDS,
        on_job: Callable[[JobKind, bool], None] | None = None,
    ) -> None:
        """`on_job` hears of each job that was taken up: its kind, and whether it went well."""
        self._gieok = gieok
        self._jobs_at_once = jobs_at_once
        self._idle_seconds = idle_seconds
        self._erasures_seconds = erasures_seconds
        self._on_job = on_job
        self._reindexing = Reindexing(gieok.database, gieok.vault)
        self._unfinished: set[str] = set()
        self._looked_at = monotonic()

    async def run_once(self, now: datetime) -> int:
        """Take up some of what is due at this time and do it. Returns how much; 0 is nothing to do."""
        claimed = await self._gieok.database.system(
            lambda tx: claim_due(tx, now, now + LEASE, self._jobs_at_once)
        )
        to_embed = await claim_personas(self._gieok, now, self._jobs_at_once)
        async with asyncio.TaskGroup() as group:
            for each in claimed:
                group.create_task(self._do(each))
            for owner, persona_id in to_embed:
                group.create_task(embed_claimed(self._gieok, owner, persona_id))
        return len(claimed) + len(to_embed)

    async def run(self, stop: asyncio.Event) -> None:
        """Work until told to stop, then finish what is under way. While that is not possible, it waits."""
        while not stop.is_set():
            try:
                await self._finish_erasures()
                done = await self.run_once(self._gieok.engine.clock()) or await self._reindexing.run_once()
            except GieokError as away:
                _log.warning("no work can be taken up now: %s", away)
                done = 0
            if not done:
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), self._idle_seconds)

    async def _do(self, claimed: ClaimedJob) -> None:
        result = await run_job(self._gieok, claimed)
        if self._on_job:
            self._on_job(claimed.job.kind, result is not None)

    async def _finish_erasures(self) -> None:
        """Finish erasures that were unfinished the last time too: whoever began them has died."""
        if monotonic() - self._looked_at < self._erasures_seconds:
            return
        self._looked_at = monotonic()
        database, vault = self._gieok.database, self._gieok.vault
        unfinished = set(await asyncio.to_thread(vault.unfinished_erasures))
        for owner in unfinished & self._unfinished:
            await erase_owner(database, vault, owner)
        self._unfinished = unfinished
