"""Idempotency keys in SQL: the contract on both databases."""

from __future__ import annotations

import pytest

from gieok.app import Gieok
from gieok.testing.contracts.requests import RequestStoreContract, ScopeOf


class TestSqlRequestStore(RequestStoreContract):
    """SQLite and PostgreSQL, by the fixture `gieok`."""

    @pytest.fixture
    def scope_of(self, gieok: Gieok) -> ScopeOf:
        return gieok.scope
