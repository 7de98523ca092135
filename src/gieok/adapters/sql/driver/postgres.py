"""PostgreSQL: threads that each own one connection, every unit of work one transaction of its owner.

A thread with its connection is all the pool there is. It connects when it first has work, and again when the
connection was lost: a restarted server needs nothing from us, and while it is away callers are told at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast

import psycopg
from psycopg.conninfo import conninfo_to_dict

from gieok.adapters.sql.driver import postgres_schema
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
from gieok.adapters.sql.driver.postgres_errors import explain
from gieok.adapters.sql.driver.queries import Dialect, load_queries, load_system_queries
from gieok.adapters.sql.driver.units import Crew, Unit
from gieok.errors import SettingsInvalid, StoreUnavailable

T = TypeVar("T")

_TO_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_TO_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_SETTINGS = (
    "SELECT set_config('search_path', 'gieok', false), set_config('statement_timeout', %s, false),"
    " set_config('lock_timeout', %s, false), set_config('idle_in_transaction_session_timeout', '60s', false)"
)
_AS_WORKER = "SELECT set_config('gieok.worker', 'on', true)"
"""For one transaction: row-level security then shows jobs and tokens of every owner, and nothing else."""
_GET_META = "SELECT value FROM meta WHERE key = %(key)s"
_SET_META = (
    "INSERT INTO meta VALUES (%(key)s, %(value)s) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
)
_STATUS = """
SELECT current_setting('server_version'), pg_database_size(current_database()), rolname,
       rolsuper OR rolbypassrls
FROM pg_roles WHERE rolname = current_user"""


class PostgresSession:
    """One thread's connection as a `Session`. It connects when work begins, never in the middle of it."""

    dialect: Dialect = "postgres"

    def __init__(self, url: str, limits: Limits) -> None:
        self._url = url
        self._limits = limits
        self._connection: psycopg.Connection[Row] | None = None

    @property
    def connection(self) -> psycopg.Connection[Row]:
        if self._connection is None or self._connection.closed:
            self._connection = _connect(self._url, self._limits)
            self._connection.execute(
                _SETTINGS,
                [_milliseconds(self._limits.statement_seconds), _milliseconds(self._limits.lock_seconds)],
            )
        return self._connection

    def fetch(self, sql: str, params: Mapping[str, Value]) -> list[Row]:
        return self._open.execute(sql.encode(), params).fetchall()

    def execute(self, sql: str, params: Mapping[str, Value]) -> int:
        return self._open.execute(sql.encode(), params).rowcount

    def execute_many(self, sql: str, rows: Sequence[Mapping[str, Value]]) -> None:
        self._open.cursor().executemany(sql.encode(), rows)

    def begin(self, unit: Unit[object]) -> None:
        """Open the transaction. No work has run yet, so a connection that died while idle is replaced."""
        was_connected = self._connection is not None
        try:
            self._begin(unit)
        except psycopg.Error:
            self.close()
            if not was_connected:
                raise
            self._begin(unit)

    def _begin(self, unit: Unit[object]) -> None:
        """Begin and set the owner that row-level security compares with, in one round trip."""
        start = _TO_WRITE if unit.writes else _TO_READ
        cursor = psycopg.ClientCursor(self.connection)
        cursor.execute(f"{start}; SELECT set_config('gieok.owner', %s, true)".encode(), [unit.owner or ""])

    def commit(self) -> None:
        """Make the work durable, or say honestly that nobody knows."""
        try:
            tag = self._open.execute("COMMIT").statusmessage
        except psycopg.Error:
            if self._open.closed:
                raise StoreUnavailable(
                    "the connection to PostgreSQL was lost during the commit, so it is not known whether "
                    "this was stored; look before you repeat it"
                ) from None
            raise
        if tag != "COMMIT":
            raise StoreUnavailable("PostgreSQL rolled the transaction back; nothing was stored, so try again")

    def roll_back(self) -> None:
        if not self._open.closed:
            self._open.execute("ROLLBACK")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @property
    def _open(self) -> psycopg.Connection[Row]:
        return cast("psycopg.Connection[Row]", self._connection)


def _connect(url: str, limits: Limits) -> psycopg.Connection[Row]:
    return psycopg.connect(
        url,
        autocommit=True,
        connect_timeout=max(2, int(limits.connect_seconds)),  # libpq takes less than 2 as 2
        tcp_user_timeout=int(limits.statement_seconds * 1000),
        fallback_application_name="gieok",
    )


def _milliseconds(seconds: float) -> str:
    return str(int(seconds * 1000))


