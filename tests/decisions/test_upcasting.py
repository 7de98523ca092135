"""Decisions in an older form are upcast when read, and their rows are not rewritten."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

import pytest

from gieok import Gieok
from gieok.errors import SchemaMismatch, StoreDamaged
from gieok.memory.chains import NEW, VersionDraft
from gieok.memory.decisions.documents import FORM, UPCASTERS, from_document
from gieok.memory.decisions.records import DecisionProposal
from gieok.testing.clock import Clock
from tests.behind import Behind
from tests.decisions.test_chains import Chains, create_owner

OLD = {"statement": "창고는 하나로 센다", "strength": "lock", "scope": "WMS"}


async def store_document(gieok: Gieok, behind: Behind, document: dict[str, Any], form: int) -> UUID:
    """Store a decision as an older or a newer version of Gieok would."""
    await create_owner(gieok, "minsu")
    root, at = uuid4(), Clock().now
    draft = VersionDraft(id=uuid4(), form=form, content=json.dumps(document).encode(), created_at=at)
    await Chains(gieok, "minsu", "decision").write(lambda store: store.append(root, draft, NEW))
    token = gieok.vault.keys("minsu").token("decisions.domain", "wms")
    behind.run(
        "INSERT INTO decision_heads (owner, root_id, version, domain_token, strength, created_at) "
        f"SELECT owner, root_id, version, {token}, 2, created_at FROM chain_versions"
    )
    return root


@pytest.mark.req("DEC-5")
async def test_an_older_form_is_upcast_when_read(gieok: Gieok, behind: Behind) -> None:
    """In form 0 the scope was `global` or the name of a domain."""
    root = await store_document(gieok, behind, OLD, form=0)
    decisions = gieok.user("minsu").decisions
    read = await decisions.get(root)
    assert (read.scope, read.domain, read.statement) == ("domain", "wms", OLD["statement"])
    assert (read.rationale, read.evidence_ids, read.is_active) == (None, (), True)
    assert (await decisions.list(domain="wms")).decisions == (read,)


@pytest.mark.req("DEC-5", "DEC-4")
async def test_an_older_row_is_not_rewritten(gieok: Gieok, behind: Behind) -> None:
    root = await store_document(gieok, behind, OLD, form=0)
    old_row = "SELECT id, form, content, created_at FROM chain_versions WHERE version = 1"
    before = behind.run(old_row)
    decisions = gieok.user("minsu").decisions
    await decisions.get(root)
    changed = DecisionProposal(statement="둘로 센다", strength="lock", scope="global", root_id=root)
    await decisions.save(changed, expected_version=1)
    first, second = await decisions.history(root)
    assert (first.domain, first.is_active, second.is_active) == ("wms", False, True)
    assert behind.run(old_row) == before
    assert behind.run("SELECT form FROM chain_versions WHERE version = 2") == [(FORM,)]


async def test_a_newer_form_is_refused(gieok: Gieok, behind: Behind) -> None:
    root = await store_document(gieok, behind, OLD, form=FORM + 1)
    with pytest.raises(SchemaMismatch, match="install a newer Gieok"):
        await gieok.user("minsu").decisions.get(root)


def test_every_older_form_has_an_upcaster() -> None:
    assert sorted(UPCASTERS) == list(range(FORM))


def test_a_global_decision_of_form_0_stays_global() -> None:
    read = from_document(json.dumps(OLD | {"scope": "global"}).encode(), 0)
    assert (read.scope, read.domain) == ("global", None)


@pytest.mark.parametrize("document", [b"", b"[]", b"{}", b'{"scope": 3}', b"\xff"])
@pytest.mark.parametrize("form", [0, FORM])
def test_a_document_that_does_not_match_its_form_is_damaged(document: bytes, form: int) -> None:
    with pytest.raises(StoreDamaged):
        from_document(document, form)
