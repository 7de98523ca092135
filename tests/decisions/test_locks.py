"""One test for each LOCK of seed 004, with the text of the seed as its docstring."""

from __future__ import annotations

import asyncio
import inspect
import signal
import subprocess
import sys
from pathlib import Path
from uuid import UUID

import pytest

from gieok import Gieok, Settings
from gieok.app.decisions import Decisions
from gieok.memory.decisions import store
from gieok.memory.decisions.loading.layers import TIERS
from gieok.memory.decisions.loading.order import SLICES
from gieok.memory.decisions.records import STRENGTHS, Decision, DecisionProposal, RelationType, Target
from tests.behind import Behind
from tests.decisions.conftest import QueryLog, plan_with, save, save_each_strength, texts_of

TEXT_SEARCH = "get_search_scope"
"""A search reads the revision of each scope that it looks through, even if its index is cached."""
SEVEN_LAYERS = [
    [],
    [],
    ["global axis"],
    ["wms axis"],
    ["wms lock", "global lock"],
    ["wms normal", "global normal"],
    [],
]
"""The layers that `save_each_strength(…, "wms")` must give."""


async def relate_all(decisions: Decisions, type_: RelationType) -> list[Decision]:
    """Relate all decisions in a ring."""
    ring = list((await decisions.list()).decisions)
    for one, other in zip(ring, [*ring[1:], ring[0]], strict=True):
        await decisions.relate(one.root_id, type_, other.root_id)
    return ring


@pytest.mark.req("DEC-2")
async def test_lock_a_proposal_does_not_replace_a_decision(decisions: Decisions, behind: Behind) -> None:
    """§1 LOCK: Proposal 단계는 Decision SSOT를 대체할 수 없다.

    No store accepts a proposal, and a proposal is not stored.
    """
    saved = await save(decisions, "what was decided", "lock", "wms")
    await decisions.propose(
        DecisionProposal(
            statement="proposed", strength="axis", scope="domain", domain="wms", root_id=saved.root_id
        )
    )
    assert texts_of(await decisions.context("wms", q="proposed"))[2:] == [
        [],
        [],
        ["what was decided"],
        [],
        [],
    ]
    assert behind.count("chain_versions") == 1
    assert "DecisionProposal" not in inspect.getsource(store)


@pytest.mark.req("DEC-3")
async def test_lock_persistence(settings: Settings) -> None:
    """§2 Persistence [LOCK]: SAVE_DECISION 선택 즉시 DB(SQLite v1)에 영구 저장된다.

    세션 종료 시까지 대기하지 않는다. A process that is killed right after saving has saved.
    """
    arguments = [settings.database_url, str(settings.own_key_file), "at once"]
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "tests.decisions.save_and_die", *arguments],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    async with await Gieok.open(settings) as gieok:
        kept = await gieok.user("minsu").decisions.get(UUID(done.stdout.strip()))
    assert kept.statement == "at once"


@pytest.mark.req("DEC-4")
async def test_lock_version_chain(decisions: Decisions) -> None:
    """§2 Version Chain [LOCK]: 수정 시 overwrite가 아닌 새 version을 생성한다.

    `rootId`를 통해 변경 이력을 추적하며, 이전 버전은 `isActive=false` 처리된다.
    """
    first = await save(decisions, "one", "lock")
    await save(decisions, "two", "lock", root_id=first.root_id)
    history = await decisions.history(first.root_id)
    assert [(one.statement, one.version, one.is_active) for one in history] == [
        ("one", 1, False),
        ("two", 2, True),
    ]
    assert {one.root_id for one in history} == {first.root_id}


@pytest.mark.req("DEC-10", "DEC-6")
async def test_lock_growth_does_not_change_the_loading_order(decisions: Decisions) -> None:
    """§2 LOCK: 대규모 데이터 증가를 이유로 Loading Order [LOCK]를 우회할 수 없다.

    Where there are more decisions than fit the budget, only the end of the order is left out.
    """
    await save_each_strength(decisions, "wms")
    few = texts_of(await decisions.context("wms"))
    assert few == SEVEN_LAYERS
    for number in range(40):
        await save(decisions, f"another {number} " + "with many words " * 20, "normal", "wms")
        await save(decisions, f"elsewhere {number}", "axis", "ui")
    many = await decisions.context("wms", q="another", plan=plan_with(budget=1_000))
    assert texts_of(many)[:5] == few[:5]
    assert texts_of(many)[5][0].startswith("another 39")
    assert (many.layers[5].left_out or 0) > 0
    assert (many.layers[6].items, many.layers[6].left_out) == ((), None)


