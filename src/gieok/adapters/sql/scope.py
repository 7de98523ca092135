"""One owner on one database: the rooms that a transaction opens, with the owner's keys in hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from gieok.adapters.sql.database import Database, Tx
from gieok.adapters.sql.sessions import SqlSessionStore
from gieok.adapters.sql.turns import SqlMemoryStore
from gieok.engine import Write
from gieok.errors import OwnerErased
from gieok.refs import check_ref
from gieok.vault import OwnerKeys, Vault

T = TypeVar("T")


class SqlRooms:
    """Every store, for one owner inside one transaction. A store is light and made when it is entered."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    @property
    def turns(self) -> SqlMemoryStore:
        return SqlMemoryStore(self._tx, self._keys)

    @property
    def sessions(self) -> SqlSessionStore:
        return SqlSessionStore(self._tx)


class OwnerScope:
    """Where one owner's cycles read and commit. It never opens a transaction of another owner."""

    def __init__(self, database: Database, vault: Vault, owner: str) -> None:
        self.owner = check_ref(owner, "owner")
        self._database = database
        self._vault = vault

    async def read(self, work: Callable[[SqlRooms], T]) -> T:
        """Run `work` on one consistent view of this owner's data."""
        return await self._database.read(self.owner, lambda tx: work(SqlRooms(tx, self._keys_to_read(tx))))

    async def write(self, work: Callable[[SqlRooms], T]) -> T:
        """Run `work` in one transaction of this owner."""
        return await self._database.write(self.owner, lambda tx: work(SqlRooms(tx, self._keys_to_write(tx))))

    async def commit(self, writes: Sequence[Write]) -> list[Any]:
        """The writes of a cycle, in order, in one transaction."""
        return await self.write(lambda rooms: [write(rooms) for write in writes])

    def _keys_to_read(self, tx: Tx) -> OwnerKeys:
        guard = tx.one("get_owner")
        return self._live_keys(guard[0], guard[1]) if guard else OwnerKeys.unknown(self.owner)

    def _keys_to_write(self, tx: Tx) -> OwnerKeys:
        guard = tx.one("hold_owner")
        if guard is None and not tx.run("add_owner", key_generation=1, created_at=_now()):
            guard = tx.one("hold_owner")  # another process admitted the owner at the same moment
        if guard:
            return self._live_keys(guard[0], guard[1])
        # Only now, holding the guard row: an erasure at this moment has either left its tombstone already,
        # which refuses the keys, or waits for this row and then removes what is written here.
        keys = self._vault.create(self.owner)
        if keys.generation > 1:
            tx.run("set_owner_key_generation", key_generation=keys.generation)
        return keys

    def _live_keys(self, generation: int, erased_at: str | None) -> OwnerKeys:
        if erased_at is not None:
            raise OwnerErased("this owner was erased, and nothing of theirs can be read or stored any more")
        return self._vault.keys(self.owner, generation)


def _now() -> str:
    return datetime.now(UTC).isoformat()
