"""Key rotation and erasure of an owner. Both can be interrupted and called again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Protocol

from gieok.adapters.copies import ARCHIVE, Archive
from gieok.adapters.sql.driver.database import Database, SystemTx, Tx, to_micros
from gieok.adapters.sql.scope import OwnerScope, SqlView
from gieok.adapters.sql.stores.audit import SqlAuditLog
from gieok.errors import StoreUnavailable
from gieok.memory.events.records import WEBHOOK
from gieok.memory.events.store import EventConsumer
from gieok.refs import check_ref
from gieok.vault import OwnerKeys, Vault

RESEAL_BATCH = 500
ERASE_BATCH = 2_000
OWNERS_PAGE = 10_000
MAX_SEALS = 2**31
"""Values under one data key before it is replaced: half of what is safe with random nonces of 96 bits."""
ERASURES = "erasures"
"""Meta key: how many erasures of the keystore have been applied to this database."""

ERASE_QUERIES = {
    "staged_commits": "erase_staged_commits",
    "staged_changes": "erase_staged_changes",
    "tokens": "erase_tokens",
    "seal_counts": "erase_seal_counts",
    "webhooks": "erase_webhooks",
    "dead_letters": "erase_dead_letters",
    "events": "erase_events",
    "event_consumers": "erase_event_consumers",
    "event_heads": "erase_event_heads",
    "audit_entries": "erase_audit_entries",
    "audit_heads": "erase_audit_heads",
    "usage_days": "erase_usage_days",
    "requests": "erase_requests",
    "notices": "erase_notices",
    "search_indexes": "erase_search_indexes",
    "search_scopes": "erase_search_scopes",
    "memory_vectors": "erase_memory_vectors",
    "emotional_moments": "erase_emotional_moments",
    "memory_versions": "erase_memory_versions",
    "memories": "erase_memories",
    "persona_memory_configs": "erase_persona_memory_configs",
    "turn_memories": "erase_turn_memories",
    "messages": "erase_messages",
    "session_plan_moves": "erase_session_plan_moves",
    "cycle_records": "erase_cycle_records",
    "sessions": "erase_sessions",
    "remembered": "erase_remembered",
    "decision_walks": "erase_decision_walks",
    "anchor_targets": "erase_anchor_targets",
    "anchors": "erase_anchors",
    "evidence": "erase_evidence",
    "decision_impacts": "erase_decision_impacts",
    "decision_relations": "erase_decision_relations",
    "decision_heads": "erase_decision_heads",
    "document_vectors": "erase_document_vectors",
    "document_heads": "erase_document_heads",
    "profiles": "erase_profiles",
    "fact_revisions": "erase_fact_revisions",
    "fact_heads": "erase_fact_heads",
    "persona_heads": "erase_persona_heads",
    "chain_heads": "erase_chain_heads",
    "chain_versions": "erase_chain_versions",
    "jobs": "erase_jobs",
}
"""Every table with rows of an owner and the query that deletes them, in an order that foreign keys allow.