@pytest.mark.req("DEC-7")
async def test_lock_strength_hierarchy(decisions: Decisions) -> None:
    """§3.1 Strength Hierarchy [LOCK]: axis (최우선), lock, normal."""
    assert STRENGTHS == ("axis", "lock", "normal")
    await save_each_strength(decisions, "wms")
    listed = [one.strength for one in (await decisions.list(domain="wms")).decisions]
    assert listed == ["axis", "lock", "normal"]


@pytest.mark.req("DEC-7", "DEC-6")
async def test_lock_domain_scope(decisions: Decisions) -> None:
    """§3.2 Domain Scope [LOCK]: global은 모든 도메인에 적용, domain은 특정 영역에만 적용."""
    await save_each_strength(decisions, "wms", "ui")
    for domain, other in (("wms", "ui"), ("ui", "wms")):
        shown = [words for layer in texts_of(await decisions.context(domain)) for words in layer]
        assert sorted(shown) == sorted(
            f"{place} {strength}" for place in ("global", domain) for strength in STRENGTHS
        )
        assert not [words for words in shown if words.startswith(other)]


@pytest.mark.req("DEC-8", "DEC-9")
async def test_lock_structural_layer(decisions: Decisions) -> None:
    """§3.3 Structural Layer (Impact Analysis) [LOCK]: 텍스트 유사도가 아닌 관계 기반 검증을 담당한다.

    Decision 간 명시적 관계를 그래프 구조로 표현하여 영향 범위(Blast Radius)를 계산한다.
    """
    origin, related = (
        await save(decisions, "재고는 로트로 센다", "lock"),
        await save(decisions, "x", "normal", "ui"),
    )
    await save(decisions, "재고는 로트로 센다", "normal")
    await decisions.relate(related.root_id, "VALIDATES", origin.root_id)
    impact = await decisions.impact(origin.root_id)
    assert [node.root_id for node in impact.nodes] == [related.root_id]
    change = DecisionProposal(
        statement="재고는 로트로 센다", strength="lock", scope="global", root_id=origin.root_id
    )
    report = (await decisions.propose(change)).report
    assert report.impact == impact
    assert [one.root_id for one in report.lapsing] == [related.root_id]


@pytest.mark.req("DEC-11", "DEC-8")
async def test_lock_impact_analysis_does_not_search_text(decisions: Decisions, query_log: QueryLog) -> None:
    """§3.3 LOCK: Impact Analysis는 Semantic Layer 탐색으로 확장될 수 없으며,

    Loading Order [LOCK]를 우회하는 근거가 될 수 없다.
    """
    await save_each_strength(decisions, "wms")
    ring = await relate_all(decisions, "DEPENDS_ON")
    query_log.queries.clear()
    await decisions.impact(ring[0].root_id)
    await decisions.propose(
        DecisionProposal(statement="x", strength="lock", scope="global", root_id=ring[0].root_id)
    )
    assert TEXT_SEARCH not in query_log.names
    assert texts_of(await decisions.context("wms"))[2:] == SEVEN_LAYERS[2:]


@pytest.mark.req("DEC-8", "DEC-10")
async def test_lock_cycles_change_neither_the_order_nor_the_search(
    decisions: Decisions, query_log: QueryLog
) -> None:
    """§3.3 LOCK: 순환 관계 존재는 Loading Order [LOCK] 또는 Semantic Layer 확장의 근거가 될 수 없다."""
    await save_each_strength(decisions, "wms")
    ring = await relate_all(decisions, "CONSTRAINS")
    await relate_all(decisions, "CONFLICTS_WITH")
    query_log.queries.clear()
    impact = await decisions.impact(ring[0].root_id)
    assert ({node.root_id for node in impact.nodes}, impact.truncated) == (
        {one.root_id for one in ring[1:]},
        False,
    )
    assert texts_of(await decisions.context("wms"))[2:] == SEVEN_LAYERS[2:]
    assert TEXT_SEARCH not in query_log.names


