"""Turn memory in SQL: the contract on both databases, and what only a database can get wrong."""

from __future__ import annotations

import pytest

from gieok.adapters.sql.scope import OwnerScope
from gieok.app import Gieok
from gieok.testing.memory_store_contract import MemoryStoreContract, ScopeOf


class TestSqlMemoryStore(MemoryStoreContract):
    """SQLite and PostgreSQL, by the fixture `gieok`."""

    @pytest.fixture
    def scope_of(self, gieok: Gieok) -> ScopeOf:
        return lambda owner: OwnerScope(gieok.database, gieok.vault, owner)
