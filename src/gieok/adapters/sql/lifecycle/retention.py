"""Retention: delete what has reached its time to live, a bounded number of rows in each transaction.

`RULES` is the table of what has a time to live. To add one, name its setting and write the query that deletes
the oldest rows before a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from uuid import UUID

from gieok.adapters.sql.driver.database import Database
from gieok.adapters.sql.lifecycle.owners import owners_after
from gieok.adapters.sql.scope import OwnerScope, SqlView
from gieok.errors import OwnerErased, StoreDamaged
from gieok.memory.jobs.records import JobDraft
from gieok.settings import RetentionSettings
from gieok.vault import Vault

BATCH = 500
"""Rows that one transaction deletes of each kind: few, because other writers wait for it."""
LAST_RUN = "retention"
"""The metadata key of the time at which the last run began."""
INTERVAL = timedelta(hours=6)
"""How often all owners are visited."""
TEXTS_JOB = UUID("b3a7b0a4-7e0a-4c0e-8f64-5f3a3f0b6c11")
"""The job of each owner that moves the text of old messages to the archive."""
LOOK = timedelta(minutes=1)
"""How often a process looks whether a run is due."""


def _jobs(view: SqlView, before: datetime, _now: datetime) -> int:
    return view.jobs.delete_finished(before, BATCH, watches=False)


def _watches(view: SqlView, before: datetime, _now: datetime) -> int:
    return view.jobs.delete_finished(before, BATCH, watches=True)


RULES: Mapping[str, Callable[[SqlView, datetime, datetime], int]] = {
    "keep_jobs_days": _jobs,
    "keep_watches_days": _watches,
    "keep_audit_days": lambda view, before, now: view.audit.trim(before, now, BATCH),
    "keep_usage_days": lambda view, before, _now: view.usage.delete_before(before.date(), BATCH),
    "keep_dead_letters_days": lambda view, before, _now: view.events.delete_old_letters(before, BATCH),
    "keep_messages_days": lambda view, before, _now: view.messages.delete_inactive(before, BATCH),
}
"""What deletes the rows of each setting. Returns how many; 0 if none is left."""


class RetentionRun:
    """One visit of all owners. Several processes may each have one; only one begins in each interval."""

    def __init__(
        self,
        database: Database,
        vault: Vault,
        retention: RetentionSettings,
        texts_after: timedelta = timedelta(0),
    ) -> None:
        """The text of messages of sessions without activity for `texts_after` is moved to the archive by a
        job; 0 moves none."""
        self._database = database
        self._vault = vault
        self._retention = retention
        self._texts_after = texts_after
        self._after: str | None = None
        self._next_look: datetime | None = None

    async def advance(self, now: datetime, owners: int) -> int:
        """Visit the next owners. Returns how many rows were deleted."""
        if self._after is None and not await self._begin(now):
            return 0
        page = await self._database.system_read(owners_after(self._after or "", owners))
        deleted = sum([await self._visit(owner, now) for owner, _ in page])
        self._after = page[-1][0] if len(page) == owners else None
        return deleted

    async def _begin(self, now: datetime) -> bool:
        if self._next_look is not None and now < self._next_look <= now + LOOK:
            return False
        self._next_look = now + LOOK
        last = await self._database.get_meta(LAST_RUN)
        if last is not None and timedelta(0) <= now - datetime.fromisoformat(last) < INTERVAL:
            return False
        await self._database.set_meta(LAST_RUN, now.isoformat())
        self._after = ""
        return True

    async def _visit(self, owner: str, now: datetime) -> int:
        """Delete batch after batch until nothing is left that is too old."""
        scope, deleted = OwnerScope(self._database, self._vault, owner), 0
        try:
            while count := await scope.write(lambda view: delete_old(view, self._retention, now)):
                deleted += count
            if self._texts_after:
                await scope.write(lambda view: _queue_texts(view, now - self._texts_after, now))
        except (OwnerErased, StoreDamaged):
            return deleted  # erased meanwhile, or without keys: `gieok check` says which
        return deleted


def _queue_texts(view: SqlView, before: datetime, now: datetime) -> None:
    if view.archive.has_texts(before):
        view.jobs.requeue(JobDraft(id=TEXTS_JOB, kind="archive", subject="messages", due_at=now), now)


def delete_old(view: SqlView, retention: RetentionSettings, now: datetime) -> int:
    """Delete at most `BATCH` rows of each kind that are too old. Returns how many were deleted."""
    deleted = view.requests.delete_expired(now, BATCH) + view.documents.delete_expired(now, BATCH)
    deleted += view.cycles.delete_oldest(retention.keep_cycles)
    for name, delete in RULES.items():
        days = getattr(retention, name)
        if days:
            deleted += delete(view, now - timedelta(days=days), now)
    return deleted
