"""Decision memory in SQL: the contract on both databases, and rows that were tampered with."""

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
    """SQLite and PostgreSQL, by the fixture `gieok`."""

    @pytest.fixture
    def scope_of(self, gieok: Gieok) -> ScopeOf:
        return gieok.scope


@pytest.fixture
def scope(gieok: Gieok) -> OwnerScope:
    return gieok.scope("minsu")


@pytest.mark.req("DEC-6", "DEC-13")
async def test_a_head_that_was_made_stronger_is_damage(scope: OwnerScope, behind: Behind) -> None:
    """Heads are not sealed, so what they say is held against what the version says."""
    await save(scope, content("normal", strength="normal"))
    behind.run("UPDATE decision_heads SET strength = 1")
    with pytest.raises(StoreDamaged):
        await listed(scope)


@pytest.mark.req("DEC-6")
async def test_a_head_that_was_moved_to_another_domain_is_damage(scope: OwnerScope, behind: Behind) -> None:
    await save(scope, content("here", "runtime"))
    behind.run("UPDATE decision_heads SET domain_token = 0")
    with pytest.raises(StoreDamaged):
        await listed(scope, of="global")


async def test_a_posting_of_another_domain_is_damage(scope: OwnerScope, behind: Behind) -> None:
    await save(scope, content("index everything"))
    await save(scope, content("something else", "runtime"))
    moved = "(SELECT root_id FROM decision_heads WHERE domain_token <> 0)"
    behind.run(f"DELETE FROM decision_index WHERE root_id = {moved}")
    behind.run(f"UPDATE decision_index SET root_id = {moved}")
    with pytest.raises(StoreDamaged):
        await found(scope, "index")


async def test_evidence_that_is_found_by_another_content_is_damage(scope: OwnerScope, behind: Behind) -> None:
    card = await keep(scope, EvidenceDraft(title="t", content="one"))
    await keep(scope, EvidenceDraft(title="t", content="two"))
    (one,), (two,) = behind.run("SELECT digest_token FROM evidence")
    for old, new in ((one, 0), (two, one), (0, two)):
        behind.run(f"UPDATE evidence SET digest_token = {new} WHERE digest_token = {old}")
    with pytest.raises(StoreDamaged):
        await scope.read(lambda rooms: rooms.evidence.find([card.sha256]))


@pytest.mark.req("DEC-14")
async def test_an_anchor_cannot_be_moved_to_another_session(scope: OwnerScope, behind: Behind) -> None:
    card = await keep(scope, EvidenceDraft(title="t", content="one"))
    sign = anchor("s1", (Target(kind="evidence", id=card.id),))
    await scope.write(lambda rooms: rooms.anchors.save(sign))
    behind.run("UPDATE anchors SET session_ref = 's2'")
    with pytest.raises(SealBroken):
        await scope.read(lambda rooms: rooms.anchors.list("s2", 10))
