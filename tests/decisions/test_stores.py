"""The SQL stores of decision memory: the contract on both databases, and detection of altered rows."""

from __future__ import annotations

import pytest

from gieok import Gieok
from gieok.adapters.sql.scope import OwnerScope
from gieok.errors import SealBroken, StoreDamaged
from gieok.memory.decisions.records import EvidenceDraft, Target
from gieok.testing.contracts.decisions import (
    DecisionStoreContract,
    ScopeOf,
    anchor,
    content,
    found,
    keep,
    listed,
    save,
)
from tests.behind import Behind


class TestSqlDecisionStores(DecisionStoreContract):
    """Runs on SQLite and PostgreSQL through the fixture `gieok`."""

    @pytest.fixture
    def scope_of(self, gieok: Gieok) -> ScopeOf:
        return gieok.scope


@pytest.fixture
def scope(gieok: Gieok) -> OwnerScope:
    return gieok.scope("minsu")


@pytest.mark.req("DEC-6", "DEC-13")
async def test_a_head_with_an_altered_strength_is_detected(scope: OwnerScope, behind: Behind) -> None:
    """Heads are not sealed, so they are compared with the sealed version."""
    await save(scope, content("normal", strength="normal"))
    behind.run("UPDATE decision_heads SET strength = 1")
    with pytest.raises(StoreDamaged):
        await listed(scope)


@pytest.mark.req("DEC-6")
async def test_a_head_with_an_altered_domain_is_detected(scope: OwnerScope, behind: Behind) -> None:
    await save(scope, content("here", "runtime"))
    behind.run("UPDATE decision_heads SET domain_token = 0")
    with pytest.raises(StoreDamaged):
        await listed(scope, of="global")


async def test_an_index_entry_of_another_domain_is_detected(scope: OwnerScope, behind: Behind) -> None:
    """A decision of a domain, moved among the global ones with the terms of one of them."""
    await save(scope, content("index everything"))
    await save(scope, content("something else", "runtime"))
    terms = "(SELECT terms FROM decision_heads WHERE domain_token = 0)"
    behind.run(f"UPDATE decision_heads SET terms = {terms}, domain_token = 0 WHERE domain_token <> 0")
    with pytest.raises(StoreDamaged):
        await found(scope, "index")


@pytest.mark.parametrize("damaged", ["substr(terms, 1, 0)", "substr(terms, 1, 20)", "substr(terms, 13)"])
async def test_damaged_terms_are_detected(scope: OwnerScope, behind: Behind, damaged: str) -> None:
    """No terms, half a record, no header."""
    await save(scope, content("index everything"))
    behind.run(f"UPDATE decision_heads SET terms = {damaged}")
    with pytest.raises(StoreDamaged):
        await found(scope, "index")


async def test_terms_of_another_version_are_detected(scope: OwnerScope, behind: Behind) -> None:
    saved = await save(scope, content("index everything"))
    ((terms,),) = behind.run("SELECT terms FROM decision_heads")
    await save(scope, content("something else"), saved.root_id)
    behind.run(f"UPDATE decision_heads SET terms = {behind.literal(bytes(terms))}")
    with pytest.raises(StoreDamaged, match=str(saved.root_id)):
        await found(scope, "index")


async def test_evidence_under_the_digest_of_another_content_is_detected(
    scope: OwnerScope, behind: Behind
) -> None:
    card = await keep(scope, EvidenceDraft(title="t", content="one"))
    await keep(scope, EvidenceDraft(title="t", content="two"))
    (one,), (two,) = behind.run("SELECT digest_token FROM evidence")
    for old, new in ((one, 0), (two, one), (0, two)):
        behind.run(f"UPDATE evidence SET digest_token = {new} WHERE digest_token = {old}")
    with pytest.raises(StoreDamaged):
        await scope.read(lambda view: view.evidence.find([card.sha256]))


@pytest.mark.req("DEC-14")
async def test_an_anchor_with_an_altered_session_is_detected(scope: OwnerScope, behind: Behind) -> None:
    card = await keep(scope, EvidenceDraft(title="t", content="one"))
    sign = anchor("s1", (Target(kind="evidence", id=card.id),))
    await scope.write(lambda view: view.anchors.save(sign))
    behind.run("UPDATE anchors SET session_ref = 's2'")
    with pytest.raises(SealBroken):
        await scope.read(lambda view: view.anchors.list("s2", 10))
