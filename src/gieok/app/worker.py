"""The worker: finds what is due, for any owner, and does it. Any number of them may run at once."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import datetime

from gieok.adapters.sql.jobs import claim_due
from gieok.app import Gieok
from gieok.app.jobs import LEASE, run_job
from gieok.errors import StoreUnavailable

_log = logging.getLogger(__name__)

JOBS_AT_ONCE = 4
IDLE_SECONDS = 1.0


class Worker:
    """Does jobs on an open Gieok, whose clock decides what is due."""

    def __init__(
        self,
        gieok: Gieok,
        *,
        jobs_at_once: int = JOBS_AT_ONCE,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._gieok = gieok
        self._jobs_at_once = jobs_at_once
        self._idle_seconds = idle_seconds

    async def run_once(self, now: datetime) -> int:
        """Take up some of what is due at this time and do it. Returns how many jobs; 0 is nothing to do."""
        claimed = await self._gieok.database.system(
            lambda tx: claim_due(tx, now, now + LEASE, self._jobs_at_once)
        )
        async with asyncio.TaskGroup() as group:
            for each in claimed:
                group.create_task(run_job(self._gieok, each))
        return len(claimed)

    async def run(self, stop: asyncio.Event) -> None:
        """Work until told to stop, then finish what is under way. While the database is away, it waits."""
        while not stop.is_set():
            try:
                done = await self.run_once(self._gieok.engine.clock())
            except StoreUnavailable as away:
                _log.warning("no work can be taken up now: %s", away)
                done = 0
            if not done:
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), self._idle_seconds)
