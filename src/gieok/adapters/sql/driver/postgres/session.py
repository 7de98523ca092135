"""One connection to PostgreSQL, directly or through a pooler in transaction mode.

A pooler such as PgBouncer gives each transaction another server connection. So a session keeps no state on
the server between transactions: each one sets what it needs for itself, in the round trip of its BEGIN.
Prepared statements are the exception, because they save much time: they are used unless there is a pooler. It
is recognised by the process id in its cancel key, which is not that of the server process.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

import psycopg
from psycopg.conninfo import conninfo_to_dict

from gieok.adapters.sql.driver.database import Limits, Row, Value
from gieok.adapters.sql.driver.migrations import newer_schema
from gieok.adapters.sql.driver.queries import Dialect
from gieok.errors import OutcomeUnknown, SettingsInvalid, StoreUnavailable

TO_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
TO_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_SET_OWNER = "set_config('gieok.owner', %s, true), (SELECT max(version) FROM gieok.schema_migrations)"
_ANY_SCHEMA = 2**31
_PLAN_ONCE = "SET plan_cache_mode = force_generic_plan"
"""Each statement reads few rows of one owner, so one plan serves all owners. On partitioned tables, planning
a statement takes as long as running it."""


class PostgresSession:
    """One thread's connection as a `Session`. It connects before work begins, never in the middle of it."""

    dialect: Dialect = "postgres"

    def __init__(self, url: str, limits: Limits, known: int = _ANY_SCHEMA, schema: str = "gieok") -> None:
        """`known` is the newest schema version that this program knows. It does not write to a newer one."""
        self._url = url
        self._limits = limits
        self._known = known
        self._connection: psycopg.Connection[Row] | None = None
        self._writes = False
        self.is_pooled = False
        """Whether the last connection was to a pooler."""
        self.settings = (
            f"SELECT set_config('search_path', '{schema}', true),"
            f" set_config('statement_timeout', '{_milliseconds(limits.statement_seconds)}', true),"
            f" set_config('lock_timeout', '{_milliseconds(limits.lock_seconds)}', true),"
            " set_config('idle_in_transaction_session_timeout', '60s', true)"
        )
        """A statement with the settings of each transaction."""

    @property
    def connection(self) -> psycopg.Connection[Row]:
        if self._connection is None or self._connection.closed:
            self._connection = self._connect()
        return self._connection

    def fetch(self, sql: str, params: Mapping[str, Value]) -> list[Row]:
        return self._open.execute(sql.encode(), params).fetchall()

    def execute(self, sql: str, params: Mapping[str, Value]) -> int:
        return self._open.execute(sql.encode(), params).rowcount

    def execute_many(self, sql: str, rows: Sequence[Mapping[str, Value]]) -> None:
        self._open.cursor().executemany(sql.encode(), rows)

    def ask(self, sql: str, params: Mapping[str, Value]) -> Row:
        """The row that a query gives, outside of a transaction. A lost connection is replaced."""
        try:
            found = self.connection.execute(sql.encode(), params).fetchone()
        except psycopg.OperationalError:
            self.close()
            found = self.connection.execute(sql.encode(), params).fetchone()
        return found or ()

    def begin(self, owner: str | None, *, writes: bool) -> None:
        """Begin the transaction. No work has run yet, so a connection lost while idle is replaced."""
        was_connected = self._connection is not None
        try:
            self._begin(owner, writes=writes)
        except psycopg.Error:
            self.close()
            if not was_connected:
                raise
            self._begin(owner, writes=writes)

    def _begin(self, owner: str | None, *, writes: bool) -> None:
        """Begin, and set the owner for row-level security, in one round trip."""
        self._writes = writes
        start = TO_WRITE if writes else TO_READ
        cursor = psycopg.ClientCursor(self.connection)
        cursor.execute(f"{start}; {self.settings}, {_SET_OWNER}".encode(), [owner or ""])
        cursor.nextset()
        row = cursor.fetchone()
        if writes and row is not None and row[-1] > self._known:
            self.roll_back()
            raise newer_schema(row[-1], self._known)

    @contextmanager
    def transaction(self, start: str) -> Generator[psycopg.Connection[Row]]:
        """A transaction without an owner. A connection lost while idle is replaced."""
        begin = f"{start}; {self.settings}".encode()
        self._writes = start != TO_READ
        connection = self.connection
        try:
            connection.execute(begin)
        except psycopg.Error:
            if not connection.closed:
                raise
            connection = self.connection
            connection.execute(begin)
        try:
            yield connection
            self.commit()
        except BaseException:
            self.roll_back()
            raise

    def commit(self) -> None:
        """Commit. StoreUnavailable if it was rolled back, OutcomeUnknown if a write lost the connection."""
        try:
            tag = self._open.execute("COMMIT").statusmessage
        except psycopg.Error:
            if self._writes and self._open.closed:
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

    def _connect(self) -> psycopg.Connection[Row]:
        connection = psycopg.connect(
            self._url,
            autocommit=True,
            connect_timeout=max(2, int(self._limits.connect_seconds)),  # the minimum of libpq
            tcp_user_timeout=int(self._limits.statement_seconds * 1000),
            fallback_application_name="gieok",
        )
        served_by = connection.execute("SELECT pg_backend_pid()").fetchone()
        self.is_pooled = served_by != (connection.info.backend_pid,)
        if self.is_pooled:
            connection.prepare_threshold = None
        else:
            connection.execute(_PLAN_ONCE)
        return connection

    @property
    def _open(self) -> psycopg.Connection[Row]:
        return cast("psycopg.Connection[Row]", self._connection)


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)


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


def without_password(url: str) -> str:
    """The URL as messages may show it."""
    parts = parse_url(url, "database URL")
    host, port = parts.get("host", "localhost"), parts.get("port")
    user = f"{parts['user']}@" if "user" in parts else ""
    return f"postgresql://{user}{host}{f':{port}' if port else ''}/{parts.get('dbname', '')}"
