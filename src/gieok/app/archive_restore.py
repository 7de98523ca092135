"""Restore from the archive, and detach it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import astuple, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from gieok.adapters.copies import ARCHIVE, Copy, Key, MessageCopy, SummaryCopy
from gieok.adapters.mongo.archive import MongoArchive, MongoCopies
from gieok.adapters.sql.lifecycle.owners import all_owners
from gieok.adapters.sql.scope import OwnerScope, SqlView
from gieok.adapters.sql.stores.archive import SqlRows
from gieok.errors import Conflict, NotFound, StoreDamaged

if TYPE_CHECKING:
    from gieok.app import Gieok

C = TypeVar("C", bound=Copy)
Rows = Callable[[SqlView], SqlRows[C]]
BATCH = 200
"""Rows that are copied, compared or moved at once."""
PLAN = "chat_turn"
"""The plan of a session that is started again by a restore."""


def messages_of(view: SqlView) -> SqlRows[MessageCopy]:
    return view.archive.messages


def summaries_of(view: SqlView) -> SqlRows[SummaryCopy]:
    return view.archive.summaries


@dataclass(frozen=True)
class Restored:
    """What a restore has brought back, as counts."""

    texts: int = 0
    """Messages whose text was in the archive only."""
    messages: int = 0
    """Messages that the database did not have."""
    summaries: int = 0
    """Memories that the database did not have."""
    skipped: int = 0
    """Messages that could not be brought back: their persona is gone, their session has ended, or messages
    before them are missing."""

    def __add__(self, other: Restored) -> Restored:
        return Restored(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))


async def restore_owner(gieok: Gieok, mongo: MongoArchive, owner: str) -> Restored:
    scope = gieok.scope(owner)
    await asyncio.to_thread(gieok.vault.keys, owner)  # NotFound: a write would create an owner of this name
    if await scope.read(lambda view: view.events.pending(ARCHIVE, 1)):
        raise Conflict(f"events of owner '{owner}' are not delivered yet; let a worker run, and try again")
    texts = await put_texts_back(scope, mongo)
    messages = skipped = 0
    async for lost in _lost(scope, messages_of, mongo.messages):
        for session_ref, some in groupby(lost, key=lambda copy: copy.session_ref):
            copies = list(some)
            try:
                messages += await _append(gieok, owner, session_ref, copies)
            except (NotFound, Conflict):
                skipped += len(copies)
    summaries = 0
    async for lost in _lost(scope, summaries_of, mongo.summaries):
        await scope.write(lambda view, lost=lost: _save_memories(view, lost))
        summaries += len(lost)
    await _overwrite(scope, messages_of, mongo.messages)
    await _overwrite(scope, summaries_of, mongo.summaries)
    return Restored(texts, messages, summaries, skipped)


async def put_texts_back(scope: OwnerScope, mongo: MongoArchive) -> int:
    """Put all texts of an owner back into the database. Returns how many."""
    texts = 0
    while keys := await scope.read(lambda view: view.archive.archived_texts(BATCH)):
        copies = await mongo.messages.get(scope.owner, keys)
        if len(copies) < len(keys):
            raise StoreDamaged("texts are missing in the archive; `gieok archive verify` lists them")
        texts += await scope.write(lambda view, keys=keys, copies=copies: view.archive.put_back(keys, copies))
    return texts


async def _lost(scope: OwnerScope, rows: Rows[C], copies: MongoCopies[C]) -> AsyncIterator[list[C]]:
    """The copies of rows that the database does not have, page by page."""
    after = Key()
    while page := await copies.page(scope.owner, after, BATCH):
        keys = {copy.key for copy in page}
        existing = (await scope.read(lambda view, keys=keys: rows(view).revisions(keys))).rows
        if lost := [copy for copy in page if copy.key not in existing]:
            yield lost
        after = page[-1].key


async def _append(gieok: Gieok, owner: str, session_ref: str, copies: Sequence[MessageCopy]) -> int:
    """Append lost messages to their session, which is started again if it is lost too. Returns how many.

    Raises NotFound for a lost persona, Conflict if the session has ended or messages before them are missing.
    """
    scope, persona_id = gieok.scope(owner), copies[0].persona_id
    if persona_id is not None and await scope.read(lambda view: view.sessions.get(session_ref)) is None:
        await gieok.user(owner).sessions.start(persona_id, plan=PLAN, session_ref=session_ref)

    def append(view: SqlView) -> int:
        length = view.sessions.lock(session_ref).log_length
        if [copy.seq for copy in copies] != list(range(length + 1, length + len(copies) + 1)):
            raise Conflict("messages before these are missing")
        return view.archive.append(copies)

    return await scope.write(append)


def _save_memories(view: SqlView, copies: Sequence[SummaryCopy]) -> None:
    by_persona = sorted(copies, key=lambda copy: copy.persona_id)
    for _, some in groupby(by_persona, key=lambda copy: copy.persona_id):
        view.companion.save([view.archive.memory(copy) for copy in some])


async def _overwrite(scope: OwnerScope, rows: Rows[C], copies: MongoCopies[C]) -> None:
    """Write all copies again, whatever their revision: a restored database counts from an older one."""
    after = Key()
    while page := await scope.read(lambda view, after=after: rows(view).page(after, BATCH), heavy=True):
        await copies.put(scope.owner, page, force=True)
        after = page[-1].key


async def detach(gieok: Gieok) -> int:
    """Forget the archive, so that the database can be used without it, or with a new one. Returns the number
    of owners who had one.

    Raises Conflict while this process is configured for the archive, or a message has its text there only.
    """
    if gieok.archive is not None:
        raise Conflict(
            "GIEOK_ARCHIVE_URL is set; stop all processes that use the archive, and unset it first"
        )
    owners = await all_owners(gieok.database)
    for owner in owners:
        if await gieok.scope(owner).read(lambda view: view.archive.archived_texts(1)):
            raise Conflict("messages have their text in the archive only; run `gieok archive restore` first")
    detached = [
        await gieok.scope(owner).write(lambda view: view.events.unregister(ARCHIVE)) for owner in owners
    ]
    await gieok.database.set_meta(ARCHIVE, "")
    return sum(detached)
