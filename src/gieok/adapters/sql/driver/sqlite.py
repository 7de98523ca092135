"""SQLite: one writer thread with group commit, and reads on the calling thread or on reader threads.

A heavy write runs on a thread of its own, on a copy of the owner's rows, and is committed in parts if it is
large: see `sqlite_copy` and `sqlite_staging`.

A read runs on the calling thread, because reading a few rows takes less time than a hop to another thread.
Heavy reads, and reads that would have to wait for a lock, go to a pool of reader threads.
"""

from __future__ import annotations

import asyncio
import os
import threading
from array import array
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar, cast

import apsw

from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.driver.database import (
    DEFAULT_LIMITS,
    ChangedTooOften,
    DatabaseStatus,
    Limits,
    Row,
    Session,
    SystemTx,
    Tx,
    Value,
    across_owners,
    scoped,
)
from gieok.adapters.sql.driver.migrations import (
    SCHEMA_VERSION,
    Migration,
    load_migrations,
    newer_schema,
    pending,
)
from gieok.adapters.sql.driver.queries import Dialect, load_queries, load_system_queries
from gieok.adapters.sql.driver.sqlite_copy import OwnerChanges, run_on_copy
from gieok.adapters.sql.driver.sqlite_file import translate_error
from gieok.adapters.sql.driver.sqlite_staging import (
    ChangedMeanwhileError,
    StagedCommit,
    UnfinishedCommitError,
    advance,
    apply_at_once,
    check_finished,
)
from gieok.adapters.sql.driver.thread_pool import ThreadPool, WorkItem
from gieok.errors import GieokError, OutcomeUnknown, StoreUnavailable

T = TypeVar("T")

COPY_ATTEMPTS = 3
"""How often a heavy write is repeated because the owner's rows were changed in the meantime."""
HELP_SECONDS = 0.02
"""How often a transaction looks whether a commit that another task of this process applies is finished."""

_NO_SESSION = cast(Session, None)
_GET_META = "SELECT value FROM meta WHERE key = :key"
_SET_META = "INSERT INTO meta VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
_LISTS = (list, tuple)
_TAKES_A_LIST = "carray("
_SYNCHRONOUS: tuple[str, ...] = ("off", "normal", "full", "extra")


class SqliteSession:
    """A connection of apsw as a `Session`. Lists are bound with SQLite's carray extension."""

    dialect: Dialect = "sqlite"

    def __init__(self, connection: sqlite_file.Connection) -> None:
        self.connection = connection

    def fetch(self, sql: str, params: Mapping[str, Value]) -> list[Row]:
        cursor = self.connection.execute(sql, _bind(sql, params))
        try:
            return cursor.fetchall()
        except BaseException:
            cursor.close(True)  # an unfinished INSERT … RETURNING would block every later commit
            raise

    def execute(self, sql: str, params: Mapping[str, Value]) -> int:
        self.connection.execute(sql, _bind(sql, params))
        return self.connection.changes()

    def execute_many(self, sql: str, rows: Sequence[Mapping[str, Value]]) -> None:
        self.connection.executemany(sql, [_bind(sql, row) for row in rows])

    def begin(self, sql: str) -> None:
        """Begin a transaction. One that could not be ended before is rolled back first."""
        self.roll_back()
        self.control(sql)

    def control(self, sql: str) -> None:
        """Run COMMIT, SAVEPOINT and the like."""
        self.connection.execute(sql)

    def roll_back(self) -> None:
        """Roll back, unless SQLite did it by itself, for example because the disk is full."""
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")


def _bind(sql: str, params: Mapping[str, Value]) -> Mapping[str, Any]:
    if _TAKES_A_LIST not in sql:
        return params
    lists = {name: _carray(value) for name, value in params.items() if isinstance(value, _LISTS)}
    return {**params, **lists}


