"""Turn memory in SQL: the contract on both databases, and the prefix search."""

from __future__ import annotations

import pytest

from gieok.app import Gieok
from gieok.testing.contracts.turns import MemoryStoreContract, ScopeOf, found_ids, item, save


class TestSqlMemoryStore(MemoryStoreContract):
    """SQLite and PostgreSQL, by the fixture `gieok`."""

    @pytest.fixture
    def scope_of(self, gieok: Gieok) -> ScopeOf:
        return gieok.scope


@pytest.mark.req("TURN-6")
async def test_a_prefix_search_continues_while_a_better_match_is_possible(gieok: Gieok) -> None:
    """Both memories have two keywords in `cat`; only the older one has two in `catal`."""
    scope = gieok.scope("minsu")
    better = item("catalogue", "catalyst", minute=1)
    await save(scope, better, item("catalogue", "category", minute=2))
    assert await found_ids(scope, "catal", top_k=1) == [better.id]
