"""Documents in SQL: the contract on both databases, what the database file reveals, and altered rows."""

from __future__ import annotations

import pytest

from gieok import Gieok
from gieok.errors import SealBroken, StoreDamaged
from gieok.testing.contracts.documents import DocumentStoreContract, ScopeOf, found, get, put
from tests.behind import Behind


class TestSqlDocumentStore(DocumentStoreContract):
    """SQLite and PostgreSQL, by the fixture `gieok`."""

    @pytest.fixture
    def scope_of(self, gieok: Gieok) -> ScopeOf:
        return gieok.scope


@pytest.mark.req("INT-3")
async def test_neither_namespace_nor_key_nor_value_is_stored_in_clear(gieok: Gieok, behind: Behind) -> None:
    await put(gieok.scope("minsu"), "quokka", {"axolotl": "wombat"}, namespace=("platypus", "numbat"))
    words = ("quokka", "axolotl", "wombat", "platypus", "numbat")
    for table, column in (("document_heads", "terms"), ("chain_versions", "content")):
        (stored,) = behind.run(f"SELECT {column} FROM {table}")
        assert stored[0]
        assert not [word for word in words if word.encode() in bytes(stored[0])]
    scopes = behind.run("SELECT scope FROM search_scopes WHERE kind = 'documents'")
    assert scopes == [("all",)]


async def test_a_document_under_another_name_is_detected(gieok: Gieok, behind: Behind) -> None:
    """Heads are not sealed, so they are compared with the sealed version."""
    scope = gieok.scope("minsu")
    await put(scope, "a", {"n": 1})
    await put(scope, "b", {"n": 2})
    token = "(SELECT name_token FROM document_heads ORDER BY name_token LIMIT 1)"
    behind.run(f"UPDATE document_heads SET name_token = 1 WHERE name_token = {token}")
    missing = [key for key in "ab" if await get(scope, key) is None]
    assert len(missing) == 1
    report = await gieok.check_integrity(owner="minsu", repair=True)
    assert {(each.table, each.is_repaired) for each in report.damage} == {("document_heads", True)}
    assert [(await get(scope, key)) is not None for key in "ab"] == [True, True]


async def test_an_altered_value_is_not_returned(gieok: Gieok, behind: Behind) -> None:
    scope = gieok.scope("minsu")
    await put(scope, "a", {"text": "interview"})
    behind.run("UPDATE chain_versions SET created_at = created_at + 1 WHERE kind = 'document'")
    with pytest.raises(SealBroken):
        await get(scope, "a")
    with pytest.raises(SealBroken):
        await found(scope, "interview")


async def test_a_missing_version_is_detected(gieok: Gieok, behind: Behind) -> None:
    scope = gieok.scope("minsu")
    await put(scope, "a", {"text": "interview"})
    behind.run("UPDATE document_heads SET version = 2")
    with pytest.raises(StoreDamaged):
        await get(scope, "a")
