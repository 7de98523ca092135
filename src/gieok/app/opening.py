"""Open a database together with its keystore.

A database stores the id of its keystore. If that keystore is missing, opening fails. No new one is created: a
new key could not open the stored data, and would hide that the old keystore must be restored.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import TypeVar

from gieok.adapters.sql.driver.database import Database
from gieok.adapters.sql.driver.open import open_database
from gieok.adapters.sql.lifecycle.owners import finish_erasures, replay_erasures
from gieok.app.assembly import open_vault
from gieok.app.cache import SharedCache, open_cache
from gieok.settings import Settings
from gieok.text import ANALYZER_VERSION
from gieok.vault import Vault

T = TypeVar("T")

KEYSTORE = "keystore"
"""The metadata key of the keystore's id."""
ANALYZER = "analyzer"
"""The metadata key of the version of the analyzer that made the search index."""

_log = logging.getLogger(__name__)


async def open_stores(
    settings: Settings, stack: AsyncExitStack
) -> tuple[Database, Vault, SharedCache | None]:
    """Open the database, the vault and the cache; `stack` closes them.

    Finishes interrupted erasures, and repeats those that a restored backup does not contain.
    """
    database = await _open(
        stack,
        partial(
            open_database,
            settings.database_url,
            partitions=settings.partitions,
            read_url=settings.read_database_url,
        ),
        _close_database,
    )
    own = await database.get_meta(KEYSTORE)
    vault = await _open(stack, partial(open_vault, settings, own), _close_vault)
    if own is None:
        await database.set_meta(KEYSTORE, await asyncio.to_thread(vault.keystore_id))
    await _check_analyzer(database)
    cache = open_cache(settings, vault)
    if cache is not None:
        stack.push_async_callback(cache.close)
    await finish_erasures(database, vault, cache)
    await replay_erasures(database, vault)
    return database, vault, cache


async def stored_keystore_id(database_url: str) -> str | None:
    """The id of the keystore of a database; None before its first use."""
    database = await asyncio.to_thread(open_database, database_url)
    try:
        return await database.get_meta(KEYSTORE)
    finally:
        await database.close()


async def _open(stack: AsyncExitStack, open_it: Callable[[], T], close: Callable[[T], Awaitable[None]]) -> T:
    """Open in a thread. When cancelled, wait until it is open, because nothing else would close it."""
    opening = asyncio.get_running_loop().run_in_executor(None, open_it)
    cancelled: asyncio.CancelledError | None = None
    while not opening.done():
        try:
            await asyncio.wait([opening])
        except asyncio.CancelledError as error:
            cancelled = error
    opened = opening.result()
    stack.push_async_callback(close, opened)
    if cancelled is not None:
        raise cancelled
    return opened


async def _close_database(database: Database) -> None:
    await database.close()


async def _close_vault(vault: Vault) -> None:
    await asyncio.to_thread(vault.close)


async def _check_analyzer(database: Database) -> None:
    """Log a warning if the search index was made by another version of the analyzer."""
    made_by = await database.get_meta(ANALYZER)
    if made_by is None:
        await database.set_meta(ANALYZER, str(ANALYZER_VERSION))
    elif made_by != str(ANALYZER_VERSION):
        _log.warning(
            "the search index was made by analyzer %s, and this version has analyzer %s: until a worker has "
            "rebuilt it, a search may miss older data",
            made_by,
            ANALYZER_VERSION,
        )
