"""The port that stores are written against: a transaction of one owner, and a database that runs it.

A store is plain synchronous code that gets a `Tx`. `await database.write(owner, work)` runs `work(tx)` on a
database thread and returns when the data is on disk. Nothing below this port is async.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeVar

from gieok.adapters.sql.driver.queries import Catalogue, Dialect, Kind, Query
from gieok.errors import Conflict, SettingsInvalid
from gieok.refs import check_ref

T = TypeVar("T")
Scalar = None | int | float | str | bytes
Value = Scalar | Sequence[int] | Sequence[str] | Sequence[bytes]
Row = tuple[Any, ...]
Watch = Callable[[str, Mapping[str, Any], Sequence[Row]], None]
"""Called with a query that has changed rows, its parameters and the rows that it returned."""
_NOTHING: Mapping[str, str] = {}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(time: datetime) -> int:
    """A time as the databases store it: whole microseconds since 1970. Exact, unlike a float timestamp."""
    return (time - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """The inverse of `to_micros`, in UTC."""
    return _EPOCH + timedelta(microseconds=micros)


class Session(Protocol):
    """One open transaction of a driver: SQL in, rows out. Raises the errors of the driver."""

    @property
    def dialect(self) -> Dialect: ...
    def fetch(self, sql: str, params: Mapping[str, Value]) -> list[Row]: ...
    def execute(self, sql: str, params: Mapping[str, Value]) -> int: ...
    def execute_many(self, sql: str, rows: Sequence[Mapping[str, Value]]) -> None: ...


class Tx:
    """An open transaction of one owner. It runs named queries and sets their `:owner` parameter.

    Valid only inside the `work` that it was given to. A wrong name, kind or parameter is a mistake in the
    calling code and raises LookupError or TypeError; the transaction is then rolled back like on any error.
    """

    __slots__ = ("_catalogue", "_open_session", "dialect", "owner", "watch")

    def __init__(self, owner: str, session: Session, catalogue: Catalogue) -> None:
        self.owner = owner
        self.dialect: Dialect = session.dialect
        self._open_session: Session | None = session
        self._catalogue = catalogue
        self.watch: Watch | None = None
        """Sees the changes of this transaction, to record their events."""

    def one(self, query: str, /, **params: Value) -> Row | None:
        """The first row, or None."""
        found = self._find(query, "one")
        rows = self._session.fetch(found.sql, self._scoped(found, params))
        return rows[0] if rows else None

    def all(self, query: str, /, **params: Value) -> list[Row]:
        """Every row."""
        found = self._find(query, "all")
        rows = self._session.fetch(found.sql, self._scoped(found, params))
        if self.watch is not None and rows:
            self.watch(query, params, rows)
        return rows

    def run(self, query: str, about: Mapping[str, str] = _NOTHING, /, **params: Value) -> int:
        """Change rows. Returns how many were changed.

        `about` has ids that the event of this change needs and the query does not.
        """
        found = self._find(query, "run")
        changed = self._session.execute(found.sql, self._scoped(found, params))
        if self.watch is not None and changed:
            self.watch(query, {**params, **about}, ())
        return changed

    def run_many(self, query: str, rows: Sequence[Mapping[str, Value]]) -> None:
        """Run one change for each of `rows`, which may be empty."""
        found = self._find(query, "run_many")
        scoped = [self._scoped(found, row) for row in rows]
        if scoped:
            self._session.execute_many(found.sql, scoped)
        if self.watch is not None:
            for row in rows:
                self.watch(query, row, ())

    def end(self) -> None:
        """Refuse further queries. Called when the work is done."""
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
    """Wrap `work` of an owner for a database thread. InputRefused if `owner` is not a valid name."""
    check_ref(owner, "owner")

    def run(session: Session) -> T:
        tx = Tx(owner, session, catalogue)
        try:
            return work(tx)
        finally:
            tx.end()

    return run


class SystemTx:
    """An open transaction across owners. It runs the queries in `queries/system` only.

    Those read jobs and tokens, which hold no content. The work of a job, or of a request with a token, is
    done in a `Tx` of its owner.
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
    work: Callable[[SystemTx], T], catalogue: Catalogue, setup: str | None = None
) -> Callable[[Session], T]:
    """Wrap `work` across owners for a database thread. `setup` is a statement that permits it."""

    def run(session: Session) -> T:
        if setup is not None:
            session.fetch(setup, {})
        return work(SystemTx(session, catalogue))

    return run


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes and timeouts of a database. After a timeout the caller gets `StoreUnavailable`."""

    readers: int = 4
    """SQLite: threads that read at the same time."""
    connections: int = 8
    """PostgreSQL: threads, each with a connection of its own."""
    batch_units: int = 128
    """SQLite: units of work that share one commit at most."""
    waiting_units: int = 10_000
    """Units of work that may wait for a thread; one more is refused."""
    lock_seconds: float = 5.0
    """Waiting for a lock that another writer holds."""
    connect_seconds: float = 5.0
    """PostgreSQL: opening a connection."""
    replica_seconds: float = 0.1
    """PostgreSQL: waiting for a read replica that is behind, before the primary answers."""
    statement_seconds: float = 30.0
    """PostgreSQL: one statement."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            if getattr(self, limit.name) <= 0:
                raise SettingsInvalid(f"the limit {limit.name} must be more than 0")


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class DatabaseStatus:
    """Facts for an operator. None where a fact does not exist for that database."""

    url: str
    """Without its password."""
    dialect: Dialect
    version: str
    """Of the SQLite library or of the PostgreSQL server."""
    schema_version: int
    latest_version: int
    """The newest schema that this program knows."""
    pending: int
    """Migrations that were not applied yet."""
    size_bytes: int
    journal_mode: str | None = None
    synchronous: str | None = None
    connections: int | None = None
    is_pooled: bool | None = None
    """Whether there is a connection pooler in front of PostgreSQL."""
    partitions: int | None = None
    """Hash partitions by owner of each table; 0 for none."""
    role: str | None = None
    bypasses_row_security: bool | None = None
    """True for a superuser or a role with BYPASSRLS: row-level security then has no effect."""


