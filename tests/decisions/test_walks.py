"""The deep walk as work for later: asked for, done by a worker, read as things are then."""

from __future__ import annotations

from uuid import uuid4

import pytest

from gieok import Gieok, Worker
from gieok.app.decisions import Decisions
from gieok.errors import NotFound
from gieok.memory.decisions.records import Target
from gieok.memory.decisions.walks import Exploration
from tests.behind import Behind
from tests.decisions.world import save


def told(found: Exploration) -> list[str]:
    return [item.statement if item.kind == "decision" else item.title for item in found.items]


async def walk(gieok: Gieok, decisions: Decisions, session_ref: str) -> Exploration:
    job = await decisions.explore(session_ref)
    await Worker(gieok).run_once(gieok.engine.clock())
    return await decisions.explored(job.id)


async def signpost(decisions: Decisions) -> None:
    """An anchor to a normal decision; an axis rests on it, and cites a book."""
    book = await decisions.keep_evidence("규격서", "창고의 모든 문은 두 번 잠근다")
    base = await save(decisions, "문은 왼쪽에 둔다", "normal", "wms")
    axis = await save(decisions, "문은 하나뿐이다", "axis", "wms", evidence_ids=(book.id,))
    await decisions.relate(axis.root_id, "DEPENDS_ON", base.root_id)
    await decisions.add_anchor("회의", "문에 대해 말했다", [Target(kind="decision", id=base.root_id)])


@pytest.mark.req("DEC-15", "DEC-13", "DEC-14")
async def test_a_worker_follows_the_anchors_deep(gieok: Gieok, decisions: Decisions) -> None:
    """What lies further than the anchor's own target is found, the strongest first, each with its hint."""
    await signpost(decisions)
    found = await walk(gieok, decisions, "회의")
    assert told(found) == ["문은 하나뿐이다", "문은 왼쪽에 둔다", "규격서"]
    assert {item.hint for item in found.items} == {"문에 대해 말했다"}
    assert not found.truncated


@pytest.mark.req("DEC-15")
async def test_nothing_is_told_before_it_is_done(gieok: Gieok, decisions: Decisions) -> None:
    """A job that waits has no result, and neither has one that never was."""
    job = await decisions.explore("회의")
    for unknown in (job.id, uuid4()):
        with pytest.raises(NotFound):
            await decisions.explored(unknown)
    assert (await gieok.user("minsu").sessions.job(job.id)).status == "queued"


@pytest.mark.req("DEC-6", "DEC-15")
async def test_a_walk_reads_as_decisions_are_now(gieok: Gieok, decisions: Decisions) -> None:
    """A version that was saved after the walk is the one that is read; the order follows its strength."""
    base = await save(decisions, "처음 생각", "normal", "wms")
    other = await save(decisions, "다른 생각", "lock", "wms")
    targets = [Target(kind="decision", id=each.root_id) for each in (base, other)]
    await decisions.add_anchor("회의", "두 생각", targets)
    job = await decisions.explore("회의")
    await Worker(gieok).run_once(gieok.engine.clock())
    await save(decisions, "나중 생각", "axis", "wms", root_id=base.root_id)
    assert told(await decisions.explored(job.id)) == ["나중 생각", "다른 생각"]


@pytest.mark.req("DEC-15", "OPS-4")
async def test_a_walk_belongs_to_its_owner(gieok: Gieok, decisions: Decisions) -> None:
    """Another owner's walk answers like one that does not exist."""
    await signpost(decisions)
    job = await decisions.explore("회의")
    await Worker(gieok).run_once(gieok.engine.clock())
    with pytest.raises(NotFound):
        await gieok.user("yuna").decisions.explored(job.id)


@pytest.mark.req("OPS-2")
async def test_a_walk_is_sealed_and_survives_a_new_key(
    gieok: Gieok, decisions: Decisions, behind: Behind
) -> None:
    """The hint of an anchor is nowhere in clear, and the walk opens under the next key."""
    await signpost(decisions)
    job = await decisions.explore("회의")
    await Worker(gieok).run_once(gieok.engine.clock())
    stored = [bytes(row[0]) for row in behind.run("SELECT found FROM decision_walks")]
    assert stored
    assert not any("문에 대해".encode() in found for found in stored)
    await gieok.user("minsu").rotate_key()
    assert len((await decisions.explored(job.id)).items) == 3
