"""The facade of an owner's data as a whole: export, import and erasure (`user.data`)."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from gieok.adapters.sql.lifecycle.export.owner import Imported
from gieok.adapters.sql.lifecycle.export.records import Record
from gieok.adapters.sql.lifecycle.owners import erase_owner
from gieok.adapters.sql.scope import OwnerScope, SqlView
from gieok.app.cycles import run_idempotent
from gieok.app.export_format import LineChecker, end_line, header_line, read_record, to_line
from gieok.errors import PayloadTooLarge
from gieok.memory.requests import RequestKey
from gieok.vault.spool import Spool

if TYPE_CHECKING:
    from gieok.app import Gieok

MAX_IMPORT_BYTES = 100 * 1024 * 1024
"""Default limit of an import. Preparing it takes seconds per megabyte."""
EXPORTS_AT_ONCE = 2
"""Exports that read the database at once. Each holds a connection and a snapshot meanwhile."""
CHUNK_BYTES = 64 * 1024

Report = Callable[[int, int], None]
"""Called with the number of records that are done, and the number of all records."""
Send = Callable[[bytes], None]


@dataclass(frozen=True)
class ImportResult:
    """Result of an import."""

    counts: Mapping[str, int]
    """Added records, by kind."""
    unchanged: int
    """Records that existed already."""


@dataclass(frozen=True)
class ErasureReceipt:
    """Confirmation of an erasure: deleted rows by table, and when it was finished."""

    erased: Mapping[str, int]
    key_destroyed: Literal[True]
    at: datetime


def _no_report(_done: int, _all: int) -> None:
    """Reports to nobody."""


class OwnerData:
    """All data of one owner."""

    def __init__(self, gieok: Gieok, scope: OwnerScope) -> None:
        self._gieok = gieok
        self._scope = scope

    async def export(self, report: Report = _no_report) -> AsyncGenerator[bytes]:
        """Export everything the owner has, in clear, as NDJSON in chunks of whole lines.

        The export is one snapshot: later writes are not in it. It is read as fast as the database allows and
        waits for its reader in an encrypted temporary file: an open snapshot lets the log of SQLite grow.
        Texts that are in the archive only are put back first.
        """
        now, archive = self._gieok.engine.clock(), self._gieok.archive
        if archive is not None:
            await archive.put_texts_back(self._scope.owner)
        if await self.exists():
            await self._scope.write(lambda view: view.audit.add("owner.exported", None, now))

        async def read(send: Send) -> None:
            async with self._gieok.exports:
                await self._scope.read(
                    lambda view: _send_export(view, send, now, report), heavy=True, replica=True
                )

        async with aclosing(stream_from_thread(read)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def import_(
        self,
        stream: AsyncIterable[bytes],
        *,
        max_bytes: int = MAX_IMPORT_BYTES,
        report: Report = _no_report,
        once: str | None = None,
    ) -> ImportResult:
        """Import what `export` produced, as a whole or not at all. Chunks may have any size. Idempotent.

        Records that exist already and are the same stay unchanged. InputRefused names a wrong line, Conflict
        a record that exists with other content; PayloadTooLarge beyond `max_bytes`. `once` is an idempotency
        key: repeated with the same data, it returns the same result.
        """
        cycles = self._gieok.cycles(self._scope)
        with Spool() as spool:
            count, digest = await _receive(stream, spool, max_bytes)
            now = self._gieok.engine.clock()

            async def create(request: RequestKey | None) -> ImportResult:
                def write(view: SqlView) -> ImportResult:
                    imported = _import_records(view, _read_records(spool, count, report), now)
                    result = ImportResult(dict(imported.added), imported.unchanged)
                    if request is not None:
                        cycles.save_result(view, request, json.dumps(asdict(result)))
                    return result

                return await self._scope.write(write, heavy=True)

            async def replay(stored: str) -> ImportResult:
                return ImportResult(**json.loads(stored))

            key = None if once is None else RequestKey(key=once, body=digest)
            return await run_idempotent(cycles, key, "import", create, replay)

    async def preview_import(
        self, stream: AsyncIterable[bytes], *, max_bytes: int = MAX_IMPORT_BYTES
    ) -> ImportResult:
        """What `import_` would add and leave unchanged, with the same errors. Nothing is stored."""
        with Spool() as spool:
            count, _ = await _receive(stream, spool, max_bytes)
            now = self._gieok.engine.clock()

            def write(view: SqlView) -> None:
                imported = view.transfer(now).import_(_read_records(spool, count, _no_report))
                raise _RolledBack(ImportResult(dict(imported.added), imported.unchanged))

            try:
                await self._scope.write(write, heavy=True)
            except _RolledBack as preview:
                return preview.result
            raise AssertionError("a preview ends by rolling back")

    async def exists(self) -> bool:
        """Whether the owner has ever stored anything. OwnerErased while an erasure is not finished."""
        return await self._scope.read(lambda view: view.is_known)

    async def erase(self) -> ErasureReceipt:
        """Destroy the owner's keys and delete the rows. Creating a token lets a new owner use the name."""
        gieok = self._gieok
        owner = self._scope.owner
        erased = await erase_owner(gieok.database, gieok.vault, owner, gieok.consumers, gieok.cache)
        return ErasureReceipt(erased, key_destroyed=True, at=self._gieok.engine.clock())


