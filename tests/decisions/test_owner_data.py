"""All decision memory of an owner: encrypted, re-encrypted by a key rotation, erased."""

from __future__ import annotations

import pytest

from gieok import Gieok
from gieok.adapters.sql.lifecycle import owners
from gieok.errors import OwnerErased
from gieok.memory.decisions.records import DecisionProposal, Target
from tests.behind import Behind

SEALED = ("chain_versions.content", "evidence.card", "evidence.content", "anchors.content")
TABLES = (
    "chain_versions",
    "chain_heads",
    "decision_heads",
    "search_scopes",
    "decision_relations",
    "decision_impacts",
    "evidence",
    "anchors",
    "anchor_targets",
)


async def fill(gieok: Gieok, owner: str) -> DecisionProposal:
    """Save two related decisions, one of them with a history, and evidence with anchors."""
    decisions = gieok.user(owner).decisions
    base = DecisionProposal(
        statement="zebrafish는 하나만 쓴다",
        rationale="quokka가 그렇게 정했다",
        strength="axis",
        scope="domain",
        domain="wombat-창고",
    )
    first = await decisions.save(base)
    second = await decisions.save(base.model_copy(update={"strength": "lock"}))
    for number in range(4):
        await decisions.save(base.model_copy(update={"root_id": first.root_id, "rationale": str(number)}))
    await decisions.relate(second.root_id, "DEPENDS_ON", first.root_id)
    for number in range(23):
        card = await decisions.keep_evidence("axolotl 제목", f"pangolin 원문 {number}", "narwhal 책")
        await decisions.add_anchor("s", "ocelot 이정표", [Target(kind="evidence", id=card.id)])
    return base


def key_ids(behind: Behind) -> dict[str, set[bytes]]:
    """The key ids in each sealed column: a sealed value has its key id in bytes 2 to 9."""
    found: dict[str, set[bytes]] = {}
    for name in SEALED:
        table, column = name.split(".")
        rows = behind.run(f"SELECT DISTINCT substr({column}, 2, 8) FROM {table}")
        found[name] = {bytes(row[0]) for row in rows}
    return found


@pytest.mark.req("OPS-2")
async def test_no_decision_memory_is_stored_in_plain_text(gieok: Gieok, behind: Behind) -> None:
    await fill(gieok, "minsu")
    words = ("zebrafish", "quokka", "wombat", "axolotl", "pangolin", "narwhal", "ocelot", "창고")
    assert behind.files_with(*words) == {word: [] for word in words}


@pytest.mark.req("OPS-2", "DEC-5")
async def test_a_key_rotation_reseals_decisions_evidence_and_anchors(
    gieok: Gieok, behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In batches smaller than the chains, so that each table takes several batches."""
    monkeypatch.setattr(owners, "RESEAL_BATCH", 4)
    await fill(gieok, "minsu")
    decisions = gieok.user("minsu").decisions
    (axis, lock) = (await decisions.list()).decisions
    chain, anchors = await decisions.history(axis.root_id), await decisions.anchors("s")
    old = key_ids(behind)
    assert await gieok.user("minsu").rotate_key() == 6 + 23 + 23
    new = key_ids(behind)
    assert {name: (len(new[name]), new[name] & old[name]) for name in SEALED} == {
        name: (1, set()) for name in SEALED
    }
    assert (await decisions.list()).decisions == (axis, lock)
    assert (await decisions.history(axis.root_id), await decisions.anchors("s")) == (chain, anchors)
    assert (await decisions.evidence(anchors[0].targets[0].id)).content.startswith("pangolin")


@pytest.mark.req("OPS-4", "DEC-1")
async def test_erasing_an_owner_deletes_all_their_decisions_and_no_others(
    gieok: Gieok, behind: Behind
) -> None:
    base = await fill(gieok, "minsu")
    kept = await gieok.user("jiyoung").decisions.save(base)
    erased = (await gieok.user("minsu").data.erase()).erased
    assert {table for table in TABLES if erased[table] == 0} == set()
    assert {table: behind.run(f"SELECT count(*) FROM {table} WHERE owner = 'minsu'") for table in TABLES} == {
        table: [(0,)] for table in TABLES
    }
    with pytest.raises(OwnerErased):
        await gieok.user("minsu").decisions.save(base)
    assert await gieok.user("jiyoung").decisions.get(kept.root_id) == kept
