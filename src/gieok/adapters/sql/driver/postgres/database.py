"""PostgreSQL behind the port `Database`: threads with one connection each.

The threads are the connection pool. A thread connects when it first has work, and again after its connection
was lost. While the server is down, callers get an error at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar, cast

import psycopg
from psycopg.errors import DeadlockDetected, SerializationFailure

from gieok.adapters.sql.driver.database import (
    DEFAULT_LIMITS,
    DatabaseStatus,
    Limits,
    Session,
    SystemTx,
    Tx,
    across_owners,
    scoped,
)
from gieok.adapters.sql.driver.migrations import Migration, load_migrations, pending
from gieok.adapters.sql.driver.postgres.errors import translate_error
from gieok.adapters.sql.driver.postgres.replica import Replica, ReplicaNotReadyError
from gieok.adapters.sql.driver.postgres.schema import count_partitions, prepare_schema, read_ledger
from gieok.adapters.sql.driver.postgres.session import TO_READ, PostgresSession, without_password
from gieok.adapters.sql.driver.queries import Dialect, load_queries, load_system_queries
from gieok.adapters.sql.driver.thread_pool import ThreadPool, WorkItem

T = TypeVar("T")

DEADLOCK_ATTEMPTS = 5
"""How often a transaction is run that ends in a deadlock."""
_AS_WORKER = "SELECT set_config('gieok.worker', 'on', true)"
"""For one transaction. Row-level security then shows the jobs and tokens of every owner, and nothing else."""
_GET_META = "SELECT value FROM meta WHERE key = %(key)s"
_SET_META = (
    "INSERT INTO meta VALUES (%(key)s, %(value)s) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
)
_STATUS = """
SELECT current_setting('server_version'), pg_database_size(current_database()), rolname,
       rolsuper OR rolbypassrls
FROM pg_roles WHERE rolname = current_user"""


class PostgresDatabase:
    """A `Database` in the schema `gieok` of a PostgreSQL server. Any number of processes may share it."""

    dialect: Dialect = "postgres"

    def __init__(
        self,
        url: str,
        limits: Limits = DEFAULT_LIMITS,
        migrations: Sequence[Migration] | None = None,
        partitions: int = 0,
        read_url: str | None = None,
    ) -> None:
        """A new database gets so many `partitions`. `read_url` is that of a read replica."""
        self.url = without_password(url)
        self._migrations = load_migrations("postgres") if migrations is None else migrations
        self._queries = load_queries("postgres")
        self._translate_error = partial(translate_error, place=self.url)
        self._limits = limits
        self._prepare(PostgresSession(url, limits), partitions)
        known = len(self._migrations)
        self._sessions = [PostgresSession(url, limits, known) for _ in range(limits.connections)]
        self._pool = ThreadPool(
            "postgres",
            [partial(_run_batch, session) for session in self._sessions],
            self._translate_error,
            batch_size=1,
            queue_size=limits.waiting_units,
        )

        self._replica = Replica(read_url, url, limits) if read_url else None

    def _prepare(self, session: PostgresSession, partitions: int) -> None:
        try:
            prepare_schema(session, self._migrations, self.url, partitions)
        except psycopg.Error as error:
            raise self._translate_error(error) from None
        finally:
            session.close()

    async def read(
        self, owner: str, work: Callable[[Tx], T], *, heavy: bool = False, replica: bool = False
    ) -> T:
        run = scoped(owner, work, self._queries)
        if replica and self._replica is not None:
            with suppress(ReplicaNotReadyError):
                return await self._replica.read(owner, run, once=heavy)
        return await self._pool.run(owner, run, writes=False)

    async def write(self, owner: str, work: Callable[[Tx], T], *, heavy: bool = False) -> T:
        return await self._pool.run(owner, scoped(owner, work, self._queries), writes=True)

    async def system(self, work: Callable[[SystemTx], T]) -> T:
        crossing = across_owners(work, load_system_queries("postgres"), _AS_WORKER)
        return await self._pool.run(None, crossing, writes=True)

    async def system_read(self, work: Callable[[SystemTx], T], *, replica: bool = False) -> T:
        crossing = across_owners(work, load_system_queries("postgres"), _AS_WORKER)
        if replica and self._replica is not None:
            with suppress(ReplicaNotReadyError):
                return await self._replica.read(None, crossing, once=False)
        return await self._pool.run(None, crossing, writes=False)

    async def get_meta(self, key: str) -> str | None:
        rows = await self._pool.run(
            None, lambda session: session.fetch(_GET_META, {"key": key}), writes=False
        )
        return rows[0][0] if rows else None

    async def set_meta(self, key: str, value: str) -> None:
        await self._pool.run(
            None, lambda session: session.execute(_SET_META, {"key": key, "value": value}), writes=True
        )

    async def check(self) -> None:
        try:
            await self._pool.run(None, _probe, writes=True)
        except _ProbeSucceededError:
            return

    async def status(self) -> DatabaseStatus:
        return await self._pool.run(None, self._status, writes=False)

    async def close(self) -> None:
        if self._replica is not None:
            await self._replica.close()
        await self._pool.close()
        for session in self._sessions:
            session.close()

    def _status(self, session: Session) -> DatabaseStatus:
        return _read_status(cast(PostgresSession, session), self.url, self._migrations, self._limits)


def find_postgres(url: str, limits: Limits = DEFAULT_LIMITS) -> DatabaseStatus | None:
    """The status of the database at `url`, without creating or migrating its schema; None if it does not
    exist."""
    place = without_password(url)
    session = PostgresSession(url, limits)
    try:
        with session.transaction(TO_READ) as connection:
            if not read_ledger(connection):
                return None
            return _read_status(session, place, load_migrations("postgres"), limits)
    except psycopg.Error as error:
        raise translate_error(error, place) from None
    finally:
        session.close()


def _read_status(
    session: PostgresSession, place: str, known: Sequence[Migration], limits: Limits
) -> DatabaseStatus:
    ledger = read_ledger(session.connection)
    version, size, role, bypasses = session.fetch(_STATUS, {})[0]
    return DatabaseStatus(
        url=place,
        dialect="postgres",
        version=version,
        schema_version=ledger[-1].version,
        latest_version=len(known),
        pending=len(pending(known, ledger, place)),
        size_bytes=size,
        connections=limits.connections,
        is_pooled=session.is_pooled,
        partitions=count_partitions(session.connection),
        role=role,
        bypasses_row_security=bypasses,
    )


class _ProbeSucceededError(Exception):
    """Raised by the probe so that its row is rolled back."""


def _probe(session: Session) -> None:
    session.execute(_SET_META, {"key": "probe", "value": ""})
    raise _ProbeSucceededError


def _run_batch(session: PostgresSession, items: list[WorkItem[object]]) -> None:
    for item in items:
        attempts = 1
        while _is_deadlocked(session, item) and attempts < DEADLOCK_ATTEMPTS:
            item.error = None
            attempts += 1


def _is_deadlocked(session: PostgresSession, item: WorkItem[object]) -> bool:
    """Run one transaction. True if PostgreSQL rolled it back because others lock the same rows in another
    order: the others continue then, and it can be repeated."""
    session.begin(item.owner, writes=item.writes)
    item.run(session)
    if item.error is None:
        session.commit()
        return False
    session.roll_back()
    return isinstance(item.error, DeadlockDetected | SerializationFailure)