@dataclass(frozen=True, slots=True)
class ReplicaStatus:
    """How far a replica is behind its primary."""

    url: str
    """Without its password."""
    is_following: bool
    """False for a server that is not in recovery, such as one that was promoted."""
    lag_bytes: int
    """Of the log that the primary has written."""
    lag_seconds: float
    """Since the last commit that it has replayed; 0 if it has replayed all."""


class ChangedTooOften(Conflict):
    """A heavy write was repeated in vain: each time, its owner's rows had changed."""


class Database(Protocol):
    """SQLite or PostgreSQL. Safe to use from any task and any event loop of the process."""

    @property
    def dialect(self) -> Dialect: ...

    async def read(
        self, owner: str, work: Callable[[Tx], T], *, heavy: bool = False, replica: bool = False
    ) -> T:
        """Run `work` on one consistent snapshot. It cannot write.

        On SQLite it runs on the calling thread, unless it is `heavy`: say so for work that may take longer
        than a few milliseconds (an export, a deep walk), so that it does not block the event loop.

        `replica` permits a read replica to answer, if there is one; it sees all that is committed when this
        is called. Say so for lists, searches and exports, not for a read that a write depends on. Unless it
        is `heavy`, `work` may then run a second time.
        """
        ...

    async def write(self, owner: str, work: Callable[[Tx], T], *, heavy: bool = False) -> T:
        """Run `work` in a transaction and return when it is durable. If it raises, nothing of it is stored.

        Say `heavy` for work that may take longer than a second (an import), so that it does not block the
        writes of other owners on SQLite. It may run more than once, and Conflict is raised if other writes
        of the same owner get in its way each time.

        A task that is cancelled before its work began is cancelled, and nothing is stored. Once the work has
        begun, its true outcome is returned or raised instead of the cancellation: stored data is never
        reported as cancelled.
        """
        ...

    async def system(self, work: Callable[[SystemTx], T]) -> T:
        """Run `work` across owners, in a transaction that is durable when this returns. Jobs only."""
        ...

    async def system_read(self, work: Callable[[SystemTx], T], *, replica: bool = False) -> T:
        """Read across owners on one consistent snapshot. Writers do not block it. `replica` as in `read`."""
        ...

    async def get_meta(self, key: str) -> str | None:
        """A value stored for the whole database, such as the analyzer version of its index."""
        ...

    async def set_meta(self, key: str, value: str) -> None: ...

    async def check(self) -> None:
        """Raise `StoreUnavailable` if a write is not possible now. Changes nothing."""
        ...

    async def status(self) -> DatabaseStatus: ...

    async def close(self) -> None:
        """Finish the queued work, then close threads, files and connections. May be called twice."""
        ...