@pytest.mark.req("DEC-11")
async def test_lock_structural_analysis_triggers_no_text_search(
    decisions: Decisions, query_log: QueryLog
) -> None:
    """§3.3 LOCK: Structural 분석은 Semantic Layer 탐색을 암묵적으로 트리거할 수 없다.

    Text is searched only for a question: once in each scope, after everything else was read.
    """
    await save_each_strength(decisions, "wms")
    ring = await relate_all(decisions, "REFINES")
    query_log.queries.clear()
    await decisions.context("wms", roots=[one.root_id for one in ring], plan=plan_with(deep=True))
    assert TEXT_SEARCH not in query_log.names
    await decisions.context("wms", q="lock")
    assert query_log.count(TEXT_SEARCH) == len(("global", "wms"))
    names = [name for name, _ in query_log.queries]
    search = {TEXT_SEARCH, "list_decision_index", "list_decision_heads"}
    assert set(names[names.index(TEXT_SEARCH) :]) == search
    assert search.isdisjoint(names[: names.index(TEXT_SEARCH)])


@pytest.mark.req("DEC-10")
async def test_lock_loading_order(decisions: Decisions) -> None:
    """§4.1 Loading Order [LOCK]: Policy Layer, Structural Layer, `global + axis`, `currentDomain + axis`,

    `currentDomain + lock`, `currentDomain + normal`, Anchor → Evidence/Decision 탐색.
    """
    assert TIERS == (
        "policy",
        "structural",
        "global+axis",
        "domain+axis",
        "domain+lock",
        "domain+normal",
        "anchors",
    )
    assert [part.tier for part in SLICES] == sorted(part.tier for part in SLICES)
    await save_each_strength(decisions, "wms")
    outside = await save(decisions, "outside", "axis", "ui")
    lock = (await decisions.list(domain="wms", strength="lock")).decisions[0]
    await decisions.relate(outside.root_id, "DEPENDS_ON", lock.root_id)
    card = await decisions.keep_evidence("source", "all of its words")
    await decisions.add_anchor("s", "a hint", [Target(kind="evidence", id=card.id)])
    context = await decisions.context("wms", plan=plan_with(policy=["principle"]))
    related = [f"reaches {outside.root_id}"]
    assert texts_of(context) == [["principle"], related, *SEVEN_LAYERS[2:6], ["source"]]
    assert [layer.tier for layer in context.layers] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.req("DEC-12")
@pytest.mark.parametrize("phase", ["design", "implement", "wms", "global", "구현"])
async def test_lock_phase_does_not_affect_the_domain_filter(decisions: Decisions, phase: str) -> None:
    """§4.2 Domain vs Phase Separation [LOCK]: Domain은 Decision 검색 필터링 기준.

    Phase(워크플로우 라우팅 제어)와 독립적으로 명시적 유지되어야 한다.
    """
    await save_each_strength(decisions, "wms", "design")
    with_phase, without = await decisions.context("wms", phase=phase), await decisions.context("wms")
    assert (with_phase.phase, with_phase.domain) == (phase, "wms")
    assert with_phase.layers == without.layers


@pytest.mark.req("DEC-10", "DEC-15")
async def test_lock_cost_control_does_not_change_the_loading_order(
    decisions: Decisions, query_log: QueryLog
) -> None:
    """§4.2 LOCK: 비용 제어는 "로딩 순서(LOCK)"를 위반하거나 우회하는 근거가 될 수 없다.

    Every budget gives a prefix of the same order, and nothing beyond it is read.
    """
    await save_each_strength(decisions, "wms")
    card = await decisions.keep_evidence("source", "all of its words")
    await decisions.add_anchor("s", "a hint", [Target(kind="evidence", id=card.id)])
    whole = [words for layer in texts_of(await decisions.context("wms", q="lock")) for words in layer]
    for budget in range(1, 500, 29):
        query_log.queries.clear()
        context = await decisions.context("wms", q="lock", budget=budget)
        some = [words for layer in texts_of(context) for words in layer]
        assert some == whole[: len(some)]
        if len(some) < len(whole):
            assert TEXT_SEARCH not in query_log.names


@pytest.mark.req("DEC-13")
async def test_an_anchor_does_not_change_the_order_by_strength(decisions: Decisions) -> None:
    """§5: Anchor는 하위 강도의 결정을 상위 강도의 결정보다 우선시할 수 없다."""
    await save_each_strength(decisions, "wms")
    weak = (await decisions.list(domain="wms", strength="normal")).decisions[0]
    before = texts_of(await decisions.context("wms"))
    await decisions.add_anchor("s", "look here first", [Target(kind="decision", id=weak.root_id)])
    assert texts_of(await decisions.context("wms")) == before == SEVEN_LAYERS
