"""SQLite: one writer thread that group-commits many units of work, and readers.

A read runs on the calling thread, because a few rows by their keys take less time than the way to another
thread and back. Heavy reads, and reads that would have to wait for a lock, go to a pool of reader threads.
"""

from __future__ import annotations

import asyncio
import os
import threading
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import apsw

from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.driver.database import (
    DEFAULT_LIMITS,
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
from gieok.adapters.sql.driver.migrations import Migration, load_migrations, pending
from gieok.adapters.sql.driver.queries import Dialect, load_queries, load_system_queries
from gieok.adapters.sql.driver.sqlite_errors import explain
from gieok.adapters.sql.driver.units import Crew, Unit
from gieok.errors import StoreUnavailable

T = TypeVar("T")

_GET_META = "SELECT value FROM meta WHERE key = :key"
_SET_META = "INSERT INTO meta VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
_LISTS = (list, tuple)
_READS_A_LIST = "carray("
_SYNCHRONOUS: tuple[str, ...] = ("off", "normal", "full", "extra")


class SqliteSession:
    """A connection of apsw as a `Session`. A list is bound as it is, and read in place."""

    dialect: Dialect = "sqlite"

    def __init__(self, connection: sqlite_file.Connection) -> None:
        self.connection = connection

    def fetch(self, sql: str, params: Mapping[str, Value]) -> list[Row]:
        return self.connection.execute(sql, _bind(sql, params)).fetchall()

    def execute(self, sql: str, params: Mapping[str, Value]) -> int:
        self.connection.execute(sql, _bind(sql, params))
        return self.connection.changes()

    def execute_many(self, sql: str, rows: Sequence[Mapping[str, Value]]) -> None:
        self.connection.executemany(sql, [_bind(sql, row) for row in rows])

    def begin(self, sql: str) -> None:
        """Open a transaction. One that could not be ended before ends now: a connection is not given up."""
        self.roll_back()
        self.control(sql)

    def control(self, sql: str) -> None:
        """Commit, roll back, savepoints."""
        self.connection.execute(sql)

    def roll_back(self) -> None:
        """End the transaction if SQLite has not ended it itself, as it does when the disk is full."""
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")


def _bind(sql: str, params: Mapping[str, Value]) -> Mapping[str, Any]:
    if _READS_A_LIST not in sql:
        return params
    lists = {name: _carray(value) for name, value in params.items() if isinstance(value, _LISTS)}
    return {**params, **lists}


def _carray(values: Sequence[int] | Sequence[str] | Sequence[bytes]) -> apsw.CArrayBinding | None:
    """A list as SQLite reads it in place. There is no empty one: None has no members either."""
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
        self._known = load_migrations("sqlite") if migrations is None else migrations
        self._queries = load_queries("sqlite")
        self._system_queries = load_system_queries("sqlite")
        self._explain = partial(explain, place=str(self.path))
        try:
            self._open(limits)
        except apsw.Error as error:
            raise self._explain(error) from None

    def _open(self, limits: Limits) -> None:
        sqlite_file.prepare(self.path, self._known, limits.lock_seconds)
        self._inode = self.path.stat().st_ino
        writer = SqliteSession(sqlite_file.connect(self.path, limits.lock_seconds))
        readers = [
            SqliteSession(sqlite_file.connect(self.path, limits.lock_seconds, read_only=True))
            for _ in range(limits.readers)
        ]
        self._inline = SqliteSession(sqlite_file.connect(self.path, 0, read_only=True))
        self._inline_lock = threading.Lock()
        self._connections = [session.connection for session in (self._inline, *readers, writer)]
        self._writer = Crew(
            "writer",
            [partial(commit_together, writer)],
            self._explain,
            batch=limits.batch_units,
            waiting=limits.waiting_units,
        )
        self._readers = Crew(
            "reader",
            [partial(_read_each, reader) for reader in readers],
            self._explain,
            batch=1,
            waiting=limits.waiting_units,
        )

    async def read(self, owner: str, work: Callable[[Tx], T], *, heavy: bool = False) -> T:
        return await self._read(owner, scoped(owner, work, self._queries), heavy=heavy)

    async def write(self, owner: str, work: Callable[[Tx], T]) -> T:
        return await self._writer.do(owner, scoped(owner, work, self._queries), writes=True)

    async def system(self, work: Callable[[SystemTx], T]) -> T:
        crossing = across_owners(work, self._system_queries)
        return await self._writer.do(None, crossing, writes=True)

    async def system_read(self, work: Callable[[SystemTx], T]) -> T:
        return await self._read(None, across_owners(work, self._system_queries), heavy=False)

    async def get_meta(self, key: str) -> str | None:
        rows = await self._readers.do(
            None, lambda session: session.fetch(_GET_META, {"key": key}), writes=False
        )
        return rows[0][0] if rows else None

    async def set_meta(self, key: str, value: str) -> None:
        await self._writer.do(
            None, lambda session: session.execute(_SET_META, {"key": key, "value": value}), writes=True
        )

    async def check(self) -> None:
        try:
            await self._writer.do(None, self._probe, writes=True)
        except _ProbeSucceededError:
            return

    async def status(self) -> DatabaseStatus:
        return await self._readers.do(None, self._status, writes=False)

    async def close(self) -> None:
        self._inline_lock.acquire(blocking=False)  # taken for good: from now on reads go to closed threads
        await self._readers.close()
        await self._writer.close()
        for connection in self._connections:
            await asyncio.to_thread(connection.close)

    async def _read(self, owner: str | None, work: Callable[[Session], T], *, heavy: bool) -> T:
        if not heavy and self._inline_lock.acquire(blocking=False):
            try:
                return _read_once(self._inline, work)
            except apsw.BusyError:
                pass  # the file is locked: a reader thread may wait for it, this thread may not
            except apsw.Error as error:
                raise self._explain(error) from None
            finally:
                self._inline_lock.release()
        return await self._readers.do(owner, work, writes=False)

    def _probe(self, session: Session) -> None:
        """Write a row and have it rolled back; then ask the disk, which a rolled back row does not reach."""
        session.execute(_SET_META, {"key": "probe", "value": ""})
        try:
            same = self.path.stat().st_ino == self._inode
            disk = os.statvfs(self.path)
        except OSError:
            same, disk = False, None
        if not same or disk is None:
            raise StoreUnavailable(f"{self.path} was removed or replaced while it was open; restart Gieok")
        if disk.f_bavail == 0:
            raise StoreUnavailable(f"the disk of {self.path} is full; free some space, then try again")
        raise _ProbeSucceededError

    def _status(self, session: Session) -> DatabaseStatus:
        return _read_status(cast(SqliteSession, session).connection, self.path, self._known)


def find_sqlite(path: Path, limits: Limits = DEFAULT_LIMITS) -> DatabaseStatus | None:
    """The status of the file at `path`, which is neither made nor migrated; None when nothing is there."""
    if not sqlite_file.is_there(path):
        return None
    try:
        connection = sqlite_file.connect(path, limits.lock_seconds, read_only=True)
        try:
            return _read_status(connection, path.absolute(), load_migrations("sqlite"))
        finally:
            connection.close()
    except apsw.Error as error:
        raise explain(error, str(path)) from None


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


class _ProbeSucceededError(Exception):
    """Raised by the probe so that its row is rolled back."""


def commit_together(session: SqliteSession, units: list[Unit[object]]) -> None:
    """Run each unit in a savepoint of its own and sync once for all. Nobody is answered before the commit.

    A unit that fails is undone alone. A failing commit, or a transaction that SQLite itself has ended, fails
    every unit of the batch. A single unit needs no savepoint, which would cost it a tenth of its time.
    """
    run = _run_alone if len(units) == 1 else _run_in_savepoint
    try:
        session.begin("BEGIN IMMEDIATE")
        for unit in units:
            run(session, unit)
        session.control("COMMIT")
    except BaseException:
        session.roll_back()
        raise


def _run_alone(session: SqliteSession, unit: Unit[object]) -> None:
    unit.run(session)
    if unit.error is not None:
        raise unit.error


def _run_in_savepoint(session: SqliteSession, unit: Unit[object]) -> None:
    session.control("SAVEPOINT unit")
    unit.run(session)
    if unit.error is not None:
        if not session.connection.in_transaction:
            raise unit.error  # SQLite ended the whole transaction: the units before this one are gone too
        session.control("ROLLBACK TO unit")
    session.control("RELEASE unit")


def _read_once(session: SqliteSession, work: Callable[[Session], T]) -> T:
    session.begin("BEGIN")
    try:
        return work(session)
    finally:
        session.roll_back()


def _read_each(session: SqliteSession, units: list[Unit[object]]) -> None:
    for unit in units:
        session.begin("BEGIN")
        unit.run(session)
        session.roll_back()