async def stream_from_thread(produce: Callable[[Send], Awaitable[object]]) -> AsyncGenerator[bytes]:
    """Yield the chunks that `produce` sends from a thread, which never waits for the reader.

    Closing the generator stops `produce`.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[int | None] = asyncio.Queue()
    closed = threading.Event()

    def finish(done: asyncio.Future[object]) -> None:
        if not done.cancelled():
            done.exception()  # mark it as retrieved: nobody awaits it after the generator was closed
        queue.put_nowait(None)

    with Spool() as spool:

        def send(chunk: bytes) -> None:
            if closed.is_set():
                raise _StreamClosedError
            loop.call_soon_threadsafe(queue.put_nowait, spool.append(chunk))

        producing = asyncio.ensure_future(produce(send))
        producing.add_done_callback(finish)
        try:
            while (number := await queue.get()) is not None:
                yield spool.read(number)
            await producing
        finally:
            closed.set()
            producing.cancel()


class _RolledBack(Exception):
    """Ends the transaction of a preview without storing anything."""

    def __init__(self, result: ImportResult) -> None:
        super().__init__()
        self.result = result


class _StreamClosedError(Exception):
    """Ends a producer whose stream was closed."""


def _send_export(view: SqlView, send: Send, now: datetime, report: Report) -> None:
    transfer = view.transfer(now)
    chunk, done, count = bytearray(header_line(now)), 0, transfer.count()
    for done, record in enumerate(transfer.export(), start=1):
        chunk += to_line(record)
        if len(chunk) >= CHUNK_BYTES:
            send(bytes(chunk))
            chunk.clear()
            report(done, count)
    send(bytes(chunk + end_line(done)))
    report(done, count)


async def _receive(stream: AsyncIterable[bytes], spool: Spool, max_bytes: int) -> tuple[int, bytes]:
    """Check every line on arrival and store it encrypted until the stream ends.

    Returns the record count, and a hash of the stream.
    """
    checker, size, waiting, digest = LineChecker(), 0, bytearray(), hashlib.sha256()

    def store(lines: Iterator[bytes]) -> None:
        if checked := b"".join(lines):
            spool.append(checked)

    async for chunk in stream:
        size += len(chunk)
        digest.update(chunk)
        if size > max_bytes:
            raise PayloadTooLarge(f"an import may have at most {max_bytes} bytes, and this stream is longer")
        waiting += chunk
        if len(waiting) >= CHUNK_BYTES:
            await asyncio.to_thread(store, checker.feed(bytes(waiting)))
            waiting.clear()
    await asyncio.to_thread(store, checker.feed(bytes(waiting)))
    await asyncio.to_thread(store, checker.finish())
    return checker.records, digest.digest()


def _import_records(view: SqlView, records: Iterator[tuple[int, Record]], now: datetime) -> Imported:
    imported = view.transfer(now).import_(records)
    if imported.added:
        view.audit.add("owner.imported", None, now)
    return imported


def _read_records(spool: Spool, count: int, report: Report) -> Iterator[tuple[int, Record]]:
    """Every record with its line number; line 1 was the header."""
    number = 1
    for chunk in spool.chunks():
        for line in chunk.split(b"\n")[:-1]:
            number += 1
            yield number, read_record(line)
        report(number - 1, count)
