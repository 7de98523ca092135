"""Find work that no request queues: missing vectors, indexes of another analyzer, cut-off erasures, old rows.

Discovery only adds jobs; the queue runs them. The ids are fixed, so that workers that find the same work at
once add it once. Retention needs no jobs: it deletes a few rows at a time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from gieok.adapters.sql.driver.database import SystemTx, Tx
from gieok.adapters.sql.lifecycle import owners
from gieok.adapters.sql.lifecycle.owners import mark_erased
from gieok.adapters.sql.lifecycle.retention import RetentionRun
from gieok.adapters.sql.stores.events import SqlEventStore, owners_without, owners_without_delivery
from gieok.adapters.sql.stores.jobs import SqlJobStore, pull_back
from gieok.app.background import jobs
from gieok.app.opening import ANALYZER as ANALYZER_KEY
from gieok.memory.jobs.records import JobDraft, JobKind

if TYPE_CHECKING:
    from gieok.app import Gieok

_log = logging.getLogger(__name__)

ERASURES_SECONDS = 60.0
"""How often to look for erasures that another process left unfinished."""
PULL_BACK = timedelta(minutes=1)
"""How often to look for jobs that a wrong clock has put into the future."""
CONSUMERS_SECONDS = 600.0
"""How often to look for owners whose events a configured consumer does not get yet."""
RETENTION_OWNERS = 20
"""How many owners a look visits to delete what is too old."""
_JOBS = UUID("7f1d1a3c-58a6-4a0e-9d0b-6a2c7c8f0e14")


class Discovery:
    """Adds the jobs of one worker's discoveries. Any number of workers may do so at once."""

    def __init__(self, gieok: Gieok, *, erasures_seconds: float = ERASURES_SECONDS) -> None:
        self._gieok = gieok
        self._database = gieok.database
        self._erasures_seconds = erasures_seconds
        self._erasures_read_at = monotonic()
        self._unfinished_erasures: set[str] = set()
        texts_after = gieok.archive.after if gieok.archive is not None else timedelta(0)
        self._retention = RetentionRun(gieok.database, gieok.vault, gieok.retention, texts_after)
        self._pulled_back_at: datetime | None = None
        self._last_reindexed = ""
        self._is_reindexed = False
        self._consumers_read_at: float | None = None

    async def enqueue(self, now: datetime, kinds: Sequence[JobKind], limit: int) -> int:
        """Add jobs that are due now, of each of these kinds about `limit`. Returns how many.

        Few at a time: jobs run in the order in which they are due, and must not delay what users wait for.
        """
        added = await self._pull_back(now)
        if "erase" in kinds:
            added += await self._enqueue_erasures(now)
        if "embed" in kinds:
            added += await self._enqueue_embedding(now, limit)
        if "reindex" in kinds:
            added += await self._enqueue_reindexing(now, limit)
        if "rotate" in kinds:
            added += await self._enqueue_rotation(now, limit)
        if "deliver" in kinds:
            added += await self._register_consumers(now, limit)
        await self._retention.advance(now, RETENTION_OWNERS)
        return added

    async def _pull_back(self, now: datetime) -> int:
        """Once a minute: jobs that a clock which was ahead has put into the future."""
        if self._pulled_back_at is not None and timedelta(0) <= now - self._pulled_back_at < PULL_BACK:
            return 0
        self._pulled_back_at = now
        return await self._database.system(lambda tx: pull_back(tx, now))

    async def _enqueue_erasures(self, now: datetime) -> int:
        """Only erasures that were unfinished the last time too: the process that began them has died."""
        if monotonic() - self._erasures_read_at < self._erasures_seconds:
            return 0
        self._erasures_read_at = monotonic()
        unfinished = set(await asyncio.to_thread(self._gieok.vault.unfinished_erasures))
        cut_off, self._unfinished_erasures = unfinished & self._unfinished_erasures, unfinished
        for owner in cut_off:
            await self._database.write(owner, _enqueue_erasure(owner, now))
        return len(cut_off)

    async def _enqueue_embedding(self, now: datetime, limit: int) -> int:
        """Personas whose vectors are missing, or are of another embedder than the one in force."""
        assert self._gieok.vector_search is not None  # noqa: S101  otherwise the kind is not runnable
        space = self._gieok.vector_search.space
        rows = await self._database.system_read(
            lambda tx: tx.all("list_personas_without_vectors", space=space, limit=limit)
        )
        return sum([await self._enqueue(owner, "embed", persona, now) for owner, persona in {*rows}])

    async def _enqueue_reindexing(self, now: datetime, limit: int) -> int:
        """Every owner once, if another analyzer made the search indexes. Then the new one is recorded."""
        if self._is_reindexed or await self._database.get_meta(ANALYZER_KEY) == jobs.ANALYZER:
            self._is_reindexed = True
            return 0
        found = await self._database.system_read(_owners_to_reindex(self._last_reindexed, limit))
        if found:
            added = sum([await self._enqueue(owner, "reindex", jobs.ANALYZER, now) for owner in found])
            self._last_reindexed = found[-1]
            return added
        if not await self._database.system_read(
            lambda tx: tx.all("list_unfinished_reindexing", analyzer=jobs.ANALYZER)
        ):
            await self._database.set_meta(ANALYZER_KEY, jobs.ANALYZER)
            self._is_reindexed = True
            _log.info("all search indexes are made by analyzer %s now", jobs.ANALYZER)
        return 0

    async def _enqueue_rotation(self, now: datetime, limit: int) -> int:
        """Owners whose data key has sealed so many values that it must be replaced."""
        used = await self._database.system_read(owners.used_keys(owners.MAX_SEALS, limit))
        return sum(
            [await self._enqueue(owner, "rotate", str(generation), now) for owner, generation, _ in used]
        )

    async def _register_consumers(self, now: datetime, limit: int) -> int:
        """Owners who were stored before a consumer was configured, and owners whose events no job delivers.
        The delivery job backfills a new consumer first."""
        if self._consumers_read_at and monotonic() - self._consumers_read_at < CONSUMERS_SECONDS:
            return 0
        forgotten = await self._database.system_read(owners_without_delivery(limit))
        added = sum([await self._database.write(owner, _queue_deliveries(now)) for owner in forgotten])
        for name in self._gieok.consumers:
            found = await self._database.system_read(owners_without(name, "", limit))
            added += sum([await self._database.write(owner, _register(name, now)) for owner in found])
        if not added:
            self._consumers_read_at = monotonic()
        return added

    async def _enqueue(self, owner: str, kind: JobKind, subject: str, now: datetime) -> bool:
        """Add the job, or queue it again. False for an owner who was erased meanwhile.

        It needs no keys: if they are missing, only this job fails, and is retried.
        """

        def add(tx: Tx) -> bool:
            guard = tx.one("lock_owner")
            if guard is None or guard[1] is not None:
                return False
            SqlJobStore(tx).requeue(_draft(kind, subject, now), now)
            return True

        return await self._database.write(owner, add)