def _carray(values: Sequence[int] | Sequence[str] | Sequence[bytes]) -> apsw.CArrayBinding | None:
    """Bind a list. An empty carray does not exist; NULL has no members either."""
    if not values:
        return None
    if isinstance(values[0], int):
        return apsw.carray(array("q", cast("Sequence[int]", values)))
    return apsw.carray(tuple(cast("Sequence[str]", values)))


class SqliteDatabase:
    """A `Database` in one file. Several processes may share it."""

    dialect: Dialect = "sqlite"

    def __init__(
        self, path: Path, limits: Limits = DEFAULT_LIMITS, migrations: Sequence[Migration] | None = None
    ) -> None:
        self.path = path.absolute()
        self._migrations = load_migrations("sqlite") if migrations is None else migrations
        self._queries = load_queries("sqlite")
        self._system_queries = load_system_queries("sqlite")
        self._translate_error = partial(translate_error, place=str(self.path))
        try:
            self._open(limits)
        except apsw.Error as error:
            raise self._translate_error(error) from None

    def _open(self, limits: Limits) -> None:
        sqlite_file.prepare(self.path, self._migrations, limits.lock_seconds)
        self._file = sqlite_file.OpenedFile(self.path)
        writer = SqliteSession(sqlite_file.connect(self.path, limits.lock_seconds))
        readers = [
            SqliteSession(sqlite_file.connect(self.path, limits.lock_seconds, read_only=True))
            for _ in range(limits.readers)
        ]
        self._inline = SqliteSession(sqlite_file.connect(self.path, 0, read_only=True))
        self._inline_lock = threading.Lock()
        self._closed = False
        self._finishing: set[str] = set()
        """Owners whose commits a task of this process is applying."""
        self._connections = [session.connection for session in (self._inline, *readers, writer)]
        self._writer = ThreadPool(
            "writer",
            [partial(_commit_batch, writer, self._file, len(self._migrations))],
            self._translate_error,
            batch_size=limits.batch_units,
            queue_size=limits.waiting_units,
        )
        self._readers = ThreadPool(
            "reader",
            [partial(_read_batch, reader) for reader in readers],
            self._translate_error,
            batch_size=1,
            queue_size=limits.waiting_units,
        )
        self._copier = ThreadPool(
            "copier", [_run_batch], self._translate_error, batch_size=1, queue_size=limits.waiting_units
        )

    async def read(
        self, owner: str, work: Callable[[Tx], T], *, heavy: bool = False, replica: bool = False
    ) -> T:
        run = self._scoped(owner, work)
        while True:
            try:
                return await self._read(owner, run, heavy=heavy)
            except UnfinishedCommitError:
                await self._finish_commit(owner)

    async def write(self, owner: str, work: Callable[[Tx], T], *, heavy: bool = False) -> T:
        if heavy:
            return await self._write_on_copy(owner, scoped(owner, work, self._queries))
        return await self._write(owner, self._scoped(owner, work))

    def _scoped(self, owner: str, work: Callable[[Tx], T]) -> Callable[[Session], T]:
        run = scoped(owner, work, self._queries)

        def check_and_run(session: Session) -> T:
            check_finished(session, owner)
            return run(session)

        return check_and_run

    async def _write(self, owner: str, work: Callable[[Session], T]) -> T:
        while True:
            try:
                return await self._writer.run(owner, work, writes=True)
            except UnfinishedCommitError:
                await self._finish_commit(owner)

    async def _write_on_copy(self, owner: str, work: Callable[[Session], T]) -> T:
        """Run the work on a copy of the owner's rows, then commit its changes, in parts if they are large."""

        def run(_: Session) -> tuple[T, OwnerChanges]:
            return run_on_copy(self.path, owner, lambda connection: work(SqliteSession(connection)))

        for _ in range(COPY_ATTEMPTS):
            try:
                result, changes = await self._copier.run(owner, run, writes=False)
            except UnfinishedCommitError:
                await self._finish_commit(owner)
                continue
            try:
                await _uncancelled(self._commit_changes(owner, changes))
            except ChangedMeanwhileError:
                continue
            finally:
                changes.close()
            return result
        raise ChangedTooOften("other requests of this owner changed the same data in the meantime; try again")

    async def _commit_changes(self, owner: str, changes: OwnerChanges) -> None:
        parts = changes.parts()
        first = await asyncio.to_thread(next, parts)
        second = await asyncio.to_thread(next, parts, None)
        if second is None:
            await self._write(owner, lambda session: apply_at_once(session, owner, changes.guard, first))
            return
        commit = StagedCommit(owner)
        try:
            await self._stage(commit, chain((first, second), parts))
            await self._write(owner, lambda session: commit.hold(session, changes.guard))
            try:
                await self._finish_commit(owner)
                await self._read(owner, commit.check_stored, heavy=True)
            except StoreUnavailable as error:
                raise OutcomeUnknown(
                    f"the commit is finished later, with the next request: {error}"
                ) from None
        finally:
            with suppress(GieokError):  # the rows that remain are deleted by a later commit
                await self._delete_staged(commit)

    async def _stage(self, commit: StagedCommit, parts: Iterator[bytes]) -> None:
        await self._writer.run(commit.owner, commit.begin, writes=True)
        while (part := await asyncio.to_thread(next, parts, None)) is not None:
            await self._paced(commit.owner, partial(commit.add, changes=part))

    async def _delete_staged(self, commit: StagedCommit) -> None:
        while await self._paced(commit.owner, commit.delete_part):
            pass

    async def _finish_commit(self, owner: str) -> None:
        """Apply the rest of the commit that holds the owner. Any task of any process may do so."""
        if owner in self._finishing:
            await asyncio.sleep(HELP_SECONDS)
            return
        self._finishing.add(owner)
        try:
            while await self._paced(owner, lambda session: advance(session, owner)):
                pass
        finally:
            self._finishing.discard(owner)

    async def _paced(self, owner: str, work: Callable[[Session], T]) -> T:
        """A write of many in a row: pauses as long as it took, so that other processes get the lock too."""
        begun = monotonic()
        result = await self._writer.run(owner, work, writes=True)
        await asyncio.sleep(monotonic() - begun)
        return result

    async def system(self, work: Callable[[SystemTx], T]) -> T:
        return await self._writer.run(None, across_owners(work, self._system_queries), writes=True)

    async def system_read(self, work: Callable[[SystemTx], T], *, replica: bool = False) -> T:
        return await self._read(None, across_owners(work, self._system_queries), heavy=False)

    async def get_meta(self, key: str) -> str | None:
        rows = await self._readers.run(
            None, lambda session: session.fetch(_GET_META, {"key": key}), writes=False
        )
        return rows[0][0] if rows else None

    async def set_meta(self, key: str, value: str) -> None:
        await self._writer.run(
            None, lambda session: session.execute(_SET_META, {"key": key, "value": value}), writes=True
        )

    async def check(self) -> None:
        try:
            await self._writer.run(None, self._probe, writes=True)
        except _ProbeSucceededError:
            return

    async def status(self) -> DatabaseStatus:
        return await self._readers.run(None, self._status, writes=False)

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._inline_lock.acquire()  # waits for a read of another thread; later reads go to the pool
        await self._readers.close()
        await self._copier.close()
        await self._writer.close()
        for connection in self._connections:
            await asyncio.to_thread(connection.close)

    async def _read(self, owner: str | None, work: Callable[[Session], T], *, heavy: bool) -> T:
        if not heavy and self._inline_lock.acquire(blocking=False):
            try:
                return _read_once(self._inline, work)
            except apsw.BusyError:
                pass  # the file is locked: only a reader thread may wait for it
            except apsw.Error as error:
                raise self._translate_error(error) from None
            finally:
                self._inline_lock.release()
        return await self._readers.run(owner, work, writes=False)

    def _probe(self, session: Session) -> None:
        """Write a row that is rolled back, and check the file and the free space of its disk."""
        session.execute(_SET_META, {"key": "probe", "value": ""})
        self._file.check()
        if os.statvfs(self.path).f_bavail == 0:
            raise StoreUnavailable(f"the disk of {self.path} is full; free some space, then try again")
        raise _ProbeSucceededError

    def _status(self, session: Session) -> DatabaseStatus:
        return _read_status(cast(SqliteSession, session).connection, self.path, self._migrations)


