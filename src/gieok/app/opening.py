"""Opening a database together with the keystore that it was sealed with, or nothing at all.

A database remembers its keystore. If that one is gone, no other is made in its place: a new root key could
never open what is stored, and would only hide that the old one must be put back.
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
from gieok.settings import Settings
from gieok.text import ANALYZER_VERSION
from gieok.vault import Vault

T = TypeVar("T")

KEYSTORE = "keystore"
"""Under this key a database remembers the id of its keystore."""
ANALYZER = "analyzer"
"""Under this key it remembers the version of the analyzer that made its search index."""

_log = logging.getLogger(__name__)


async def open_stores(settings: Settings, stack: AsyncExitStack) -> tuple[Database, Vault]:
    """The database and the vault, which `stack` closes. Erasures that a stopped process left are finished,
    and those that a restored database knows nothing of are done again."""
    database = await _open(stack, partial(open_database, settings.database_url), _close_database)
    own = await database.get_meta(KEYSTORE)
    vault = await _open(stack, partial(open_vault, settings, own), _close_vault)
    if own is None:
        await database.set_meta(KEYSTORE, await asyncio.to_thread(vault.keystore_id))
    await _check_analyzer(database)
    await finish_erasures(database, vault)
    await replay_erasures(database, vault)
    return database, vault


async def remembered_keystore(database_url: str) -> str | None:
    """The id of the keystore that a database was sealed with; None before its first use."""
    database = await asyncio.to_thread(open_database, database_url)
    try:
        return await database.get_meta(KEYSTORE)
    finally:
        await database.close()


async def _open(stack: AsyncExitStack, open_it: Callable[[], T], close: Callable[[T], Awaitable[None]]) -> T:
    """Open in a thread. One who is cancelled meanwhile waits for it: nobody else could close it."""
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
    """Words are indexed as the analyzer cut them: another one may look for them under other terms."""
    made_by = await database.get_meta(ANALYZER)
    if made_by is None:
        await database.set_meta(ANALYZER, str(ANALYZER_VERSION))
    elif made_by != str(ANALYZER_VERSION):
        _log.warning(
            "the search index was made by analyzer %s, and this Gieok has analyzer %s: until a worker has "
            "made it anew, a search may miss what was stored before",
            made_by,
            ANALYZER_VERSION,
        )
