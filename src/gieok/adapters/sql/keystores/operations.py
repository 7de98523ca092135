"""The keystore operations in SQL, shared by SQLite and PostgreSQL. Each operation is one transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files

from gieok.adapters.sql.driver.database import Row, Session, Value
from gieok.adapters.sql.driver.queries import Dialect, read_queries
from gieok.errors import Conflict, OwnerErased, StoreDamaged
from gieok.vault.keystore import Head, KeyCounts, WrappedKey, check_root

_REWRAP_PAGE = 500


class KeyTx:
    """An open transaction on the keystore. Runs the named queries of `queries.sql`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._queries = _queries(session.dialect)

    def rows(self, query: str, /, **params: Value) -> list[Row]:
        return self._session.fetch(self._queries[query], params)

    def run(self, query: str, /, **params: Value) -> int:
        """Run a statement. Returns the number of changed rows."""
        return self._session.execute(self._queries[query], params)

    def run_many(self, query: str, rows: Sequence[Mapping[str, Value]]) -> None:
        self._session.execute_many(self._queries[query], rows)


class SqlKeyStore(ABC):
    """A keystore in a SQL database. Subclasses open the transactions."""

    def __init__(self, location: str) -> None:
        self._location = location

    @property
    def location(self) -> str:
        return self._location

    @abstractmethod
    def _reading(self) -> AbstractContextManager[KeyTx]:
        """Open a read transaction, which sees one snapshot."""

    @abstractmethod
    def _writing(self, *, exclusive: bool = False) -> AbstractContextManager[KeyTx]:
        """Open a write transaction, durable once left. No other is open beside an `exclusive` one."""

    @abstractmethod
    def _scrub(self) -> None:
        """Overwrite deleted keys in the database files, as far as the database allows."""

    @abstractmethod
    def close(self) -> None: ...

    def head(self) -> Head | None:
        with self._reading() as tx:
            return _head(tx)

    def claim(self, head: Head) -> Head:
        tag_key = head.tag_key
        with self._writing(exclusive=True) as tx:
            tx.run(
                "claim",
                root_id=head.root_id,
                tag_key_id=tag_key.key_id,
                tag_key=tag_key.wrapped,
                created_at=tag_key.created_at,
            )
            return _head(tx) or head

    def read(self, root_id: str, owner: str, tag: bytes) -> Sequence[WrappedKey]:
        with self._reading() as tx:
            self._check_root(tx, root_id)
            _check_not_erased(tx, tag)
            return _keys_of(tx, owner)

    def insert(self, root_id: str, tag: bytes, keys: Sequence[WrappedKey]) -> Sequence[WrappedKey]:
        with self._writing() as tx:
            self._check_root(tx, root_id)
            _check_not_erased(tx, tag)
            for key in keys:
                _insert(tx, key)
            return _keys_of(tx, keys[0].owner)

    def add(self, root_id: str, tag: bytes, key: WrappedKey) -> None:
        with self._writing() as tx:
            self._check_root(tx, root_id)
            _check_not_erased(tx, tag)
            newest = tx.rows("newest_generation", owner=key.owner)[0][0]
            if newest != key.generation - 1 or _insert(tx, key) == 0:
                raise Conflict(
                    "another process rotated this owner's data key at the same time; nothing was added"
                )

    def delete_older(self, root_id: str, owner: str, generation: int) -> int:
        with self._writing() as tx:
            self._check_root(tx, root_id)
            return tx.run("delete_older", owner=owner, generation=generation)

    def rewrap(self, root_id: str, head: Head, rewrap: Callable[[WrappedKey], WrappedKey]) -> int:
        rewrapped = 0
        last = ("", "", 0)
        with self._writing(exclusive=True) as tx:
            self._check_root(tx, root_id)
            tx.run("replace_head", root_id=head.root_id, tag_key=head.tag_key.wrapped)
            while page := _keys_after(tx, last):
                tx.run_many("replace_wrapped", [_replacement(rewrap(key)) for key in page])
                rewrapped += len(page)
                last = (page[-1].owner, page[-1].purpose, page[-1].generation)
        self._scrub()
        return rewrapped

    def begin_erasure(self, owner: str, tag: bytes) -> None:
        # Exclusive: an insert that has already checked for a tombstone must not store keys after this.
        with self._writing(exclusive=True) as tx:
            tx.run("destroy_keys", owner=owner)
            tx.run("begin_erasure", owner=owner, tag=tag)
        self._scrub()

    def finish_erasure(self, tag: bytes) -> bool:
        with self._writing() as tx:
            was_begun = tx.run("finish_erasure", tag=tag) > 0
        self._scrub()
        return was_begun

    def has_tombstone(self, tag: bytes) -> bool:
        with self._reading() as tx:
            return bool(tx.rows("tombstone", tag=tag))

    def tombstones(self, after: bytes, limit: int) -> Sequence[bytes]:
        with self._reading() as tx:
            return [tag for (tag,) in tx.rows("tombstones", tag=after, limit=limit)]

    def unfinished_erasures(self) -> Sequence[str]:
        with self._reading() as tx:
            return [owner for (owner,) in tx.rows("unfinished_erasures")]

    def owners(self, after: str, limit: int) -> Sequence[str]:
        with self._reading() as tx:
            return [owner for (owner,) in tx.rows("owners", owner=after, limit=limit)]

    def counts(self) -> KeyCounts:
        with self._reading() as tx:
            owners, keys, erasing, erased, oldest = tx.rows("counts")[0]
        oldest_key = None if oldest is None else datetime.fromtimestamp(oldest, UTC)
        return KeyCounts(owners, keys, erasing, erased, oldest_key)

    def _check_root(self, tx: KeyTx, root_id: str) -> None:
        head = _head(tx)
        if head is None:
            raise StoreDamaged(
                f"the keystore {self._location} was emptied while in use; restore it from a backup"
            )
        check_root(self._location, expected=root_id, actual=head.root_id)