def find_sqlite(path: Path, limits: Limits = DEFAULT_LIMITS) -> DatabaseStatus | None:
    """The status of the database at `path`, without creating or migrating it; None if it does not exist."""
    if not sqlite_file.database_exists(path):
        return None
    try:
        connection = sqlite_file.connect(path, limits.lock_seconds, read_only=True)
        try:
            return _read_status(connection, path.absolute(), load_migrations("sqlite"))
        finally:
            connection.close()
    except apsw.Error as error:
        raise translate_error(error, str(path)) from None


def _read_status(
    connection: sqlite_file.Connection, path: Path, known: Sequence[Migration]
) -> DatabaseStatus:
    ledger = sqlite_file.read_ledger(connection)
    return DatabaseStatus(
        url=f"sqlite:///{path}",
        dialect="sqlite",
        version=apsw.sqlite_lib_version(),
        schema_version=len(ledger),
        latest_version=len(known),
        pending=len(pending(known, ledger, str(path))),
        size_bytes=connection.pragma("page_count") * connection.pragma("page_size"),
        journal_mode=connection.pragma("journal_mode"),
        synchronous=_SYNCHRONOUS[int(connection.pragma("synchronous"))],
    )


async def _uncancelled(commit: Coroutine[Any, Any, None]) -> None:
    """Await a commit to its end, also if the caller is cancelled: its true outcome is reported."""
    task = asyncio.ensure_future(commit)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait((task,))
    task.result()


