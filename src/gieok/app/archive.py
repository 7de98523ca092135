"""The archive of messages and memories: `gieok.archive`, if GIEOK_ARCHIVE_URL is set.

It consumes the outbox. An event only says which row to look at: what is copied is the row as it is now, and a
row that is gone is deleted in the archive. So it does not matter how often or how late an event is delivered.
After each write the rows are compared again: a deletion or a key rotation that came in between is noticed by
this process, and one that comes later finds what was written.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING

from gieok.adapters.copies import ARCHIVE, Key, MessageCopy
from gieok.adapters.mongo.archive import MongoArchive, MongoCopies, open_mongo
from gieok.adapters.sql.driver.database import SystemTx, from_micros
from gieok.adapters.sql.driver.open import open_database
from gieok.adapters.sql.lifecycle.owners import all_owners
from gieok.adapters.sql.scope import OwnerScope, SqlView
from gieok.adapters.sql.stores.archive import Problem
from gieok.app.archive_restore import (
    BATCH,
    C,
    Restored,
    Rows,
    messages_of,
    put_texts_back,
    restore_owner,
    summaries_of,
)
from gieok.errors import Conflict, GieokError, NotFound, OwnerErased, StoreUnavailable
from gieok.memory.events.records import Event
from gieok.settings import ArchiveSettings
from gieok.vault import OwnerKeys

if TYPE_CHECKING:
    from gieok.app import Gieok

_log = logging.getLogger(__name__)

Report = Callable[[int, int], None]
ATTEMPTS = 10
"""How often to copy rows again that change while they are copied."""
RETRY_SECONDS = (1, 5, 15, 60)
AWAY_SECONDS = 5.0
"""After a failure, reads fail at once for so long, so that a search does not wait each time."""


@dataclass(frozen=True)
class ArchiveStatus:
    """The state of the archive, for operators. Figures of MongoDB are None if it cannot be reached."""

    location: str
    is_reachable: bool
    version: str | None
    problem: str | None
    """Why it cannot be used."""
    messages: int | None
    summaries: int | None
    undelivered: int
    """Events of all owners that are not in the archive yet."""
    oldest_at: datetime | None
    """The time of the oldest of them."""
    backfilling: int
    """Owners whose older data is not in the archive yet."""


@dataclass(frozen=True)
class Difference:
    """A row that is not the same in the archive. `row` has its ids, never its content."""

    owner: str
    collection: str
    row: str
    problem: Problem
    """`missing` in the archive, `extra` there, `different`, or a `seal` that does not open."""


@dataclass(frozen=True)
class ArchiveReport:
    """The result of a comparison of database and archive."""

    owners: int
    messages: int
    summaries: int
    differences: tuple[Difference, ...]
    undelivered: int
    """Events that were not delivered yet at the end. They explain differences."""

    @property
    def is_ok(self) -> bool:
        return not self.differences


class Archive:
    """Implements `EventConsumer`, and the archive of `OwnerScope`."""

    name = ARCHIVE
    batch = BATCH
    retry_seconds = RETRY_SECONDS
    gives_up = False

    def __init__(self, gieok: Gieok, settings: ArchiveSettings) -> None:
        """SettingsInvalid for a bad URL. Connects when it is used first."""
        assert settings.archive_url is not None  # noqa: S101  the caller has looked
        self._gieok = gieok
        self._mongo = open_mongo(settings.archive_url)
        self.after = timedelta(days=settings.archive_messages_after_days)
        """The text of messages of sessions without activity for so long leaves the database. 0: never."""
        self._is_attached = False
        self._away_until = 0.0

    async def close(self) -> None:
        await self._mongo.close()

    # --- The consumer of events ---

    async def deliver(self, owner: str, events: Sequence[Event]) -> None:
        """Copy or delete what the events are about. Raises StoreUnavailable to be tried again."""
        mongo, scope = await self._attach(), self._gieok.scope(owner)
        messages, withdrawn, summaries = set[Key](), list[tuple[str, str]](), set[Key]()
        for event in events:
            if event.kind == "session.deleted":
                await mongo.messages.erase(owner, event.subject)
            elif event.kind == "session.trimmed":
                await mongo.messages.erase(owner, event.subject, up_to=event.seq)
            elif event.kind == "message.stored":
                messages.add((event.session_ref or "", event.seq or 0))
            elif event.kind == "message.withdrawn":
                withdrawn.append((event.session_ref or "", event.subject))
            elif event.kind.startswith("memory."):
                summaries.add((event.subject,))
        if withdrawn:
            messages |= {*await scope.read(lambda view: view.archive.messages.keys_of(withdrawn))}
        await _copy(scope, messages_of, mongo.messages, messages)
        await _copy(scope, summaries_of, mongo.summaries, summaries)

    async def backfill(self, owner: str, cursor: str | None) -> str | None:
        """Copy the next messages, then the next memories. Returns where to continue, None at the end."""
        mongo, scope = await self._attach(), self._gieok.scope(owner)
        part, *after = json.loads(cursor) if cursor else ["messages"]
        if part == "messages":
            last = await _copy_page(scope, messages_of, mongo.messages, tuple(after))
            return json.dumps(["messages", *last] if last else ["summaries"])
        last = await _copy_page(scope, summaries_of, mongo.summaries, tuple(after))
        return json.dumps(["summaries", *last]) if last else None

    async def erase(self, owner: str) -> None:
        """Delete everything of an owner. Idempotent. StoreUnavailable if the archive cannot be reached."""
        mongo = await self._attach()
        await mongo.messages.erase(owner)
        await mongo.summaries.erase(owner)

    # --- The archive of the main database ---

    async def check(self) -> None:
        """StoreUnavailable if the archive cannot be reached."""
        await (await self._attach()).ping()

    async def messages(self, owner: str, keys: Sequence[Key]) -> Sequence[MessageCopy]:
        """Copies of messages whose text is in the archive only."""
        if monotonic() < self._away_until:
            raise StoreUnavailable(f"the archive {self._mongo.location} cannot be reached; try again later")
        try:
            return await (await self._attach()).messages.get(owner, keys)
        except StoreUnavailable:
            self._away_until = monotonic() + AWAY_SECONDS
            raise

    async def reseal(self, owner: str, keys: OwnerKeys) -> int:
        """Reseal every copy of an owner under the current key. Returns how many."""
        mongo = await self._attach()
        return await _reseal(mongo.messages, owner, keys) + await _reseal(mongo.summaries, owner, keys)

    async def move_texts(self, owner: str, now: datetime) -> bool:
        """Remove the text of the next old messages from the database. Returns whether there may be more.

        Only what opens in the archive and is the same there, as a majority of its servers has stored it.
        StoreUnavailable if something is not there yet.
        """
        if not self.after:
            return False
        scope, before = self._gieok.scope(owner), now - self.after
        texts = await scope.read(lambda view: view.archive.next_texts(before, BATCH), heavy=True)
        if texts is None:
            return False
        copies = await (await self._attach()).messages.get(owner, [copy.key for copy in texts.copies])

        def remove(view: SqlView) -> None:
            if view.archive.compare(texts.copies, copies) or view.events.pending(ARCHIVE, 1):
                raise StoreUnavailable("messages are not in the archive yet; their text is moved later")
            view.archive.remove_texts(texts)

        await scope.write(remove)
        return True

    async def put_texts_back(self, owner: str) -> int:
        """Put all texts of an owner back into the database. Returns how many."""
        scope = self._gieok.scope(owner)
        if not await scope.read(lambda view: view.archive.archived_texts(1)):
            return 0  # no need to reach the archive
        return await put_texts_back(scope, await self._attach())

    # --- For operators ---

    async def status(self) -> ArchiveStatus:
        """The state of the archive. An archive that cannot be reached is no error here."""
        undelivered, oldest, backfilling = await self._gieok.database.system_read(_undelivered)
        version = problem = messages = summaries = None
        try:
            mongo = await self._attach()
            version = await mongo.ping()
            messages, summaries = await mongo.messages.count(), await mongo.summaries.count()
        except GieokError as error:
            problem = str(error)
        return ArchiveStatus(
            location=self._mongo.location,
            is_reachable=problem is None,
            version=version,
            problem=problem,
            messages=messages,
            summaries=summaries,
            undelivered=undelivered,
            oldest_at=oldest,
            backfilling=backfilling,
        )

    async def verify(
        self, owner: str | None = None, report: Report = lambda _done, _all: None
    ) -> ArchiveReport:
        """Compare every message and memory of one owner, or of all, with the archive, and open every seal.

        The service may run meanwhile. `report` is called with the number of owners done, and that of all.
        """
        mongo, differences, counts = await self._attach(), list[Difference](), [0, 0]
        owners = [owner] if owner is not None else await self._owners(mongo)
        for number, each in enumerate(owners, start=1):
            scope = self._gieok.scope(each)
            try:
                counts[0] += await _verify(scope, messages_of, mongo.messages, differences)
                counts[1] += await _verify(scope, summaries_of, mongo.summaries, differences)
            except OwnerErased:
                _log.info("an owner is being erased, and is not verified")
            report(number, len(owners))
        undelivered, _, _ = await self._gieok.database.system_read(_undelivered)
        return ArchiveReport(len(owners), counts[0], counts[1], tuple(differences), undelivered)

    async def restore(self, owner: str | None = None, report: Report = lambda _done, _all: None) -> Restored:
        """Bring back what the archive has and the database has not, of one owner or of all. Idempotent.

        Texts that have left the database, and messages and memories that it has lost, as after the restore
        of an older backup. Then the archive is made the same as the database. Raises Conflict while events
        of an owner are not delivered: what was deleted must not come back.
        """
        mongo, done = await self._attach(), Restored()
        owners = [owner] if owner is not None else await self._owners(mongo)
        for number, each in enumerate(owners, start=1):
            try:
                done += await restore_owner(self._gieok, mongo, each)
            except (NotFound, OwnerErased):
                if owner is not None:
                    raise
            report(number, len(owners))
        return done

    async def _attach(self) -> MongoArchive:
        """The archive, once it is known to be the one of this database."""
        if not self._is_attached:
            database = self._gieok.database
            known = await database.get_meta(ARCHIVE) or None
            own = await asyncio.to_thread(self._gieok.vault.keystore_id)
            found = await self._mongo.claim(own, known)
            if found != known:
                await database.set_meta(ARCHIVE, found)
            self._is_attached = True
        return self._mongo

    async def _owners(self, mongo: MongoArchive) -> list[str]:
        """The owners of the database, and those who have copies."""
        owners = {*await all_owners(self._gieok.database)}
        for copies in (mongo.messages, mongo.summaries):
            last = ""
            while (name := await copies.next_owner(last)) is not None:
                owners.add(name)
                last = name
        return sorted(owners)


async def _copy(scope: OwnerScope, rows: Rows[C], copies: MongoCopies[C], keys: set[Key]) -> None:
    """Make the archive the same as these rows."""
    if not keys:
        return
    for _ in range(ATTEMPTS):
        before = await scope.read(lambda view: rows(view).revisions(keys))
        found = await scope.read(lambda view: rows(view).get(keys), heavy=True)
        await copies.put(scope.owner, found)
        await copies.delete(scope.owner, keys - {copy.key for copy in found})
        if await scope.read(lambda view: rows(view).revisions(keys)) == before:
            return
    raise Conflict("rows change faster than they can be copied to the archive; it is tried again")


async def _copy_page(scope: OwnerScope, rows: Rows[C], copies: MongoCopies[C], after: Key) -> Key | None:
    """Copy the next rows. Returns the last of them, None at the end."""
    keys = await scope.read(lambda view: rows(view).keys_after(after, BATCH))
    await _copy(scope, rows, copies, {*keys})
    return keys[-1] if len(keys) == BATCH else None


async def _reseal(copies: MongoCopies[C], owner: str, keys: OwnerKeys) -> int:
    count, after = 0, Key()
    while page := await copies.page(owner, after, BATCH):
        old = [copy for copy in page if copy.generation < keys.generation and copy.content is not None]
        await copies.put(
            owner,
            [
                replace(
                    copy, generation=keys.generation, content=keys.reseal(copy.place, copy.content or b"")
                )
                for copy in old
            ],
        )
        count, after = count + len(old), page[-1].key
    return count


async def _verify(
    scope: OwnerScope, rows: Rows[C], copies: MongoCopies[C], differences: list[Difference]
) -> int:
    """Compare both ways. What differs is compared again: it may have changed in between. Returns how many
    rows were compared."""
    count, suspects, after = 0, set[Key](), Key()
    while page := await scope.read(lambda view, after=after: rows(view).page(after, BATCH), heavy=True):
        stored = await copies.get(scope.owner, [copy.key for copy in page])
        suspects |= {*await scope.read(lambda view, a=page, b=stored: view.archive.compare(a, b))}
        count, after = count + len(page), page[-1].key
    after = Key()
    while stored := await copies.page(scope.owner, after, BATCH):
        keys = {copy.key for copy in stored}
        suspects |= keys - {*(await scope.read(lambda view, keys=keys: rows(view).revisions(keys))).rows}
        after = stored[-1].key
    for key in sorted(suspects, key=str):
        stored = await copies.get(scope.owner, [key])
        own = await scope.read(lambda view, key=key: rows(view).get([key]))
        problems = await scope.read(lambda view, a=own, b=stored: view.archive.compare(a, b))
        problem: Problem | None = "extra" if stored and not own else problems.get(key)
        if problem is not None:
            row = " ".join(map(str, key))
            differences.append(Difference(scope.owner, copies.name, row, problem))
    return count


def _undelivered(tx: SystemTx) -> tuple[int, datetime | None, int]:
    """Events that are not delivered to the archive, the time of the oldest, and owners to be backfilled."""
    ((count, oldest),) = tx.all("count_undelivered", consumer=ARCHIVE)
    ((backfilling,),) = tx.all("count_backfilling", consumer=ARCHIVE)
    return count, None if oldest is None else from_micros(oldest), backfilling


@dataclass(frozen=True)
class ArchiveCheck:
    """What `gieok doctor` shows of an archive."""

    version: str | None
    """The version of MongoDB; None without a URL."""
    is_used: bool
    """Whether the database has used an archive."""
    undelivered: int


async def check_archive(url: str | None, database_url: str) -> ArchiveCheck:
    """Look at an archive and its database. StoreUnavailable if MongoDB does not answer."""
    database = await asyncio.to_thread(open_database, database_url)
    try:
        is_used = bool(await database.get_meta(ARCHIVE))
        undelivered, _, _ = await database.system_read(_undelivered)
    finally:
        await database.close()
    if url is None:
        return ArchiveCheck(None, is_used, undelivered)
    mongo = open_mongo(url)
    try:
        return ArchiveCheck(await mongo.ping(), is_used, undelivered)
    finally:
        await mongo.close()