def _draft(kind: JobKind, subject: str, now: datetime) -> JobDraft:
    """One embed job per persona; one job per owner of the other kinds."""
    name = f"embed {subject}" if kind == "embed" else kind
    return JobDraft(id=uuid5(_JOBS, name), kind=kind, subject=subject, due_at=now)


def _enqueue_erasure(owner: str, now: datetime) -> Callable[[Tx], None]:
    def add(tx: Tx) -> None:
        mark_erased(now)(tx)  # the guard row may be deleted already, and a job needs one
        SqlJobStore(tx).requeue(_draft("erase", owner, now), now)

    return add


def _queue_deliveries(now: datetime) -> Callable[[Tx], int]:
    def queue(tx: Tx) -> int:
        guard = tx.one("lock_owner")
        return 0 if guard is None or guard[1] is not None else SqlEventStore(tx).queue_deliveries(now)

    return queue


def _register(consumer: str, now: datetime) -> Callable[[Tx], bool]:
    def register(tx: Tx) -> bool:
        guard = tx.one("lock_owner_alone")
        if guard is None or guard[0] is not None:
            return False
        return SqlEventStore(tx).add(consumer, now, needs_backfill=True)

    return register


def _owners_to_reindex(after: str, limit: int) -> Callable[[SystemTx], list[str]]:
    def read(tx: SystemTx) -> list[str]:
        tx.all("open_owners")
        rows = tx.all("list_owners_to_reindex", after=after, analyzer=jobs.ANALYZER, limit=limit)
        return [owner for (owner,) in rows]

    return read