class _ProbeSucceededError(Exception):
    """Raised by the probe so that its row is rolled back."""


def _commit_batch(
    session: SqliteSession, file: sqlite_file.OpenedFile, known: int, items: list[WorkItem[object]]
) -> None:
    """Group commit: run each item in its own savepoint, then commit all of them with one sync.

    An item that fails is rolled back alone. A failing commit, or a transaction that SQLite ended by itself,
    fails every item of the batch. A single item needs no savepoint, which would take a tenth of its time.
    Nothing is written to a schema that is newer than the `known` one.
    """
    run = _run_alone if len(items) == 1 else _run_in_savepoint
    try:
        session.begin("BEGIN IMMEDIATE")
        _check_schema(session, known)
        for item in items:
            run(session, item)
        file.check()
        session.control("COMMIT")
    except BaseException:
        session.roll_back()
        raise


def _check_schema(session: SqliteSession, known: int) -> None:
    version = session.fetch(SCHEMA_VERSION, {})[0][0]
    if version > known:
        raise newer_schema(version, known)


def _run_alone(session: SqliteSession, item: WorkItem[object]) -> None:
    item.run(session)
    if item.error is not None:
        raise item.error


def _run_in_savepoint(session: SqliteSession, item: WorkItem[object]) -> None:
    session.control("SAVEPOINT unit")
    item.run(session)
    if item.error is not None:
        if not session.connection.in_transaction:
            raise item.error  # SQLite ended the whole transaction: the items before this one are lost too
        session.control("ROLLBACK TO unit")
    session.control("RELEASE unit")


def _read_once(session: SqliteSession, work: Callable[[Session], T]) -> T:
    session.begin("BEGIN")
    try:
        return work(session)
    finally:
        session.roll_back()


def _run_batch(items: list[WorkItem[object]]) -> None:
    """Run items that open a connection of their own."""
    for item in items:
        item.run(_NO_SESSION)


def _read_batch(session: SqliteSession, items: list[WorkItem[object]]) -> None:
    for item in items:
        session.begin("BEGIN")
        item.run(session)
        session.roll_back()
