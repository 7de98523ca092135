"""PostgreSQL: threads with one connection each, the schema `gieok`, and the mapping of psycopg's errors.

The threads are the connection pool. A thread connects when it first has work, and again after its connection
was lost. While the server is down, callers get an error at once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar, cast

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import DeadlockDetected, SerializationFailure

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
from gieok.adapters.sql.driver.migrations import (
    CREATE_LEDGER,
    READ_LEDGER,
    Applied,
    Migration,
    load_migrations,
    newer_schema,
    pending,
)
from gieok.adapters.sql.driver.queries import Dialect, load_queries, load_system_queries
from gieok.adapters.sql.driver.thread_pool import ThreadPool, WorkItem
from gieok.errors import (
    Conflict,
    GieokError,
    OutcomeUnknown,
    SchemaMismatch,
    SettingsInvalid,
    StoreDamaged,
    StoreUnavailable,
)

T = TypeVar("T")

_TO_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_TO_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_SETTINGS = (
    "SELECT set_config('search_path', 'gieok', false), set_config('statement_timeout', %s, false),"
    " set_config('lock_timeout', %s, false), set_config('idle_in_transaction_session_timeout', '60s', false)"
)
_SET_OWNER = "SELECT set_config('gieok.owner', %s, true), (SELECT max(version) FROM gieok.schema_migrations)"
DEADLOCK_ATTEMPTS = 5
"""How often a transaction is run that ends in a deadlock."""
_ANY_SCHEMA = 2**31
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


class PostgresSession:
    """One thread's connection as a `Session`. It connects before work begins, never in the middle of it."""

    dialect: Dialect = "postgres"

    def __init__(self, url: str, limits: Limits, known: int = _ANY_SCHEMA) -> None:
        """`known` is the newest schema version that this program knows. It does not write to a newer one."""
        self._url = url
        self._limits = limits
        self._known = known
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

    def begin(self, item: WorkItem[object]) -> None:
        """Begin the transaction. No work has run yet, so a connection lost while idle is replaced."""
        was_connected = self._connection is not None
        try:
            self._begin(item)
        except psycopg.Error:
            self.close()
            if not was_connected:
                raise
            self._begin(item)

    def _begin(self, item: WorkItem[object]) -> None:
        """Begin, and set the owner for row-level security, in one round trip."""
        start = _TO_WRITE if item.writes else _TO_READ
        cursor = psycopg.ClientCursor(self.connection)
        cursor.execute(f"{start}; {_SET_OWNER}".encode(), [item.owner or ""])
        cursor.nextset()
        row = cursor.fetchone()
        if item.writes and row is not None and row[1] > self._known:
            self.roll_back()
            raise newer_schema(row[1], self._known)

    def commit(self) -> None:
        """Commit. StoreUnavailable if it was rolled back, OutcomeUnknown if the connection was lost."""
        try:
            tag = self._open.execute("COMMIT").statusmessage
        except psycopg.Error:
            if self._open.closed:
                raise OutcomeUnknown(
                    "the connection to PostgreSQL was lost during the commit, so it is not known whether "
                    "this was stored; check before you repeat it"
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
        connect_timeout=max(2, int(limits.connect_seconds)),  # the minimum of libpq
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
        self._migrations = load_migrations("postgres") if migrations is None else migrations
        self._queries = load_queries("postgres")
        self._translate_error = partial(translate_error, place=self.url)
        self._limits = limits
        self._prepare(PostgresSession(url, limits))
        known = len(self._migrations)
        self._sessions = [PostgresSession(url, limits, known) for _ in range(limits.connections)]
        self._pool = ThreadPool(
            "postgres",
            [partial(_run_batch, session) for session in self._sessions],
            self._translate_error,
            batch_size=1,
            queue_size=limits.waiting_units,
        )

    def _prepare(self, session: PostgresSession) -> None:
        try:
            _prepare_schema(session.connection, self._migrations, self.url)
        except psycopg.Error as error:
            raise self._translate_error(error) from None
        finally:
            session.close()

    async def read(self, owner: str, work: Callable[[Tx], T], *, heavy: bool = False) -> T:
        return await self._pool.run(owner, scoped(owner, work, self._queries), writes=False)

    async def write(self, owner: str, work: Callable[[Tx], T], *, heavy: bool = False) -> T:
        return await self._pool.run(owner, scoped(owner, work, self._queries), writes=True)

    async def system(self, work: Callable[[SystemTx], T]) -> T:
        crossing = across_owners(work, load_system_queries("postgres"), _AS_WORKER)
        return await self._pool.run(None, crossing, writes=True)

    async def system_read(self, work: Callable[[SystemTx], T]) -> T:
        crossing = across_owners(work, load_system_queries("postgres"), _AS_WORKER)
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
        await self._pool.close()
        for session in self._sessions:
            session.close()

    def _status(self, session: Session) -> DatabaseStatus:
        return _read_status(cast(PostgresSession, session), self.url, self._migrations, self._limits)


def find_postgres(url: str, limits: Limits = DEFAULT_LIMITS) -> DatabaseStatus | None:
    """The status of the database at `url`, without creating or migrating its schema; None if it does not
    exist."""
    place = _without_password(url)
    session = PostgresSession(url, limits)
    try:
        if not _read_ledger(session.connection):
            return None
        return _read_status(session, place, load_migrations("postgres"), limits)
    except psycopg.Error as error:
        raise translate_error(error, place) from None
    finally:
        session.close()


def _read_status(
    session: PostgresSession, place: str, known: Sequence[Migration], limits: Limits
) -> DatabaseStatus:
    ledger = _read_ledger(session.connection)
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


def _run_batch(session: PostgresSession, items: list[WorkItem[object]]) -> None:
    for item in items:
        attempts = 1
        while _is_deadlocked(session, item) and attempts < DEADLOCK_ATTEMPTS:
            item.error = None
            attempts += 1


def _is_deadlocked(session: PostgresSession, item: WorkItem[object]) -> bool:
    """Run one transaction. True if PostgreSQL rolled it back because others lock the same rows in another
    order: the others go on then, and it can be repeated."""
    session.begin(item)
    item.run(session)
    if item.error is None:
        session.commit()
        return False
    session.roll_back()
    return isinstance(item.error, DeadlockDetected | SerializationFailure)


def parse_url(url: str, what: str) -> dict[str, Any]:
    """Parse a URL as libpq does. SettingsInvalid for an @ in the host, port or database name: that is part
    of an unencoded password, and these parts are shown in messages."""
    try:
        parts: dict[str, Any] = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise SettingsInvalid(f"the {what} is not a valid PostgreSQL URL; correct it") from None
    if any("@" in str(parts.get(name, "")) for name in ("host", "port", "dbname")):
        raise SettingsInvalid(
            f"the {what} has an @ in the host, port or database name; percent-encode the password "
            "(@ is %40, / is %2F)"
        )
    return parts


def _without_password(url: str) -> str:
    parts = parse_url(url, "database URL")
    host, port = parts.get("host", "localhost"), parts.get("port")
    user = f"{parts['user']}@" if "user" in parts else ""
    return f"postgresql://{user}{host}{f':{port}' if port else ''}/{parts.get('dbname', '')}"


_MIGRATION_LOCK = 0x6769656F
"""The advisory lock that migrations take: 'gieo'."""

_LONG_TIMEOUTS = "SET LOCAL lock_timeout = '10min'; SET LOCAL statement_timeout = '10min'"
"""Another process may be migrating a large table."""
_SCHEMA_EXISTS = "SELECT to_regnamespace('gieok') IS NOT NULL"
_LEDGER_EXISTS = "SELECT to_regclass('gieok.schema_migrations') IS NOT NULL"
_HAS_TABLES = "SELECT EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('gieok'))"
_WRITE_LEDGER = "INSERT INTO schema_migrations VALUES (%s, %s, %s, %s)"


def _prepare_schema(connection: psycopg.Connection[Row], known: Sequence[Migration], place: str) -> None:
    """Create the schema if it does not exist, check that it is Gieok's, and migrate it.

    Each migration has its own transaction. Processes that open the database at once wait for each other.
    """
    if not pending(known, _read_ledger(connection), place):
        return
    with _migration_lock(connection):
        for migration in pending(known, _read_ledger(connection), place):
            with connection.transaction():
                if migration.version == 1:
                    _create_schema(connection, place)
                _apply(connection, migration)


def _read_ledger(connection: psycopg.Connection[Row]) -> list[Applied]:
    """The migrations that were applied to the database; none for a new one."""
    if not _is_true(connection, _LEDGER_EXISTS):
        return []
    return [Applied(*row) for row in connection.execute(READ_LEDGER.encode())]


@contextmanager
def _migration_lock(connection: psycopg.Connection[Row]) -> Generator[None, None, None]:
    """Hold the advisory lock. Take it before the transaction of a migration begins, whose snapshot would
    otherwise not contain tables that another process creates."""
    with connection.transaction():  # limits the timeouts to this statement; the lock is kept after it
        connection.execute(_LONG_TIMEOUTS)
        connection.execute("SELECT pg_advisory_lock(%s)", [_MIGRATION_LOCK])
    try:
        yield
    finally:
        if not connection.closed:
            connection.execute("SELECT pg_advisory_unlock(%s)", [_MIGRATION_LOCK])


def _create_schema(connection: psycopg.Connection[Row], place: str) -> None:
    if not _is_true(connection, _SCHEMA_EXISTS):
        connection.execute("CREATE SCHEMA gieok")
    if _is_true(connection, _HAS_TABLES):
        raise SchemaMismatch(f"{place} has a schema gieok of another program; give Gieok another database")
    connection.execute(CREATE_LEDGER.encode())


def _apply(connection: psycopg.Connection[Row], migration: Migration) -> None:
    connection.execute("SET LOCAL statement_timeout = 0")  # migrating a large table may take long
    connection.execute(migration.sql.encode())
    now = datetime.now(UTC).isoformat(timespec="seconds")
    connection.execute(_WRITE_LEDGER, [migration.version, migration.name, migration.sha256, now])


def _is_true(connection: psycopg.Connection[Row], query: str) -> bool:
    return connection.execute(query.encode()).fetchall() == [(True,)]


# Error mapping. A few SQLSTATE codes are mapped one by one, the others by their class (the first two
# characters). An error without a SQLSTATE did not come from the server: it is mapped by psycopg's class.

_ErrorClass = Callable[[str], GieokError]

_UNREACHABLE = "{place} cannot be reached; start PostgreSQL or correct the database URL, then try again"
_REFUSED = "{place} refuses this login; correct the user, the password or pg_hba.conf"
_NOT_ALLOWED = (
    "the login role lacks a permission in {place}; grant it the schema gieok, or CREATE on the database"
)
_RESTARTING = "{place} is being stopped or started; try again in a moment"
_TIMED_OUT = "{place} took too long, because of a lock or high load; nothing was stored, so try again"
_DEADLOCK = "this transaction of {place} was aborted because of a deadlock; nothing was stored, so try again"
_FULL = "{place} has no resources left (disk, memory or connections); free some, then try again"
_READ_ONLY = "{place} is read-only, perhaps a replica; give Gieok the primary server"
_SERVER_ERROR = "{place} reported an internal error; read the log of the server"
_SAME_KEY = "a row with the same key was stored in {place} in the meantime; read it and try again"
_CONSTRAINT = "a row violates a constraint of {place}, so nothing was stored; please report this"
_WRONG_TABLES = "the tables of {place} are not those of its schema version; restore a backup"
_CORRUPT = "{place} reports damaged data; stop writing to it and restore the newest backup"
_BUG = "Gieok used PostgreSQL wrongly on {place}; please report this"

_BY_CODE: Mapping[str, tuple[_ErrorClass, str]] = {
    "23505": (Conflict, _SAME_KEY),
    "23P01": (Conflict, _SAME_KEY),
    "25006": (StoreUnavailable, _READ_ONLY),
    "40P01": (StoreUnavailable, _DEADLOCK),
    "40001": (StoreUnavailable, _DEADLOCK),
    "42501": (StoreUnavailable, _NOT_ALLOWED),
    "42P01": (SchemaMismatch, _WRONG_TABLES),
    "42703": (SchemaMismatch, _WRONG_TABLES),
    "42883": (SchemaMismatch, _WRONG_TABLES),
    "3F000": (SchemaMismatch, _WRONG_TABLES),
    "55P03": (StoreUnavailable, _TIMED_OUT),
    "57014": (StoreUnavailable, _TIMED_OUT),
    "25P03": (StoreUnavailable, _TIMED_OUT),
    "25P04": (StoreUnavailable, _TIMED_OUT),
    "XX001": (StoreDamaged, _CORRUPT),
    "XX002": (StoreDamaged, _CORRUPT),
}

_BY_CODE_CLASS: Mapping[str, tuple[_ErrorClass, str]] = {
    "08": (StoreUnavailable, _UNREACHABLE),
    "22": (StoreDamaged, _CONSTRAINT),
    "23": (StoreDamaged, _CONSTRAINT),
    "28": (StoreUnavailable, _REFUSED),
    "3D": (StoreUnavailable, _UNREACHABLE),
    "40": (StoreUnavailable, _DEADLOCK),
    "53": (StoreUnavailable, _FULL),
    "54": (StoreUnavailable, _FULL),
    "55": (StoreUnavailable, _TIMED_OUT),
    "57": (StoreUnavailable, _RESTARTING),
    "58": (StoreUnavailable, _SERVER_ERROR),
    "72": (StoreUnavailable, _TIMED_OUT),
    "XX": (StoreUnavailable, _SERVER_ERROR),
}

_BY_KIND: tuple[tuple[type[psycopg.Error], _ErrorClass, str], ...] = (
    (psycopg.OperationalError, StoreUnavailable, _UNREACHABLE),
    (psycopg.InterfaceError, StoreUnavailable, _UNREACHABLE),
    (psycopg.IntegrityError, StoreDamaged, _CONSTRAINT),
    (psycopg.DataError, StoreDamaged, _CONSTRAINT),
)


def translate_error(error: BaseException, place: str) -> BaseException:
    """Map an error of psycopg to one of `gieok.errors`. Returns any other error unchanged."""
    if not isinstance(error, psycopg.Error):
        return error
    code = error.sqlstate
    make, text = _find_mapping(error, code)
    return make(f"{text.format(place=place)} (PostgreSQL {code or type(error).__name__})")


def _find_mapping(error: psycopg.Error, code: str | None) -> tuple[_ErrorClass, str]:
    if code is not None:
        return _BY_CODE.get(code) or _BY_CODE_CLASS.get(code[:2]) or (GieokError, _BUG)
    for kind, make, text in _BY_KIND:
        if isinstance(error, kind):
            return make, text
    return GieokError, _BUG
