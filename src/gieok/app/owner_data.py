"""The facade of an owner's own data: all of it out, all of it in, and all of it gone for good."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from gieok.adapters.sql.lifecycle.owners import erase_owner
from gieok.adapters.sql.lifecycle.portable.owner import Taken
from gieok.adapters.sql.lifecycle.portable.records import Record
from gieok.adapters.sql.scope import OwnerScope, SqlRooms
from gieok.app.portable.handover import Give, hand_over
from gieok.app.portable.lines import LineChecker, end_line, header_line, read_record, to_line
from gieok.errors import PayloadTooLarge
from gieok.vault.spool import Spool

if TYPE_CHECKING:
    from gieok.app import Gieok

MAX_IMPORT_BYTES = 100 * 1024 * 1024
"""The longest stream that one import takes, unless the caller says otherwise: on SQLite, other writers wait
while it is written."""
EXPORTS_AT_ONCE = 2
"""Each holds a connection, and a view of the database, for as long as its reader takes."""
PIECE_BYTES = 64 * 1024

Report = Callable[[int, int], None]
"""Hears how many records were read or written so far, and how many there are."""


@dataclass(frozen=True)
class ImportResult:
    """What an import came to."""

    counts: Mapping[str, int]
    """Records that were added, by kind."""
    unchanged: int
    """Records that were there already."""


@dataclass(frozen=True)
class ErasureReceipt:
    """That an owner was erased: how many rows went, by table, and when the last one did."""

    erased: Mapping[str, int]
    key_destroyed: Literal[True]
    at: datetime


def _unheard(_done: int, _all: int) -> None:
    """Nobody watches."""


class OwnerData:
    """Everything of one owner."""

    def __init__(self, gieok: Gieok, scope: OwnerScope) -> None:
        self._gieok = gieok
        self._scope = scope

    async def export(self, report: Report = _unheard) -> AsyncGenerator[bytes]:
        """Everything the owner has, in clear, as NDJSON in pieces of whole lines.

        All of it is of one moment: what is written meanwhile is not in it. StoreUnavailable where nothing
        was taken from the stream for half a minute.
        """
        now = self._gieok.engine.clock()
        if await self.exists():
            await self._scope.write(lambda rooms: rooms.audit.add("owner.exported", None, now))

        async def read(give: Give) -> None:
            await self._scope.read(lambda rooms: _write_out(rooms, give, now, report))

        async with self._gieok.exports, aclosing(hand_over(read)) as pieces:
            async for piece in pieces:
                yield piece

    async def bring_in(
        self, stream: AsyncIterable[bytes], *, max_bytes: int = MAX_IMPORT_BYTES, report: Report = _unheard
    ) -> ImportResult:
        """Take a stream that `export` made: all of it, or nothing of it. Pieces may be of any size.

        What is there already and the same stays as it is. InputRefused names the line that is wrong, and
        Conflict one that is there and says something else; PayloadTooLarge beyond `max_bytes`.
        """
        with Spool() as spool:
            count = await _receive(stream, spool, max_bytes)
            now = self._gieok.engine.clock()
            records = _records(spool, count, report)
            taken = await self._scope.write(lambda rooms: _take_in(rooms, records, now))
        return ImportResult(dict(taken.added), taken.unchanged)

    async def exists(self) -> bool:
        """Whether the owner has ever stored anything here. OwnerErased after an erasure that is under way."""
        return await self._scope.read(lambda rooms: rooms.is_known)

    async def erase(self) -> ErasureReceipt:
        """Destroy the owner's keys and rows for good. The name is not used again."""
        erased = await erase_owner(self._gieok.database, self._gieok.vault, self._scope.owner)
        return ErasureReceipt(erased, key_destroyed=True, at=self._gieok.engine.clock())


def _write_out(rooms: SqlRooms, give: Give, now: datetime, report: Report) -> None:
    portable = rooms.portable(now)
    piece, done, count = bytearray(header_line(now)), 0, portable.count()
    for done, record in enumerate(portable.records(), start=1):
        piece += to_line(record)
        if len(piece) >= PIECE_BYTES:
            give(bytes(piece))
            piece.clear()
            report(done, count)
    give(bytes(piece + end_line(done)))
    report(done, count)


async def _receive(stream: AsyncIterable[bytes], spool: Spool, max_bytes: int) -> int:
    """Check every line as it comes and keep it, sealed, until all of them are here. How many records."""
    checker, size, waiting = LineChecker(), 0, bytearray()

    def keep(lines: Iterator[bytes]) -> None:
        if checked := b"".join(lines):
            spool.append(checked)

    async for piece in stream:
        size += len(piece)
        if size > max_bytes:
            raise PayloadTooLarge(f"an import takes at most {max_bytes} bytes, and this stream is longer")
        waiting += piece
        if len(waiting) >= PIECE_BYTES:
            await asyncio.to_thread(keep, checker.feed(bytes(waiting)))
            waiting.clear()
    await asyncio.to_thread(keep, checker.feed(bytes(waiting)))
    await asyncio.to_thread(keep, checker.finish())
    return checker.records


def _take_in(rooms: SqlRooms, records: Iterator[tuple[int, Record]], now: datetime) -> Taken:
    taken = rooms.portable(now).take(records)
    if taken.added:
        rooms.audit.add("owner.imported", None, now)
    return taken


def _records(spool: Spool, count: int, report: Report) -> Iterator[tuple[int, Record]]:
    """Every record with the number of its line; the header was the first."""
    number = 1
    for piece in spool.chunks():
        for line in piece.split(b"\n")[:-1]:
            number += 1
            yield number, read_record(line)
        report(number - 1, count)
