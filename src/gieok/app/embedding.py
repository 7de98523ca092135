"""The embedder: opening it, and embedding an owner's memories now. Background jobs embed for all owners.

The embedder that was opened last is in force for the whole database. Workers with another embedder run no
embedding jobs, so that two workers never undo each other's work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from gieok.adapters.embedders import ClosableEmbedder, open_embedder, open_near_words
from gieok.adapters.sql.driver.database import Database
from gieok.app.cycles import Cycles
from gieok.errors import Conflict, InputRefused
from gieok.memory.companion.recall.query import NearWords
from gieok.memory.companion.steps.vectors import KeepVectors
from gieok.memory.companion.vectors.search import MAX_SPACE_CHARS, Embedder, VectorSearch, space_of
from gieok.settings import Settings

EMBED_PLAN = "embed_memories"
SPACE = "vector_space"
"""The key under which the database stores which embedder is in force."""


def choose_embedder(settings: Settings) -> ClosableEmbedder | None:
    """Open the embedder that the settings name, if any. The caller closes it. SettingsInvalid."""
    return open_embedder(settings.embedding, settings.secrets.get("GIEOK_EMBEDDER_API_KEY"))


def choose_near_words(settings: Settings) -> NearWords | None:
    """The words of similar meaning that the settings name, if any. SettingsInvalid."""
    return open_near_words(settings.embedding)


async def open_vector_search(
    settings: Settings, embedder: Embedder | None, database: Database, stack: AsyncExitStack
) -> VectorSearch | None:
    """Open the embedder, or take the given one, and put it in force. None if there is neither.

    `stack` closes what is opened. InputRefused if its name is too long.
    """
    own = None if embedder else await asyncio.to_thread(choose_embedder, settings)
    chosen = embedder or own
    if chosen is None:
        return None
    vector_search = make_vector_search(chosen, settings.embedding.vector_cache_mb, own.close if own else None)
    stack.push_async_callback(vector_search.close)
    if await database.get_meta(SPACE) != vector_search.space:
        await database.set_meta(SPACE, vector_search.space)
    return vector_search


def make_vector_search(
    embedder: Embedder, cache_mb: int, close: Callable[[], Awaitable[None]] | None = None
) -> VectorSearch:
    """Vector search with this embedder, and with a cache of vectors of `cache_mb`."""
    from gieok.memory.companion.vectors.matrix import MatrixCache  # noqa: PLC0415  numpy loads only where it is used

    if not embedder.name or embedder.dimension < 1 or len(space_of(embedder)) > MAX_SPACE_CHARS:
        raise InputRefused(f"needs a dimension and a name, both within {MAX_SPACE_CHARS} letters", "embedder")
    return VectorSearch(embedder, MatrixCache(cache_mb * 2**20), close)


async def embed_owner(
    cycles: Cycles, vector_search: VectorSearch | None, database: Database, limit: int | None
) -> int:
    """Embed all memories of one owner that need a vector, or about `limit` of them. Returns how many.

    InputRefused without an embedder, Conflict if another embedder is in force.
    """
    if vector_search is None:
        raise InputRefused("there is no embedder; set GIEOK_EMBEDDER, or open Gieok with one")
    space, done = vector_search.space, 0
    while limit is None or done < limit:
        if not await is_in_force(database, vector_search):
            raise Conflict("Gieok was opened with another embedder since, which is in force now")
        unfinished = await cycles.scope.read(lambda view: view.vectors.unfinished(space, 1))
        if not unfinished:
            break
        done += await embed_batch(cycles, unfinished[0], space)
    return done


async def embed_batch(cycles: Cycles, persona_id: str, space: str) -> int:
    """Embed one batch of a persona's memories in this space. Returns how many got a vector. Idempotent."""
    await cycles.scope.write(lambda view: view.vectors.begin(persona_id, space))
    return (await cycles.output(EMBED_PLAN, KeepVectors, {"personaId": persona_id})).count


async def is_in_force(database: Database, vector_search: VectorSearch) -> bool:
    """Whether this embedder was opened last, and so makes the vectors of this database."""
    return await database.get_meta(SPACE) in (None, vector_search.space)
