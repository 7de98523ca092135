"""The port that stores are written against: a transaction of one owner, and a database that runs it.

A store is plain synchronous code that gets a `Tx`. `await database.write(owner, work)` runs `work(tx)` on a
database thread and returns when what it wrote is on disk. Async stops at that door.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol, TypeVar

from gieok.adapters.sql.driver.queries import Catalogue, Dialect, Kind, Query
from gieok.errors import SettingsInvalid
from gieok.refs import check_ref

T = TypeVar("T")
Scalar = None | int | float | str | bytes
Value = Scalar | Sequence[int] | Sequence[str] | Sequence[bytes]
Row = tuple[Any, ...]


class Session(Protocol):
    """One open transaction of a driver: SQL in, rows out. Driver errors leave it as they are."""

    @property
    def dialect(self) -> Dialect: ...
    def fetch(self, sql: str, params: Mapping[str, Value]) -> list[Row]: ...
    def execute(self, sql: str, params: Mapping[str, Value]) -> int: ...
    def execute_many(self, sql: str, rows: Sequence[Mapping[str, Value]]) -> None: ...


class Tx:
    """An open transaction of one owner. It runs named queries, and gives each of them its `:owner`.

    Valid only inside the `work` that it was given to. A wrong name, kind or parameter is a mistake in the
    calling code and raises LookupError or TypeError; the transaction is then rolled back like on any error.
    """

    __slots__ = ("_catalogue", "_open_session", "dialect", "owner")

    def __init__(self, owner: str, session: Session, catalogue: Catalogue) -> None:
        self.owner = owner
        self.dialect: Dialect = session.dialect
        self._open_session: Session | None = session
        self._catalogue = catalogue

    def one(self, query: str, /, **params: Value) -> Row | None:
        """The first row, or None."""
        found = self._find(query, "one")
        rows = self._session.fetch(found.sql, self._scoped(found, params))
        return rows[0] if rows else None

    def all(self, query: str, /, **params: Value) -> list[Row]:
        """Every row."""
        found = self._find(query, "all")
        return self._session.fetch(found.sql, self._scoped(found, params))

    def run(self, query: str, /, **params: Value) -> int:
        """Change rows; how many were changed."""
        found = self._find(query, "run")
        return self._session.execute(found.sql, self._scoped(found, params))

    def run_many(self, query: str, rows: Sequence[Mapping[str, Value]]) -> None:
        """Run one change for each of `rows`. No rows is no change."""
        found = self._find(query, "run_many")
        scoped = [self._scoped(found, row) for row in rows]
        if scoped:
            self._session.execute_many(found.sql, scoped)

    def end(self) -> None:
        """Called when the work is done, so that nothing runs outside of the transaction."""
        self._open_session = None

    @property
    def _session(self) -> Session:
        if self._open_session is None:
            raise RuntimeError(
                "this transaction has ended; use a Tx only inside the work that it was given to"
            )
        return self._open_session

    def _find(self, name: str, kind: Kind) -> Query:
        found = self._catalogue.get(name)
        if found is None:
            raise LookupError(f"there is no query {name} for {self.dialect} in the .sql files")
        if found.kind != kind:
            raise TypeError(f"query {name} is for Tx.{found.kind}, not for Tx.{kind}")
        return found

    def _scoped(self, query: Query, params: Mapping[str, Value]) -> Mapping[str, Value]:
        if "owner" in params:
            raise TypeError(f"query {query.name} gets its owner from the transaction; do not give it one")
        scoped = {**params, "owner": self.owner}
        if scoped.keys() != query.params:
            wrong = ", ".join(sorted(scoped.keys() ^ query.params))
            raise TypeError(f"query {query.name} was given missing or unknown parameters: {wrong}")
        return scoped


def scoped(owner: str, work: Callable[[Tx], T], catalogue: Catalogue) -> Callable[[Session], T]:
    """`work` for an owner, as a database thread runs it. Raises `InputRefused` when `owner` is not a name."""
    check_ref(owner, "owner")

    def run(session: Session) -> T:
        tx = Tx(owner, session, catalogue)
        try:
            return work(tx)
        finally:
            tx.end()

    return run


class SystemTx:
    """An open transaction of no owner: the one door across owners. It leads to `queries/system` only.

    Those read jobs and tokens, which hold no content. What follows, the work of a job or the call that a
    token lets in, is done in a `Tx` of its owner.
    """

    __slots__ = ("_catalogue", "_session")

    def __init__(self, session: Session, catalogue: Catalogue) -> None:
        self._session = session
        self._catalogue = catalogue

    def all(self, query: str, /, **params: Value) -> list[Row]:
        """Every row."""
        found = self._catalogue[query]
        return self._session.fetch(found.sql, params)


def across_owners(
    work: Callable[[SystemTx], T], catalogue: Catalogue, opening: str | None = None
) -> Callable[[Session], T]:
    """`work` as a database thread runs it; `opening` is what the database must hear to let it through."""

    def run(session: Session) -> T:
        if opening is not None:
            session.fetch(opening, {})
        return work(SystemTx(session, catalogue))

    return run


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a database may take, hold and wait. Seconds are upper bounds, after which a caller is told."""

    readers: int = 4
    """SQLite: threads that read at the same time."""
    connections: int = 8
    """PostgreSQL: threads, each with a connection of its own."""
    batch_units: int = 128
    """SQLite: units of work that share one commit at most."""
    waiting_units: int = 10_000
    """Units of work that may wait for a thread, also for one at rest that is about to be woken; one more is
    refused."""
    lock_seconds: float = 5.0
    """Waiting for a lock that another writer holds."""
    connect_seconds: float = 5.0
    """PostgreSQL: opening a connection."""
    statement_seconds: float = 30.0
    """PostgreSQL: one statement."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            if getattr(self, limit.name) <= 0:
                raise SettingsInvalid(f"the limit {limit.name} must be more than 0")


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class DatabaseStatus:
    """What an operator asks first. None where a fact does not exist for that database."""

    url: str
    """Without its password."""
    dialect: Dialect
    version: str
    """Of the SQLite library or of the PostgreSQL server."""
    schema_version: int
    latest_version: int
    """The newest schema that this program knows."""
    pending: int
    """Migrations that would still have to run."""
    size_bytes: int
    journal_mode: str | None = None
    synchronous: str | None = None
    connections: int | None = None
    role: str | None = None
    bypasses_row_security: bool | None = None
    """True for a superuser or a role with BYPASSRLS: the second wall between owners is then gone."""


class Database(Protocol):
    """SQLite or PostgreSQL. Safe to use from any task and any event loop of the process."""

    @property
    def dialect(self) -> Dialect: ...

    async def read(self, owner: str, work: Callable[[Tx], T], *, heavy: bool = False) -> T:
        """Run `work` on one consistent snapshot. It cannot write.

        On SQLite it runs on the calling thread, unless it is `heavy`: say so for work that may take longer
        than a few milliseconds (an export, a deep walk), so that it does not stall the event loop.
        """
        ...

    async def write(self, owner: str, work: Callable[[Tx], T]) -> T:
        """Run `work` in a transaction and return when it is durable. If it raises, nothing of it is stored.

        A task that is cancelled before its work began is cancelled, and nothing is stored. Once the work has
        begun, its true outcome is returned or raised instead of the cancellation, so that nobody is told
        "cancelled" about something that was stored.
        """
        ...

    async def system(self, work: Callable[[SystemTx], T]) -> T:
        """Run `work` across owners, in a transaction that is durable when this returns. Jobs only."""
        ...

    async def system_read(self, work: Callable[[SystemTx], T]) -> T:
        """Read across owners on one consistent snapshot: it waits for no writer and cannot write."""
        ...

    async def get_meta(self, key: str) -> str | None:
        """A fact about the whole database, such as the version of the analyzer that made its index."""
        ...

    async def set_meta(self, key: str, value: str) -> None: ...

    async def check(self) -> None:
        """Raise `StoreUnavailable` when a write is not possible now. Changes nothing."""
        ...

    async def status(self) -> DatabaseStatus: ...

    async def close(self) -> None:
        """Finish what was begun, then let go of threads, files and connections. May be called twice."""
        ...
