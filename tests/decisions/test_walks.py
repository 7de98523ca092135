"""The deep walk as a background job: queued, run by a worker, and read later."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from gieok import Gieok, Worker
from gieok.adapters.sql.scope import SqlView
from gieok.app.decisions import Decisions
from gieok.errors import InputRefused, NotFound
from gieok.memory.decisions.loading.layers import DecisionItem
from gieok.memory.decisions.records import Target
from gieok.memory.decisions.walks import WalkResult
from tests.behind import Behind
from tests.decisions.conftest import save

UNKNOWN = UUID(int=1, version=4)


def texts_of(found: WalkResult) -> list[str]:
    return [item.statement if item.kind == "decision" else item.title for item in found.items]


async def walk(gieok: Gieok, decisions: Decisions, **origin: Any) -> WalkResult:
    job = await decisions.walk(**origin)
    await Worker(gieok).run_once(gieok.engine.clock())
    return await decisions.walk_result(job.id)


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
    found = await walk(gieok, decisions, session_ref="회의")
    assert texts_of(found) == ["문은 하나뿐이다", "문은 왼쪽에 둔다", "규격서"]
    assert {item.hint for item in found.items} == {"문에 대해 말했다"}
    assert not found.truncated


@pytest.mark.req("DEC-15")
async def test_a_walk_is_not_found_before_it_has_run(gieok: Gieok, decisions: Decisions) -> None:
    """A queued job has no result, and neither has an unknown one."""
    job = await decisions.walk(session_ref="회의")
    for unknown in (job.id, uuid4()):
        with pytest.raises(NotFound):
            await decisions.walk_result(unknown)
    assert (await gieok.user("minsu").jobs.get(job.id)).status == "queued"


@pytest.mark.req("DEC-6", "DEC-15")
async def test_reading_a_walk_returns_the_active_versions(gieok: Gieok, decisions: Decisions) -> None:
    """Also a version that was saved after the walk; the order follows its strength."""
    base = await save(decisions, "처음 생각", "normal", "wms")
    other = await save(decisions, "다른 생각", "lock", "wms")
    targets = [Target(kind="decision", id=each.root_id) for each in (base, other)]
    await decisions.add_anchor("회의", "두 생각", targets)
    job = await decisions.walk(session_ref="회의")
    await Worker(gieok).run_once(gieok.engine.clock())
    await save(decisions, "나중 생각", "axis", "wms", root_id=base.root_id)
    assert texts_of(await decisions.walk_result(job.id)) == ["나중 생각", "다른 생각"]


@pytest.mark.req("DEC-15", "OPS-4")
async def test_a_walk_of_another_owner_is_not_found(gieok: Gieok, decisions: Decisions) -> None:
    await add_anchored_decisions(decisions)
    job = await decisions.walk(session_ref="회의")
    await Worker(gieok).run_once(gieok.engine.clock())
    with pytest.raises(NotFound):
        await gieok.user("yuna").decisions.walk_result(job.id)


@pytest.mark.req("OPS-2")
async def test_a_walk_is_sealed_and_survives_a_key_rotation(
    gieok: Gieok, decisions: Decisions, behind: Behind
) -> None:
    """The hint of an anchor is not stored in plain text."""
    await add_anchored_decisions(decisions)
    job = await decisions.walk(session_ref="회의")
    await Worker(gieok).run_once(gieok.engine.clock())
    stored = [bytes(row[0]) for row in behind.run("SELECT found FROM decision_walks")]
    assert stored
    assert not any("문에 대해".encode() in found for found in stored)
    await gieok.user("minsu").rotate_key()
    assert len((await decisions.walk_result(job.id)).items) == 3


@pytest.mark.req("DEC-15", "DEC-8")
@pytest.mark.parametrize(
    ("depth", "expected"), [(1, ["둘째", "첫째", "규격서"]), (None, ["셋째", "둘째", "첫째", "규격서"])]
)
async def test_a_walk_from_a_decision_follows_relations_to_its_depth(
    gieok: Gieok, decisions: Decisions, depth: int | None, expected: list[str]
) -> None:
    """Strongest first, whatever the distance. Each result has the path that led to it."""
    book = await decisions.keep_evidence("규격서", "창고의 모든 문은 두 번 잠근다")
    first = await save(decisions, "첫째", "normal", "wms", evidence_ids=(book.id,))
    second = await save(decisions, "둘째", "lock", "wms")
    third = await save(decisions, "셋째", "axis", "ui")
    await decisions.relate(second.root_id, "DEPENDS_ON", first.root_id)
    await decisions.relate(third.root_id, "REFINES", second.root_id)
    found = await walk(gieok, decisions, root_id=first.root_id, depth=depth)
    assert texts_of(found) == expected
    assert found.truncated == (depth == 1)
    paths = {item.root_id: item.path for item in found.items if isinstance(item, DecisionItem)}
    assert paths[first.root_id] == ()
    assert [(edge.source, edge.type, edge.target) for edge in paths[second.root_id]] == [
        (second.root_id, "DEPENDS_ON", first.root_id)
    ]
    assert {item.hint for item in found.items} == {None}


@pytest.mark.req("DEC-15")
async def test_a_walk_from_one_anchor_ignores_the_others(gieok: Gieok, decisions: Decisions) -> None:
    await add_anchored_decisions(decisions)
    card = await decisions.keep_evidence("회의록", "창고 회의의 모든 말")
    anchor = await decisions.add_anchor("회의", "회의록", [Target(kind="evidence", id=card.id)])
    assert texts_of(await walk(gieok, decisions, anchor_id=anchor.id, depth=3)) == ["회의록"]


@pytest.mark.req("DEC-15")
@pytest.mark.parametrize(
    "origin", [{}, {"root_id": UNKNOWN, "session_ref": "회의"}, {"anchor_id": UNKNOWN, "depth": 0}], ids=str
)
async def test_a_walk_needs_exactly_one_origin_and_a_depth(
    gieok: Gieok, decisions: Decisions, origin: dict[str, Any]
) -> None:
    with pytest.raises(InputRefused):
        await decisions.walk(**origin)
    assert await Worker(gieok).run_once(gieok.engine.clock()) == 0


@pytest.mark.req("DEC-15", "ENG-6")
@pytest.mark.parametrize("origin", [{"anchor_id": UNKNOWN}, {"root_id": UNKNOWN}], ids=str)
async def test_a_walk_from_something_unknown_is_not_queued(
    gieok: Gieok, decisions: Decisions, origin: dict[str, Any]
) -> None:
    with pytest.raises(NotFound):
        await decisions.walk(**origin)
    assert await Worker(gieok).run_once(gieok.engine.clock()) == 0


@pytest.mark.req("DEC-15")
async def test_a_walk_that_an_older_version_queued_begins_at_the_session_of_its_job(
    gieok: Gieok, decisions: Decisions
) -> None:
    """Such a job has no stored origin."""
    await add_anchored_decisions(decisions)
    job = await decisions.walk(session_ref="회의")
    later = gieok.engine.clock() + timedelta(days=1)

    def forget(view: SqlView) -> None:
        view.walks.delete_before(later)

    await gieok.scope("minsu").write(forget)
    await Worker(gieok).run_once(gieok.engine.clock())
    assert len((await decisions.walk_result(job.id)).items) == 3