class PostgresDatabase:
    """A `Database` in the schema `gieok` of a PostgreSQL server. Any number of processes may share it."""

    dialect: Dialect = "postgres"

    def __init__(
        self, url: str, limits: Limits = DEFAULT_LIMITS, migrations: Sequence[Migration] | None = None
    ) -> None:
        self.url = _without_password(url)
        self._known = load_migrations("postgres") if migrations is None else migrations
        self._queries = load_queries("postgres")
        self._explain = partial(explain, place=self.url)
        self._limits = limits
        self._prepare(PostgresSession(url, limits))
        self._sessions = [PostgresSession(url, limits) for _ in range(limits.connections)]
        self._crew = Crew(
            "postgres",
            [partial(_transact_each, session) for session in self._sessions],
            self._explain,
            batch=1,
            waiting=limits.waiting_units,
        )

    def _prepare(self, session: PostgresSession) -> None:
        try:
            postgres_schema.prepare(session.connection, self._known, self.url)
        except psycopg.Error as error:
            raise self._explain(error) from None
        finally:
            session.close()

    async def read(self, owner: str, work: Callable[[Tx], T], *, heavy: bool = False) -> T:
        return await self._crew.do(owner, scoped(owner, work, self._queries), writes=False)

    async def write(self, owner: str, work: Callable[[Tx], T]) -> T:
        return await self._crew.do(owner, scoped(owner, work, self._queries), writes=True)

    async def system(self, work: Callable[[SystemTx], T]) -> T:
        crossing = across_owners(work, load_system_queries("postgres"), _AS_WORKER)
        return await self._crew.do(None, crossing, writes=True)

    async def system_read(self, work: Callable[[SystemTx], T]) -> T:
        crossing = across_owners(work, load_system_queries("postgres"), _AS_WORKER)
        return await self._crew.do(None, crossing, writes=False)

    async def get_meta(self, key: str) -> str | None:
        rows = await self._crew.do(None, lambda session: session.fetch(_GET_META, {"key": key}), writes=False)
        return rows[0][0] if rows else None

    async def set_meta(self, key: str, value: str) -> None:
        await self._crew.do(
            None, lambda session: session.execute(_SET_META, {"key": key, "value": value}), writes=True
        )

    async def check(self) -> None:
        try:
            await self._crew.do(None, _probe, writes=True)
        except _ProbeSucceededError:
            return

    async def status(self) -> DatabaseStatus:
        return await self._crew.do(None, self._status, writes=False)

    async def close(self) -> None:
        await self._crew.close()
        for session in self._sessions:
            session.close()

    def _status(self, session: Session) -> DatabaseStatus:
        return _read_status(cast(PostgresSession, session), self.url, self._known, self._limits)


def find_postgres(url: str, limits: Limits = DEFAULT_LIMITS) -> DatabaseStatus | None:
    """The status of the schema at `url`, which is neither made nor migrated; None when it is not there."""
    place = _without_password(url)
    session = PostgresSession(url, limits)
    try:
        if not postgres_schema.read_ledger(session.connection):
            return None
        return _read_status(session, place, load_migrations("postgres"), limits)
    except psycopg.Error as error:
        raise explain(error, place) from None
    finally:
        session.close()


def _read_status(
    session: PostgresSession, place: str, known: Sequence[Migration], limits: Limits
) -> DatabaseStatus:
    ledger = postgres_schema.read_ledger(session.connection)
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
        role=role,
        bypasses_row_security=bypasses,
    )


class _ProbeSucceededError(Exception):
    """Raised by the probe so that its row is rolled back."""


def _probe(session: Session) -> None:
    session.execute(_SET_META, {"key": "probe", "value": ""})
    raise _ProbeSucceededError


def _transact_each(session: PostgresSession, units: list[Unit[object]]) -> None:
    for unit in units:
        session.begin(unit)
        unit.run(session)
        if unit.error is None:
            session.commit()
        else:
            session.roll_back()


def parts_of(url: str, what: str) -> dict[str, Any]:
    """What libpq reads from a URL. It must not mistake a part of the password for a place, which is shown."""
    try:
        known: dict[str, Any] = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise SettingsInvalid(f"the {what} is not one that PostgreSQL understands; correct it") from None
    if any("@" in str(known.get(name, "")) for name in ("host", "port", "dbname")):
        raise SettingsInvalid(
            f"the {what} has an @ where none can be; percent-encode the password in it (@ is %40, / is %2F)"
        )
    return known


def _without_password(url: str) -> str:
    known = parts_of(url, "database URL")
    host, port = known.get("host", "localhost"), known.get("port")
    user = f"{known['user']}@" if "user" in known else ""
    return f"postgresql://{user}{host}{f':{port}' if port else ''}/{known.get('dbname', '')}"