Jobs are last: one of them may be this erasure."""
ERASED_IN_BATCHES = frozenset(
    {
        *("messages", "memories", "memory_versions", "memory_vectors"),
        *("turn_memories", "chain_versions", "events"),
    }
)
"""Tables that have many rows of some owners. Deleting all of them at once would let other writers wait."""


async def rotate_data_key(
    database: Database,
    vault: Vault,
    owner: str,
    now: datetime,
    report: Callable[[int], None] = lambda _: None,
    archive: Archive | None = None,
) -> int:
    """Reseal every row of the owner under a new data key and destroy the old ones. Returns the row count.

    The audit trail gets an entry at `now`. Copies in the archive are resealed too. StoreUnavailable if it
    cannot be reached, or is not given for an owner who has one: nothing is destroyed then.
    `report` is called after each batch with the number of rows resealed so far.

    The guard row gets the new generation before the first row is resealed, so that no writer in any process
    can still use a key that is about to be destroyed.
    """
    scope = OwnerScope(database, vault, owner)
    if archive is not None:
        await archive.check()
    elif ARCHIVE in await _outside_consumers(database, owner):
        raise StoreUnavailable(
            "this owner has an archive, which is sealed with the same key; set GIEOK_ARCHIVE_URL"
        )
    keys = await asyncio.to_thread(vault.rotate_owner, owner)
    await database.write(owner, _set_generation(keys, now))
    resealed = 0
    for store in await scope.read(lambda view: tuple(view.sealed)):
        after: bytes | None = b""
        while after is not None:
            count, after = await scope.write(_reseal(store, after))
            resealed += count
            report(resealed)
    if archive is not None:
        resealed += await archive.reseal(owner, keys)
    await asyncio.to_thread(vault.retire_old, owner, keys.generation)
    return resealed


async def rotate_used_key(
    database: Database,
    vault: Vault,
    owner: str,
    generation: int,
    now: datetime,
    archive: Archive | None = None,
) -> int:
    """Rotate the owner's data key if it still is the one of `generation`. Returns the number of rows."""
    guard = await database.read(owner, lambda tx: tx.one("get_owner"))
    if guard is None or guard[0] != generation:
        return 0
    return await rotate_data_key(database, vault, owner, now, archive=archive)


def used_keys(seals: int, limit: int) -> Callable[[SystemTx], list[tuple[str, int, int]]]:
    """Reads the owners whose data key has sealed so many values: name, generation and number of values."""

    def read(tx: SystemTx) -> list[tuple[str, int, int]]:
        rows = tx.all("list_used_keys", seals=seals, limit=limit)
        return [(owner, generation, count) for owner, generation, count in rows]

    return read


Consumers = Mapping[str, EventConsumer]
_NO_CONSUMERS: Consumers = {}


class OwnerCache(Protocol):
    """A cache that may have values of owners."""

    async def forget(self, owner: str) -> None:
        """Delete everything of an owner."""
        ...


async def erase_owner(
    database: Database,
    vault: Vault,
    owner: str,
    consumers: Consumers = _NO_CONSUMERS,
    cache: OwnerCache | None = None,
) -> dict[str, int]:
    """Destroy the owner's keys, then delete their rows, also at the consumers of events and in the cache.

    Returns the number of deleted rows by table. From the first step on, nobody can read the owner's data,
    here or in any backup. An interrupted erasure is finished by calling this again, by a job, or by
    `finish_erasures` when the service next starts. StoreUnavailable if a consumer cannot be reached, or is
    not in `consumers`: the erasure is then finished later.
    """
    check_ref(owner, "owner")
    await asyncio.to_thread(vault.begin_erasure, owner)
    erased = await _delete_rows(database, owner)
    for name in await _outside_consumers(database, owner):
        if name not in consumers:
            raise StoreUnavailable(
                f"the owner is erased here, but this process is not configured for '{name}', which has a "
                "copy; a worker that is will finish the erasure"
            )
        await consumers[name].erase(owner)
    await database.write(owner, _remove_owner(datetime.now(UTC)))
    await asyncio.to_thread(vault.finish_erasure, owner)
    if cache is not None:
        await cache.forget(owner)
    return erased


async def _delete_rows(database: Database, owner: str) -> dict[str, int]:
    """Delete the rows of an owner whose keys are destroyed. Returns their number by table."""
    await database.write(owner, mark_erased(datetime.now(UTC)))
    return {table: await _delete_all(database, owner, table) for table in ERASE_QUERIES}


async def _delete_all(database: Database, owner: str, table: str) -> int:
    query = ERASE_QUERIES[table]
    if table not in ERASED_IN_BATCHES:
        return await database.write(owner, lambda tx: tx.run(query))
    deleted = 0
    while count := await database.write(owner, lambda tx: tx.run(query, limit=ERASE_BATCH)):
        deleted += count
    return deleted