def keystore_schema(dialect: Dialect) -> str:
    """The statements that create an empty keystore."""
    return _file(f"{dialect}.sql")


@cache
def _queries(dialect: Dialect) -> Mapping[str, str]:
    name = "queries.sql"
    return {query.name: query.sql for query in read_queries(_file(name), dialect, name)}


def _file(name: str) -> str:
    return files("gieok.adapters.sql.keystores").joinpath(name).read_text(encoding="utf-8")


def _head(tx: KeyTx) -> Head | None:
    for root_id, key_id, wrapped, created_at in tx.rows("head"):
        return Head(root_id, WrappedKey("", "tags", 1, key_id, wrapped, created_at))
    return None


def _check_not_erased(tx: KeyTx, tag: bytes) -> None:
    if tx.rows("tombstone", tag=tag):
        raise OwnerErased(
            "this owner was erased and the keys are destroyed, so their data cannot be read; choose another "
            "name, or let a new owner use this one with `gieok token create`"
        )


def _keys_of(tx: KeyTx, owner: str) -> list[WrappedKey]:
    return [WrappedKey(*row) for row in tx.rows("keys_of", owner=owner)]


def _keys_after(tx: KeyTx, last: tuple[str, str, int]) -> list[WrappedKey]:
    owner, purpose, generation = last
    page = tx.rows("keys_after", owner=owner, purpose=purpose, generation=generation, limit=_REWRAP_PAGE)
    return [WrappedKey(*row) for row in page]


def _insert(tx: KeyTx, key: WrappedKey) -> int:
    return tx.run(
        "insert_key",
        owner=key.owner,
        purpose=key.purpose,
        generation=key.generation,
        key_id=key.key_id,
        wrapped=key.wrapped,
        created_at=key.created_at,
    )


def _replacement(key: WrappedKey) -> Mapping[str, Value]:
    return {
        "owner": key.owner,
        "purpose": key.purpose,
        "generation": key.generation,
        "wrapped": key.wrapped,
    }
