"""Vectors in SQL: the contract on both databases, and what an intruder, a new key and an erasure find."""

from __future__ import annotations

import pytest

from gieok import Gieok
from gieok.errors import SealBroken
from gieok.testing.contracts.companion import memory
from gieok.testing.contracts.vectors import VectorScopeOf, VectorStoreContract, embed, keep, kept
from tests.behind import Behind


class TestSqlVectorStore(VectorStoreContract):
    """SQLite and PostgreSQL, by the fixture `gieok`."""

    @pytest.fixture
    def scope_of(self, gieok: Gieok) -> VectorScopeOf:
        return gieok.scope


@pytest.mark.req("OPS-2")
async def test_a_vector_moved_to_another_row_does_not_open(gieok: Gieok, behind: Behind) -> None:
    scope = gieok.scope("minsu")
    await keep(scope, memory(), memory(minute=1))
    await embed(scope)
    one = "(SELECT vector FROM memory_vectors WHERE number = 1)"
    behind.run(f"UPDATE memory_vectors SET vector = {one} WHERE number = 2")
    with pytest.raises(SealBroken):
        await kept(scope)


@pytest.mark.req("OPS-2")
async def test_a_key_rotation_reseals_vectors(gieok: Gieok, behind: Behind) -> None:
    """Otherwise they would be lost together with the old key."""
    scope = gieok.scope("minsu")
    await keep(scope, memory(), memory(minute=1))
    await embed(scope)
    before = (await kept(scope), behind.run("SELECT vector FROM memory_vectors ORDER BY number"))
    await gieok.user("minsu").rotate_key()
    after = (await kept(scope), behind.run("SELECT vector FROM memory_vectors ORDER BY number"))
    assert after[0] == before[0]
    assert all(new != old for new, old in zip(after[1], before[1], strict=True))


@pytest.mark.req("OPS-3")
async def test_an_erasure_removes_vectors(gieok: Gieok, behind: Behind) -> None:
    scope = gieok.scope("minsu")
    await keep(scope, memory())
    await embed(scope)
    await gieok.user("minsu").data.erase()
    assert behind.count("memory_vectors") == 0