async def _outside_consumers(database: Database, owner: str) -> list[str]:
    """The consumers that have a copy of the owner's data. Webhooks have none that Gieok could delete."""
    row = await database.read(owner, lambda tx: tx.one("get_owner_consumers"))
    return [name for name in row[0].split() if not name.startswith(WEBHOOK)] if row else []


async def finish_erasures(database: Database, vault: Vault, cache: OwnerCache | None = None) -> list[str]:
    """Finish erasures that a stopped process has not finished. Returns the owners.

    Those of owners with consumers outside of the database are left to a worker.
    """
    owners = await asyncio.to_thread(vault.unfinished_erasures)
    here = [owner for owner in owners if not await _outside_consumers(database, owner)]
    for owner in here:
        await erase_owner(database, vault, owner, cache=cache)
    return here


async def all_owners(database: Database) -> list[str]:
    """The names of all owners of a database, in order."""
    owners, last = list[str](), ""
    while page := await database.system_read(owners_after(last)):
        owners += [name for name, _ in page]
        last = page[-1][0]
    return owners


async def replay_erasures(database: Database, vault: Vault) -> list[str]:
    """Erase owners of a restored database who were erased after the backup. Returns the owners.

    The keystore is not restored with the database and knows every erasure. Both count erasures; every owner
    is checked only if the two counts differ. Unfinished erasures are not replayed but finished.
    """
    count = str(await asyncio.to_thread(vault.erasures))
    if await database.get_meta(ERASURES) == count:
        return []
    unfinished = await asyncio.to_thread(vault.unfinished_erasures)
    erased: list[str] = []
    last = ""
    while page := await database.system_read(owners_after(last)):
        found = await asyncio.to_thread(vault.erased_among, page)
        erased += [owner for owner, _ in found if owner not in unfinished]
        last = page[-1][0]
    for owner in erased:
        # The keys, and what consumers have, may be those of a new owner of that name.
        await _delete_rows(database, owner)
        await database.write(owner, _remove_owner(datetime.now(UTC)))
    await database.set_meta(ERASURES, count)
    return erased


def owners_after(last: str, limit: int = OWNERS_PAGE) -> Callable[[SystemTx], list[tuple[str, int]]]:
    """Reads the next page of owner names after `last`, each with the generation of its data key."""

    def read(tx: SystemTx) -> list[tuple[str, int]]:
        tx.all("open_owners")
        return [(row[0], row[1]) for row in tx.all("list_owners", after=last, limit=limit)]

    return read


def _set_generation(keys: OwnerKeys, now: datetime) -> Callable[[Tx], None]:
    """Set the new generation and add the audit entry. Does neither if the owner was erased meanwhile."""

    def set_generation(tx: Tx) -> None:
        if tx.run("set_owner_key_generation", key_generation=keys.generation):
            SqlAuditLog(tx, keys).add("key.rotated", None, now)

    return set_generation


def _reseal(store: str, after: bytes) -> Callable[[SqlView], tuple[int, bytes | None]]:
    """Reseal the next rows of a store. Returns how many, and the position of the last, None at the end."""

    def reseal(view: SqlView) -> tuple[int, bytes | None]:
        page = view.sealed[store].seals(after, RESEAL_BATCH)
        view.integrity.reseal(page.rows)
        return len(page.rows), page.after

    return reseal


def mark_erased(now: datetime) -> Callable[[Tx], None]:
    """Mark the owner as erased and revoke the tokens in one commit. Idempotent; it needs no keys."""

    def mark(tx: Tx) -> None:
        tx.run("mark_owner_erased", erased_at=now.isoformat(), created_at=now.isoformat())
        tx.run("revoke_tokens", revoked_at=to_micros(now))

    return mark


def _remove_owner(now: datetime) -> Callable[[Tx], None]:
    """Delete the guard row, and with it jobs that were queued after the table of jobs was emptied."""

    def remove(tx: Tx) -> None:
        mark_erased(now)(tx)  # locks the guard row, so that no job is added between the next two
        tx.run("erase_jobs")
        tx.run("remove_owner")

    return remove
