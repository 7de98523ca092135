"""All stores of one owner in one transaction, opened with the owner's keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from gieok.adapters.copies import Archive
from gieok.adapters.sql.cache import UNCACHED, Caches, OwnerCaches
from gieok.adapters.sql.driver.database import Database, Tx
from gieok.adapters.sql.lifecycle.export.owner import OwnerTransfer
from gieok.adapters.sql.stores.archive import SqlArchiveStore
from gieok.adapters.sql.stores.archived import NOTHING_ARCHIVED, ArchivedContent, ContentArchived
from gieok.adapters.sql.stores.audit import SqlAuditLog
from gieok.adapters.sql.stores.cached import NOTHING_CACHED, CachedReads
from gieok.adapters.sql.stores.canon import SqlFactStore
from gieok.adapters.sql.stores.companion.store import SqlCompanionStore, SqlMomentStore
from gieok.adapters.sql.stores.companion.versions import SqlMemoryVersionStore
from gieok.adapters.sql.stores.cycles import SqlCycleStore
from gieok.adapters.sql.stores.decisions import SqlDecisionStore
from gieok.adapters.sql.stores.document_vectors import SqlDocumentVectors
from gieok.adapters.sql.stores.documents import SqlDocumentStore
from gieok.adapters.sql.stores.events import EventCollector, SqlEventStore
from gieok.adapters.sql.stores.evidence import SqlAnchorStore, SqlEvidenceStore
from gieok.adapters.sql.stores.impact import SqlDecisionGraph
from gieok.adapters.sql.stores.integrity import SqlIntegrity
from gieok.adapters.sql.stores.jobs import SqlJobStore
from gieok.adapters.sql.stores.messages import SqlMessageStore
from gieok.adapters.sql.stores.notices import SqlNoticeStore
from gieok.adapters.sql.stores.personas import SqlPersonaStore
from gieok.adapters.sql.stores.policy import SqlPolicyStore
from gieok.adapters.sql.stores.profile import SqlProfileStore
from gieok.adapters.sql.stores.relations import SqlRelationStore
from gieok.adapters.sql.stores.remembered import SqlRememberedStore
from gieok.adapters.sql.stores.requests import SqlRequestStore
from gieok.adapters.sql.stores.seals import Sealed
from gieok.adapters.sql.stores.search import IndexCache, TooManyRows
from gieok.adapters.sql.stores.search_indexes import SqlSearchIndexes
from gieok.adapters.sql.stores.sessions import SqlSessionStore
from gieok.adapters.sql.stores.tokens import SqlTokenStore
from gieok.adapters.sql.stores.turns import SqlMemoryStore
from gieok.adapters.sql.stores.usage import SqlUsageStore
from gieok.adapters.sql.stores.vectors import SqlVectorStore
from gieok.adapters.sql.stores.walks import SqlWalkStore
from gieok.adapters.sql.stores.webhooks import SqlWebhookStore
from gieok.errors import OwnerErased, StoreDamaged, StoreUnavailable
from gieok.refs import check_ref
from gieok.vault import OwnerKeys, Vault

T = TypeVar("T")
SEAL_BATCH = 1024
"""Sealed values are counted in batches of so many."""
ARCHIVE_FETCHES = 100
"""How often one piece of work may ask for texts from the archive."""
Reindex = Callable[[bytes, int], bytes | None]
"""Re-indexes the next rows, given the last row done and a limit. Returns the last row, None at the end."""


class SqlView:
    """All stores of one owner inside one transaction. Stores are cheap to create.

    `is_reading` marks a read transaction, which sees only committed data. `is_inline` marks one that runs on
    the event loop's thread, and must not take long.
    """

    def __init__(
        self,
        tx: Tx,
        caches: OwnerCaches,
        keys: OwnerKeys,
        archived: ArchivedContent = NOTHING_ARCHIVED,
        *,
        is_reading: bool = False,
        is_inline: bool = False,
        cached: CachedReads = NOTHING_CACHED,
    ) -> None:
        """Get `caches` before `keys`, see `DecryptedCache.of`."""
        self._archived = archived
        self._tx = tx
        self._keys = keys
        self._caches = caches
        self._is_reading = is_reading
        self._is_inline = is_inline
        self._cached = cached
        self._sessions = SqlSessionStore(tx, is_reading=is_reading)

    @property
    def cycles(self) -> SqlCycleStore:
        return SqlCycleStore(self._tx)

    @property
    def turns(self) -> SqlMemoryStore:
        return SqlMemoryStore(self._tx, self._keys, self._indexes)

    @property
    def sessions(self) -> SqlSessionStore:
        return self._sessions

    @property
    def messages(self) -> SqlMessageStore:
        return SqlMessageStore(self._tx, self._keys, self._archived, self._sessions, self._cached.window)

    @property
    def archive(self) -> SqlArchiveStore:
        return SqlArchiveStore(self._tx, self._keys)

    @property
    def jobs(self) -> SqlJobStore:
        return SqlJobStore(self._tx)

    @property
    def requests(self) -> SqlRequestStore:
        return SqlRequestStore(self._tx, self._keys)

    @property
    def companion(self) -> SqlCompanionStore:
        return SqlCompanionStore(
            self._tx, self._keys, self._caches, self._indexes, self._archived, is_reading=self._is_reading
        )

    @property
    def memory_versions(self) -> SqlMemoryVersionStore:
        return SqlMemoryVersionStore(self._tx, self._keys)

    @property
    def vectors(self) -> SqlVectorStore:
        return SqlVectorStore(self._tx, self._keys, self._archived)

    @property
    def notices(self) -> SqlNoticeStore:
        return SqlNoticeStore(self._tx)

    @property
    def personas(self) -> SqlPersonaStore:
        return SqlPersonaStore(self._tx, self._keys, self._cached.persona)

    @property
    def facts(self) -> SqlFactStore:
        return SqlFactStore(self._tx, self._keys)

    @property
    def profile(self) -> SqlProfileStore:
        return SqlProfileStore(self._tx, self._keys)

    @property
    def decisions(self) -> SqlDecisionStore:
        return SqlDecisionStore(self._tx, self._keys, self._indexes)

    @property
    def documents(self) -> SqlDocumentStore:
        return SqlDocumentStore(self._tx, self._keys, self._indexes)

    @property
    def policy(self) -> SqlPolicyStore:
        return SqlPolicyStore(self._tx, self._keys)

    @property
    def relations(self) -> SqlRelationStore:
        return SqlRelationStore(self._tx)

    @property
    def graph(self) -> SqlDecisionGraph:
        return SqlDecisionGraph(self._tx, self._keys)

    @property
    def evidence(self) -> SqlEvidenceStore:
        return SqlEvidenceStore(self._tx, self._keys)

    @property
    def anchors(self) -> SqlAnchorStore:
        return SqlAnchorStore(self._tx, self._keys)

    @property
    def remembered(self) -> SqlRememberedStore:
        return SqlRememberedStore(self._tx, self._keys)

    @property
    def walks(self) -> SqlWalkStore:
        return SqlWalkStore(self._tx, self._keys)

    @property
    def tokens(self) -> SqlTokenStore:
        return SqlTokenStore(self._tx)

    @property
    def audit(self) -> SqlAuditLog:
        return SqlAuditLog(self._tx, self._keys)

    @property
    def events(self) -> SqlEventStore:
        return SqlEventStore(self._tx)

    @property
    def webhooks(self) -> SqlWebhookStore:
        return SqlWebhookStore(self._tx, self._keys)

    @property
    def usage(self) -> SqlUsageStore:
        return SqlUsageStore(self._tx)

    @property
    def _indexes(self) -> IndexCache:
        return IndexCache(self._caches.indexes, is_reading=self._is_reading, is_inline=self._is_inline)

    @property
    def is_known(self) -> bool:
        """Whether this owner has ever stored anything."""
        return self._tx.one("get_owner") is not None

    def transfer(self, now: datetime) -> OwnerTransfer:
        """Export and import of all stores at once. Imported jobs are due `now`."""
        return OwnerTransfer(self._tx, self._keys, self, now)

    @property
    def search_indexes(self) -> SqlSearchIndexes:
        return SqlSearchIndexes(self._tx)

    @property
    def reindexes(self) -> Mapping[str, Reindex]:
        """How to rebuild each search index. Searches still find the old entries during the rebuild."""
        return {
            "turns": self.turns.reindex,
            "companion": self.companion.reindex,
            "messages": self.messages.reindex,
            "facts": self.facts.reindex,
            "decisions": self.decisions.reindex,
            "documents": self.documents.reindex,
        }

    @property
    def sealed(self) -> Mapping[str, Sealed]:
        """All stores with sealed rows. A key rotation reseals all of them before it retires the old key."""
        return {
            "turns": self.turns,
            "messages": self.messages,
            "personas": self.personas,
            "facts": self.facts,
            "profile": self.profile,
            "decisions": self.decisions,
            "documents": self.documents,
            "document_vectors": SqlDocumentVectors(self._tx, self._keys),
            "policy": self.policy,
            "evidence": self.evidence,
            "anchors": self.anchors,
            "walks": self.walks,
            "remembered": self.remembered,
            "memories": self.companion,
            "memory_versions": self.memory_versions,
            "moments": SqlMomentStore(self._tx, self._keys),
            "vectors": self.vectors,
            "requests": self.requests,
            "webhooks": self.webhooks,
        }

    @property
    def integrity(self) -> SqlIntegrity:
        return SqlIntegrity(self._tx, self._keys)


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Outbox:
    """What a process adds to the recording of events."""

    consumers: tuple[str, ...] = ()
    """Consumers of the events of all owners. A new owner has them from the beginning."""
    clock: Callable[[], datetime] = _now
    wake: Callable[[], None] = lambda: None
    """Called when events were committed, so that a worker need not wait for its next look."""


class OwnerScope:
    """Transactions of one owner. A cycle reads and commits through it.

    Each layer wraps the function of the layer above and adds one thing: `work(view)` is called by `run(tx)`
    here, which opens the stores with the owner's keys; `run(tx)` is called by `run(session)` in `Database`,
    which opens the transaction.
    """

    def __init__(
        self,
        database: Database,
        vault: Vault,
        owner: str,
        caches: Caches | None = None,
        outbox: Outbox | None = None,
        archive: Archive | None = None,
    ) -> None:
        """Without `caches`, nothing is cached between transactions. Events are recorded without `outbox`
        too. Without `archive`, messages whose text is there cannot be read."""
        self.owner = check_ref(owner, "owner")
        self._database = database
        self._vault = vault
        self._caches = caches
        self._outbox = outbox or Outbox()
        self._archive = archive

    async def read(
        self,
        work: Callable[[SqlView], T],
        *,
        heavy: bool = False,
        replica: bool = False,
        cached: CachedReads = NOTHING_CACHED,
    ) -> T:
        """Run `work` on one consistent snapshot of this owner's data.

        `heavy` and `replica` as in `Database.read`.

        If it needs texts from the archive, they are fetched and it runs again. StoreUnavailable if the
        archive cannot be reached; searches leave these messages out.
        """
        try:
            return await self._read(work, heavy, replica, cached, NOTHING_ARCHIVED)
        except ContentArchived as missing:
            return await self._with_archive(partial(self._read, work, heavy, replica, cached), missing)

    async def _read(
        self,
        work: Callable[[SqlView], T],
        heavy: bool,
        replica: bool,
        cached: CachedReads,
        archived: ArchivedContent,
    ) -> T:
        def run(tx: Tx, *, is_inline: bool) -> T:
            caches, keys = self._owner_caches(), self._keys_to_read(tx)
            return work(
                SqlView(tx, caches, keys, archived, is_reading=True, is_inline=is_inline, cached=cached)
            )

        if not heavy and self._database.dialect == "sqlite":
            try:
                return await self._database.read(self.owner, partial(run, is_inline=True))
            except TooManyRows:
                heavy = True
        return await self._database.read(
            self.owner, partial(run, is_inline=False), heavy=heavy, replica=replica
        )

    async def write(
        self, work: Callable[[SqlView], T], *, heavy: bool = False, cached: CachedReads = NOTHING_CACHED
    ) -> T:
        """Run `work` in one transaction of this owner, durable when this returns.

        The transaction also records the events of its changes, if the owner has consumers of events.
        `heavy` as in `Database.write`; texts from the archive as in `read`.
        """
        try:
            return await self._write(work, heavy, cached, NOTHING_ARCHIVED)
        except ContentArchived as missing:
            return await self._with_archive(partial(self._write, work, heavy, cached), missing)

    async def _write(
        self,
        work: Callable[[SqlView], T],
        heavy: bool,
        cached: CachedReads,
        archived: ArchivedContent,
    ) -> T:
        collector, consumers = EventCollector(), tuple[str, ...]()

        def run(tx: Tx) -> T:
            nonlocal collector, consumers
            keys, consumers = self._lock(tx)
            collector = EventCollector()  # heavy work may run again
            tx.watch = collector if consumers else None
            result = work(SqlView(tx, self._owner_caches(), keys, archived, cached=cached))
            if seals := keys.reserve_seals(SEAL_BATCH):
                tx.run("add_seals", generation=keys.generation, seals=seals)
            if collector.drafts:
                SqlEventStore(tx).record(collector.drafts, consumers, self._outbox.clock())
            return result

        result = await self._database.write(self.owner, run, heavy=heavy)
        if collector.drafts:
            if heavy:
                await self._database.write(self.owner, self._queue_deliveries)
            self._outbox.wake()
        return result

    def _queue_deliveries(self, tx: Tx) -> None:
        """Heavy work may have seen a copy of a delivery job that has ended since. If this process dies before
        this, a worker finds the events."""
        if tx.one("lock_owner"):
            SqlEventStore(tx).queue_deliveries(self._outbox.clock())

    async def _with_archive(
        self, run: Callable[[ArchivedContent], Awaitable[T]], missing: ContentArchived
    ) -> T:
        """Fetch texts from the archive and run again, until nothing is missing."""
        archived = ArchivedContent()
        for _ in range(ARCHIVE_FETCHES):
            await self._fetch(archived, missing)
            try:
                return await run(archived)
            except ContentArchived as more:
                missing = more
        raise StoreUnavailable("the texts of too many messages are in the archive; read fewer at once")

    async def _fetch(self, archived: ArchivedContent, missing: ContentArchived) -> None:
        """Add the missing texts. If the archive cannot be reached, the work gets one attempt without it."""
        if archived.failure is not None:
            raise archived.failure
        if self._archive is None:
            archived.failure = StoreUnavailable(
                "the text of these messages is in the archive; set GIEOK_ARCHIVE_URL to read it"
            )
            return
        try:
            copies = await self._archive.messages(self.owner, missing.keys)
        except StoreUnavailable as failure:
            archived.failure = failure
            return
        archived.copies.update({copy.key: copy for copy in copies})
        if not archived.copies.keys() >= {*missing.keys}:
            raise StoreDamaged(
                "the texts of messages are missing in the archive; `gieok archive verify` lists them"
            )

    def _owner_caches(self) -> OwnerCaches:
        return self._caches.of(self.owner) if self._caches else UNCACHED

    def _keys_to_read(self, tx: Tx) -> OwnerKeys:
        guard = tx.one("get_owner")
        if guard:
            return self._live_keys(guard[0], guard[1])
        self._vault.forget(self.owner)
        return OwnerKeys.unknown(self.owner)

    def _lock(self, tx: Tx) -> tuple[OwnerKeys, tuple[str, ...]]:
        """Lock the owner row for a write. Returns the keys, and the consumers of the owner's events."""
        guard = tx.one("lock_owner")
        if guard is None and not tx.run("add_owner", key_generation=1, created_at=_now().isoformat()):
            guard = tx.one("lock_owner")  # another process added the owner at the same moment
        if guard:
            return self._live_keys(guard[0], guard[1]), tuple(guard[2].split())
        # Create keys only after locking the owner row: a concurrent erasure has either written its tombstone
        # already, so that no keys are created, or waits for this row and then deletes what is written here.
        keys = self._vault.create(self.owner)
        if keys.generation > 1:
            tx.run("set_owner_key_generation", key_generation=keys.generation)
        for consumer in self._outbox.consumers:
            SqlEventStore(tx).add(consumer, self._outbox.clock(), needs_backfill=False)
        return keys, self._outbox.consumers

    def _live_keys(self, generation: int, erased_at: str | None) -> OwnerKeys:
        if erased_at is not None:
            self._vault.forget(self.owner)
            raise OwnerErased("this owner was erased, and nothing of theirs can be read or stored any more")
        return self._vault.keys(self.owner, generation)
