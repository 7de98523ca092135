"""Canon in SQL: the contracts on both databases, and tampered rows."""

from __future__ import annotations

import pytest

from gieok import Gieok
from gieok.adapters.sql.scope import OwnerScope
from gieok.errors import GieokError, SchemaMismatch, SealBroken, StoreDamaged
from gieok.memory.canon.documents import FACT_FORM, FactDocument, from_document
from gieok.memory.observations import Category, FactSource
from gieok.testing.contracts.facts import (
    FactStoreContract,
    ScopeOf,
    active,
    fact,
    history,
    root_of,
    save,
    values,
)
from gieok.testing.contracts.personas import PersonaStoreContract, create, get
from tests.behind import Behind


class _OnSql:
    """SQLite and PostgreSQL, by the fixture `gieok`."""

    @pytest.fixture
    def scope_of(self, gieok: Gieok) -> ScopeOf:
        return gieok.scope


class TestSqlFactStore(_OnSql, FactStoreContract): ...


class TestSqlPersonaStore(_OnSql, PersonaStoreContract): ...


@pytest.fixture
def scope(gieok: Gieok) -> OwnerScope:
    return gieok.scope("minsu")


TAMPERED: list[tuple[str, str, type[GieokError]]] = [
    (
        "another persona's fact",
        "UPDATE fact_heads SET persona_token = (SELECT persona_token FROM fact_heads WHERE importance = 5)",
        StoreDamaged,
    ),
    ("an ordinary fact made state", "UPDATE fact_heads SET standing = 2", StoreDamaged),
    ("a version that is gone", "DELETE FROM chain_heads; DELETE FROM chain_versions", StoreDamaged),
    ("a version moved to another place", "UPDATE chain_versions SET created_at = created_at + 1", SealBroken),
]


@pytest.mark.req("CANON-2", "COMP-7")
@pytest.mark.parametrize(("what", "sql", "error"), TAMPERED, ids=[what for what, _, _ in TAMPERED])
async def test_a_moved_fact_is_damage(
    scope: OwnerScope, behind: Behind, what: str, sql: str, error: type[GieokError]
) -> None:
    """Heads are not sealed, so what they say is held against what the version says."""
    await save(scope, fact("duri's", importance=1, category=Category.OTHER), "duri")
    await save(scope, fact("hana's", importance=5, category=Category.OTHER))
    for statement in sql.split(";"):
        behind.run(statement)
    with pytest.raises(error):
        await active(scope)


@pytest.mark.req("CANON-1")
async def test_a_persona_under_another_id_is_damage(scope: OwnerScope, behind: Behind) -> None:
    await create(scope, "hana")
    behind.run("UPDATE persona_heads SET persona_id = 'duri'")
    with pytest.raises(StoreDamaged):
        await get(scope, "duri")


async def test_a_fact_of_another_key_is_not_superseded(scope: OwnerScope, behind: Behind) -> None:
    """The token of a slot is not sealed: the stored key itself must agree before anything is appended."""
    await save(scope, fact("one", "a"))
    behind.run("CREATE TABLE kept AS SELECT key_token FROM fact_heads")
    behind.run("DELETE FROM fact_heads")
    await save(scope, fact("two", "b"))
    behind.run("UPDATE fact_heads SET key_token = (SELECT key_token FROM kept)")
    await save(scope, fact("three", "a"))
    assert sorted(await values(scope)) == ["three", "two"]


def test_a_newer_format_is_refused() -> None:
    with pytest.raises(SchemaMismatch, match="upgrade Gieok"):
        from_document(FactDocument, b"{}", FACT_FORM + 1)
    with pytest.raises(StoreDamaged):
        from_document(FactDocument, b"{}", FACT_FORM)


@pytest.mark.req("OPS-2")
async def test_canon_is_not_stored_in_clear(gieok: Gieok, scope: OwnerScope, behind: Behind) -> None:
    await create(scope, "hana-in-clear")
    await save(scope, fact("zebrafish 관찰", "어류 일지"))
    words = ("zebrafish", "어류", "일지", "다정한 친구", "의학 조언")
    assert behind.files_with(*words) == {word: [] for word in words}
    assert behind.files_with("hana-in-clear")["hana-in-clear"], (
        "the search itself must be able to find what lies in clear"
    )


@pytest.mark.req("OPS-2")
async def test_a_new_key_reseals_canon(gieok: Gieok, scope: OwnerScope, behind: Behind) -> None:
    persona = await create(scope)
    first = await save(scope, fact("one"))
    await save(scope, fact("two"))
    seals = "SELECT content FROM chain_versions ORDER BY kind, version"
    before = behind.run(seals)
    assert await gieok.user("minsu").rotate_key() == 3
    assert not {bytes(row[0]) for row in before} & {bytes(row[0]) for row in behind.run(seals)}
    assert await get(scope) == persona
    assert [version.value for version in await history(scope, root_of(first))] == ["one", "two"]
    assert (await save(scope, fact("three"))).outcome == "superseded"


@pytest.mark.req("OPS-3")
async def test_erasing_an_owner_leaves_nothing_of_their_canon(
    gieok: Gieok, scope: OwnerScope, behind: Behind
) -> None:
    await create(scope)
    await save(scope, fact("one"))
    other = gieok.scope("other")
    await save(other, fact("other's"))
    erased = (await gieok.user("minsu").data.erase()).erased
    assert (erased["persona_heads"], erased["fact_heads"]) == (1, 1)
    assert [behind.count(table) for table in ("persona_heads", "fact_heads", "chain_versions")] == [0, 1, 1]
    assert await values(other) == ["other's"]


@pytest.mark.req("CANON-6", "COMP-9")
@pytest.mark.parametrize("session_ref", [None, "s1"])
async def test_deleting_facts_raises_their_revision(
    scope: OwnerScope, behind: Behind, session_ref: str | None
) -> None:
    """Another process that cached the facts sees by it that they are gone."""
    source = FactSource(session_ref="s1", message_id="m1")
    await save(scope, fact(source=source))
    ((before,),) = behind.run("SELECT revision FROM fact_revisions")
    assert await scope.write(lambda view: view.facts.delete("hana", session_ref)) == 1
    ((after,),) = behind.run("SELECT revision FROM fact_revisions")
    assert after > before
