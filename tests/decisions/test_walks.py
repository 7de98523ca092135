"""The deep walk as a background job: queued, run by a worker, and read later."""

from __future__ import annotations

from uuid import uuid4

import pytest

from gieok import Gieok, Worker
from gieok.app.decisions import Decisions
from gieok.errors import NotFound
from gieok.memory.decisions.records import Target
from gieok.memory.decisions.walks import Exploration
from tests.behind import Behind
from tests.decisions.conftest import save


def texts_of(exploration: Exploration) -> list[str]:
    return [item.statement if item.kind == "decision" else item.title for item in exploration.items]


async def walk(gieok: Gieok, decisions: Decisions, session_ref: str) -> Exploration:
    job = await decisions.explore(session_ref)
    await Worker(gieok).run_once(gieok.engine.clock())
    return await decisions.explored(job.id)


async def add_anchored_decisions(decisions: Decisions) -> None:
    """Add an anchor to a normal decision. An axis depends on that decision and cites evidence."""
    book = await decisions.keep_evidence("규격서", "창고의 모든 문은 두 번 잠근다")
    base = await save(decisions, "문은 왼쪽에 둔다", "normal", "wms")
    axis = await save(decisions, "문은 하나뿐이다", "axis", "wms", evidence_ids=(book.id,))
    await decisions.relate(axis.root_id, "DEPENDS_ON", base.root_id)
    await decisions.add_anchor("회의", "문에 대해 말했다", [Target(kind="decision", id=base.root_id)])


@pytest.mark.req("DEC-15", "DEC-13", "DEC-14")
async def test_a_worker_follows_relations_beyond_the_anchor_targets(
    gieok: Gieok, decisions: Decisions
) -> None:
    """Strongest first, each with the hint of its anchor."""
    await add_anchored_decisions(decisions)
    found = await walk(gieok, decisions, "회의")
    assert texts_of(found) == ["문은 하나뿐이다", "문은 왼쪽에 둔다", "규격서"]
    assert {item.hint for item in found.items} == {"문에 대해 말했다"}
    assert not found.truncated


@pytest.mark.req("DEC-15")
async def test_a_walk_is_not_found_before_it_has_run(gieok: Gieok, decisions: Decisions) -> None:
    """A queued job has no result, and neither has an unknown one."""
    job = await decisions.explore("회의")
    for unknown in (job.id, uuid4()):
        with pytest.raises(NotFound):
            await decisions.explored(unknown)
    assert (await gieok.user("minsu").sessions.job(job.id)).status == "queued"


@pytest.mark.req("DEC-6", "DEC-15")
async def test_reading_a_walk_returns_the_active_versions(gieok: Gieok, decisions: Decisions) -> None:
    """Also a version that was saved after the walk; the order follows its strength."""
    base = await save(decisions, "처음 생각", "normal", "wms")
    other = await save(decisions, "다른 생각", "lock", "wms")
    targets = [Target(kind="decision", id=each.root_id) for each in (base, other)]
    await decisions.add_anchor("회의", "두 생각", targets)
    job = await decisions.explore("회의")
    await Worker(gieok).run_once(gieok.engine.clock())
    await save(decisions, "나중 생각", "axis", "wms", root_id=base.root_id)
    assert texts_of(await decisions.explored(job.id)) == ["나중 생각", "다른 생각"]


@pytest.mark.req("DEC-15", "OPS-4")
async def test_a_walk_of_another_owner_is_not_found(gieok: Gieok, decisions: Decisions) -> None:
    await add_anchored_decisions(decisions)
    job = await decisions.explore("회의")
    await Worker(gieok).run_once(gieok.engine.clock())
    with pytest.raises(NotFound):
        await gieok.user("yuna").decisions.explored(job.id)


@pytest.mark.req("OPS-2")
async def test_a_walk_is_sealed_and_survives_a_key_rotation(
    gieok: Gieok, decisions: Decisions, behind: Behind
) -> None:
    """The hint of an anchor is not stored in plain text."""
    await add_anchored_decisions(decisions)
    job = await decisions.explore("회의")
    await Worker(gieok).run_once(gieok.engine.clock())
    stored = [bytes(row[0]) for row in behind.run("SELECT found FROM decision_walks")]
    assert stored
    assert not any("문에 대해".encode() in found for found in stored)
    await gieok.user("minsu").rotate_key()
    assert len((await decisions.explored(job.id)).items) == 3
