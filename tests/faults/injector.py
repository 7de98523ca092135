"""Makes one call to the database driver fail, the way that drivers fail."""

from __future__ import annotations

import inspect
import os
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import GeneratorType
from typing import Any, TypeVar, cast

import apsw
import psycopg
from psycopg.abc import PQGen

from gieok.adapters.sql.driver.sqlite_file import Connection, Cursor

T = TypeVar("T")


@dataclass(frozen=True)
class Fault:
    """What goes wrong with a call."""

    name: str
    error: Callable[[], BaseException]
    after: bool = False
    """The call takes effect, and only then fails."""
    breaks: bool = False
    """The transaction is lost with it: ended (SQLite) or aborted (PostgreSQL)."""
    disconnects: bool = False
    """PostgreSQL: the connection is gone with it."""

    def __str__(self) -> str:
        return self.name


SQLITE_FAULTS = (
    Fault("busy", lambda: apsw.BusyError("database is locked")),
    Fault("disk error", lambda: apsw.IOError("disk I/O error")),
    Fault("disk full, transaction ended", lambda: apsw.FullError("disk is full"), breaks=True),
    Fault("disk error after it took effect", lambda: apsw.IOError("disk I/O error"), after=True),
    Fault("out of memory", MemoryError),
)

POSTGRES_FAULTS = (
    Fault("server error", lambda: psycopg.errors.DiskFull("disk is full"), breaks=True),
    Fault("out of memory", MemoryError),
    Fault("connection lost", psycopg.OperationalError, disconnects=True),
    Fault("connection lost after it took effect", psycopg.OperationalError, after=True, disconnects=True),
)


class Faults:
    """Counts the calls of every connection, and makes one of them fail."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.calls: list[str] = []
        self._at: int | None = None
        self._fault: Fault | None = None

    def watch(self, at: int | None = None, fault: Fault | None = None) -> None:
        """Reset the count. Call number `at`, if given, gets the fault."""
        with self._lock:
            self.calls, self._at, self._fault = [], at, fault

    def meet(self, call: str) -> Fault | None:
        """Count a call; its fault, if it is the one that is to fail."""
        with self._lock:
            self.calls.append(call)
            return self._fault if len(self.calls) == self._at else None


class SqliteCursor:
    """A cursor of apsw that may fail while it is read."""

    def __init__(self, cursor: Cursor, faults: Faults) -> None:
        self._cursor = cursor
        self._faults = faults

    def fetchall(self) -> list[tuple[Any, ...]]:
        fault = self._faults.meet("fetchall")
        if fault:
            raise fault.error()
        return self._cursor.fetchall()

    def close(self, force: bool = False) -> None:
        self._cursor.close(force)


class SqliteConnection:
    """A connection of apsw that may fail."""

    def __init__(self, connection: Connection, faults: Faults) -> None:
        self._connection = connection
        self._faults = faults

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statements: str, bindings: object = None) -> SqliteCursor:
        cursor = self._do(statements, lambda: self._connection.execute(statements, bindings))
        return SqliteCursor(cursor, self._faults)

    def executemany(self, statements: str, sequenceofbindings: object) -> SqliteCursor:
        cursor = self._do(statements, lambda: self._connection.executemany(statements, sequenceofbindings))
        return SqliteCursor(cursor, self._faults)

    def _do(self, statements: str, do: Callable[[], T]) -> T:
        fault = self._faults.meet(statements)
        if fault is None:
            return do()
        if fault.after:
            do()
        if fault.breaks and self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        raise fault.error()


def failing_postgres(faults: Faults) -> type[psycopg.Connection[Any]]:
    """A connection of psycopg that may fail whenever it talks to the server."""

    class PostgresConnection(psycopg.Connection[Any]):
        def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
            call = _statement(gen)
            # Entering a pipeline says nothing to the server, so it cannot fail.
            fault = None if call == "_enter_gen" else faults.meet(call)
            if fault is None:
                return super().wait(gen, interval, timeout)
            if fault.after:
                super().wait(gen, interval, timeout)
            if fault.breaks:
                self.pgconn.exec_(b"ROLLBACK" if call == "COMMIT" else b"SELECT 1 / 0")
            if fault.disconnects:
                _cut(self)
            raise fault.error()

    return PostgresConnection


def _statement(gen: PQGen[Any]) -> str:
    """What a generator of psycopg is about to send; its own name where that is not one statement."""
    running = cast("GeneratorType[Any, Any, Any]", gen)
    query = inspect.getgeneratorlocals(running).get("query", running.__name__)
    return query.decode() if isinstance(query, bytes) else str(query)


def _cut(connection: psycopg.Connection[Any]) -> None:
    """Shut down the socket, so that libpq raises the error of a lost server."""
    with socket.socket(fileno=os.dup(connection.pgconn.socket)) as line:
        line.shutdown(socket.SHUT_RDWR)
    connection.pgconn.consume_input()
