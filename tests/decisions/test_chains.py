"""The SQL store of version chains: the contract on both databases, and detection of altered rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from uuid import uuid4

import pytest

from gieok import Gieok
from gieok.adapters.sql.stores.chains import SqlChainStore
from gieok.errors import SealBroken, StoreDamaged
from gieok.memory.chains import NEW, ChainStore
from gieok.testing.contracts.chains import ChainContract, ChainsOf, append, history
from tests.behind import Behind

T = TypeVar("T")


class Chains:
    """The chains of one kind of an existing owner."""

    def __init__(self, gieok: Gieok, owner: str, kind: str = "anything") -> None:
        self._gieok = gieok
        self._owner = owner
        self._kind = kind

    async def read(self, work: Callable[[ChainStore], T]) -> T:
        keys = self._gieok.vault.keys(self._owner)
        return await self._gieok.database.read(
            self._owner, lambda tx: work(SqlChainStore(tx, keys, self._kind))
        )

    async def write(self, work: Callable[[ChainStore], T]) -> T:
        keys = self._gieok.vault.keys(self._owner)
        return await self._gieok.database.write(
            self._owner, lambda tx: work(SqlChainStore(tx, keys, self._kind))
        )


async def create_owner(gieok: Gieok, owner: str) -> None:
    """Create the owner, as the first write does."""
    await gieok.scope(owner).write(lambda _: None)


class TestSqlChains(ChainContract):
    """Runs on SQLite and PostgreSQL through the fixture `gieok`."""

    @pytest.fixture
    def chains_of(self, gieok: Gieok) -> ChainsOf:
        async def chains(owner: str) -> Chains:
            await create_owner(gieok, owner)
            return Chains(gieok, owner)

        return chains


async def test_chains_of_two_kinds_are_separate(gieok: Gieok) -> None:
    await create_owner(gieok, "minsu")
    facts, decisions, root = Chains(gieok, "minsu", "fact"), Chains(gieok, "minsu", "decision"), uuid4()
    await append(facts, root, "a fact", NEW)
    assert await history(decisions, root) == []
    await append(decisions, root, "a decision", NEW)
    assert [version.content for version in await history(facts, root)] == [b"a fact"]


@pytest.mark.req("DEC-4", "DEC-5")
@pytest.mark.parametrize(
    "damage",
    [
        "SET form = form + 1",
        "SET created_at = created_at + 1",
        "SET version = version + 5",
        "SET kind = 'other'",
        "SET id = root_id",
        "SET root_id = id",
    ],
)
async def test_an_altered_version_cannot_be_decrypted(gieok: Gieok, behind: Behind, damage: str) -> None:
    """Every column of a version is bound to its seal."""
    await create_owner(gieok, "minsu")
    root = uuid4()
    made = await append(Chains(gieok, "minsu"), root, "one", NEW)
    behind.run("DELETE FROM chain_heads")
    behind.run(f"UPDATE chain_versions {damage}")
    kind = "other" if "kind" in damage else "anything"
    moved = made.id if "root_id = id" in damage else root
    with pytest.raises(SealBroken):
        await history(Chains(gieok, "minsu", kind), moved)


@pytest.mark.req("DEC-4")
async def test_a_head_without_its_version_is_reported_as_damaged(gieok: Gieok, behind: Behind) -> None:
    await create_owner(gieok, "minsu")
    root = uuid4()
    await append(Chains(gieok, "minsu"), root, "one", NEW)
    if gieok.database.dialect == "postgres":
        behind.run("ALTER TABLE chain_heads DROP CONSTRAINT chain_heads_owner_kind_root_id_latest_fkey")
    behind.run("DELETE FROM chain_versions")
    with pytest.raises(StoreDamaged, match=str(root)):
        await Chains(gieok, "minsu").read(lambda store: store.active([root]))
