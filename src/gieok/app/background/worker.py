"""The worker: claims due jobs of any owner and runs them. Any number of workers may run at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from gieok.adapters.sql.stores.jobs import claim_due
from gieok.app.background.discovery import ERASURES_SECONDS, Discovery
from gieok.app.background.jobs import LEASE, run_job, runnable_kinds
from gieok.errors import GieokError
from gieok.memory.jobs.records import ClaimedJob, JobKind

if TYPE_CHECKING:
    from gieok.app import Gieok

_log = logging.getLogger(__name__)

JOBS_AT_ONCE = 4
IDLE_SECONDS = 1.0
RECENT_OWNERS = 100
"""How many owners a worker remembers to have served, so that others come first."""


CLOSE_SECONDS = 10.0
"""How long closing waits for background work."""


class Background:
    """The background work of an open Gieok: a worker in a task of its own."""

    def __init__(self, gieok: Gieok) -> None:
        self._worker = Worker(gieok)
        self._stop = asyncio.Event()
        self._task = asyncio.create_task(self._worker.run(self._stop))

    async def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Finish running jobs and what is due, for at most `seconds`. Cancels what is left."""
        self._stop.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.wait([self._task])
                await self._worker.finish()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


class Worker:
    """Runs the jobs of an open Gieok, whose clock says what is due."""

    def __init__(
        self,
        gieok: Gieok,
        *,
        jobs_at_once: int = JOBS_AT_ONCE,
        idle_seconds: float = IDLE_SECONDS,
        erasures_seconds: float = ERASURES_SECONDS,
        on_job: Callable[[JobKind, bool], None] | None = None,
    ) -> None:
        """`on_job` is called after each job with its kind and whether it succeeded."""
        self._gieok = gieok
        self._jobs_at_once = jobs_at_once
        self._idle_seconds = idle_seconds
        self._on_job = on_job
        self._recent: dict[str, None] = {}
        self._discovery = Discovery(gieok, erasures_seconds=erasures_seconds)

    async def run_once(self, now: datetime) -> int:
        """Claim some of the jobs that are due and run them. Returns how many; 0 if there is nothing to do.

        Looks for work that no request queues only if fewer jobs are due than can run at once.
        """
        kinds = await runnable_kinds(self._gieok)
        claimed = await self._claim(now, kinds, self._jobs_at_once)
        discovered: list[ClaimedJob] = []
        async with asyncio.TaskGroup() as group:
            for each in claimed:
                group.create_task(self._run_job(each))
            if free := self._jobs_at_once - len(claimed):
                discovered = await self._discover(now, kinds, free)
            for each in discovered:
                group.create_task(self._run_job(each))
        return len(claimed) + len(discovered)

    async def run(self, stop: asyncio.Event) -> None:
        """Run jobs until `stop` is set, then finish the running ones. Wait while the store is unavailable."""
        while not stop.is_set():
            self._gieok.job_queued.clear()
            try:
                count = await self.run_once(self._gieok.engine.clock())
            except GieokError as error:
                _log.warning("no jobs can be claimed now: %s", error)
                count = 0
            if not count:
                await self._wait(stop)

    async def finish(self) -> None:
        """Run the jobs that are due, until there are none or the store is unavailable."""
        with suppress(GieokError):
            while await self.run_once(self._gieok.engine.clock()):
                pass

    async def _wait(self, stop: asyncio.Event) -> None:
        """Wait for a stop, for a job that this process queues, or for the next look at the queue."""
        queued = self._gieok.job_queued
        waiting = [asyncio.ensure_future(event.wait()) for event in (stop, queued)]
        try:
            await asyncio.wait(waiting, timeout=self._idle_seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting:
                each.cancel()

    async def _claim(self, now: datetime, kinds: Sequence[JobKind], limit: int) -> list[ClaimedJob]:
        recent = tuple(self._recent)
        claimed = await self._gieok.database.system(
            lambda tx: claim_due(tx, now, now + LEASE, kinds, limit, recent)
        )
        for each in claimed:
            self._recent.pop(each.owner, None)
            self._recent[each.owner] = None
        while len(self._recent) > RECENT_OWNERS:
            del self._recent[next(iter(self._recent))]
        return claimed

    async def _discover(self, now: datetime, kinds: Sequence[JobKind], limit: int) -> list[ClaimedJob]:
        """Queue and claim discovered work. A failure here does not stop the jobs that run already."""
        try:
            added = await self._discovery.enqueue(now, kinds, limit)
            return await self._claim(now, kinds, limit) if added else []
        except GieokError as error:
            _log.warning("no work can be discovered now: %s", error)
            return []

    async def _run_job(self, claimed: ClaimedJob) -> None:
        succeeded = await run_job(self._gieok, claimed)
        if self._on_job:
            self._on_job(claimed.job.kind, succeeded)
