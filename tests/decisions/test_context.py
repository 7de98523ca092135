"""Loading the decisions of a domain with `user.decisions.context`."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gieok import Gieok, Settings
from gieok.app.decisions import Decisions
from gieok.engine import make_plan
from gieok.errors import InputRefused, NotFound, PlanInvalid
from gieok.memory.decisions.loading.blocks import frame_tokens, item_tokens, render_decisions
from gieok.memory.decisions.loading.layers import DecisionItem, EvidenceItem
from gieok.memory.decisions.loading.sources import decision_item
from gieok.memory.decisions.records import STRENGTHS, Strength, Target
from gieok.testing.clock import Clock
from gieok.testing.contracts import decisions as stores
from tests.decisions.conftest import QueryLog, plan_with, save, save_each_strength, texts_of
from tests.decisions.loading_reference import Memory, expected_items, loaded_items


@pytest.mark.req("DEC-10", "DEC-6")
async def test_a_domain_is_loaded_in_seven_layers(decisions: Decisions) -> None:
    """Its own decisions and the global ones, but none of another domain."""
    await save_each_strength(decisions, "wms", "ui")
    context = await decisions.context("WMS", plan=plan_with(policy=["Say what you do not know."]))
    assert texts_of(context) == [
        ["Say what you do not know."],
        [],
        ["global axis"],
        ["wms axis"],
        ["wms lock", "global lock"],
        ["wms normal", "global normal"],
        [],
    ]
    assert context.domain == "wms"


@pytest.mark.req("DEC-10", "DEC-6", "DEC-7")
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    drawn=st.lists(
        st.tuples(st.sampled_from((None, "wms", "ui")), st.sampled_from(STRENGTHS), st.integers(0, 3)),
        max_size=12,
    ),
    normals=st.integers(0, 4),
)
async def test_stored_decisions_are_loaded_in_the_order_of_the_reference(
    gieok: Gieok, drawn: list[tuple[str | None, Strength, int]], normals: int
) -> None:
    owner = f"o{uuid4()}"
    scope = gieok.scope(owner)
    stored = [
        await stores.save(scope, stores.content("a decision", domain, strength), minute=minute)
        for domain, strength, minute in drawn
    ]
    here = tuple(decision_item(one, "scope") for one in stored if one.domain != "ui")
    context = await gieok.user(owner).decisions.context("wms", plan=plan_with(normals=normals))
    assert loaded_items(context.layers) == expected_items(
        Memory((), (), here, (), (), budget=8_000, structural_tokens=0, normals=normals)
    )


@pytest.mark.req("DEC-10")
async def test_an_empty_memory_still_has_seven_layers(decisions: Decisions) -> None:
    context = await decisions.context("runtime")
    assert texts_of(context) == [[], [], [], [], [], [], []]
    assert [layer.left_out for layer in context.layers] == [0] * 7


@pytest.mark.req("DEC-6", "DEC-4")
async def test_only_active_versions_are_loaded_and_last_changed_first(
    settings: Settings, request: pytest.FixtureRequest
) -> None:
    clock = Clock()
    async with await Gieok.open(settings, clock=clock) as gieok:
        decisions = gieok.user("minsu").decisions
        old = await save(decisions, "first", "lock", "wms")
        clock.advance(hours=1)
        await save(decisions, "second", "lock", "wms")
        assert texts_of(await decisions.context("wms"))[4] == ["second", "first"]
        clock.advance(hours=1)
        await save(decisions, "first, changed", "lock", "wms", root_id=old.root_id)
        assert texts_of(await decisions.context("wms"))[4] == ["first, changed", "second"]
        query_log: QueryLog = request.getfixturevalue("query_log")
        await decisions.context("wms")
        assert "list_chain_history" not in query_log.names
        assert query_log.rows("list_decisions_of_domain") == 2


@pytest.mark.req("DEC-10", "DEC-8")
async def test_the_structural_tier_shows_what_stands_around_the_focus(decisions: Decisions) -> None:
    """It names each decision by its root. The statements of those that apply here are in their tiers."""
    lock = await save(decisions, "count by lot", "lock", "wms")
    near, far = await save(decisions, "round", "normal", "wms"), await save(decisions, "show", "normal", "ui")
    ground = await save(decisions, "one ledger", "axis")
    await decisions.relate(near.root_id, "DEPENDS_ON", lock.root_id)
    await decisions.relate(far.root_id, "IMPLEMENTS", near.root_id)
    await decisions.relate(ground.root_id, "CONSTRAINS", lock.root_id)
    layers = texts_of(await decisions.context("wms"))
    assert layers[1] == [
        f"rests on {ground.root_id}",
        f"reaches {near.root_id}",
        f"reaches {far.root_id}",
    ]
    assert layers[2:6] == [["one ledger"], [], ["count by lot"], ["round"]]
    focused = texts_of(await decisions.context("wms", roots=[far.root_id]))
    assert focused[1] == [f"rests on {near.root_id}"]
    shallow = await decisions.context("wms", depth=1)
    assert texts_of(shallow)[1] == [f"rests on {ground.root_id}", f"reaches {near.root_id}"]
    assert shallow.truncated


@pytest.mark.req("DEC-10", "DEC-6")
@pytest.mark.parametrize("budget", [None, 600])
async def test_relations_of_another_domain_push_out_no_axis(decisions: Decisions, budget: int | None) -> None:
    """60 normal decisions of `ui` depend on the axis of `wms`. They are named within the plan's share."""
    axes = [await save(decisions, "하나의 원장", "axis"), await save(decisions, "로트로 센다", "axis", "wms")]
    lock = await save(decisions, "두 번 센다", "lock", "wms")
    for number in range(60):
        screen = await save(decisions, f"화면 결정 {number}", "normal", "ui", rationale="이유 " * 50)
        await decisions.relate(screen.root_id, "DEPENDS_ON", axes[1].root_id)
    context = await decisions.context("wms", budget=budget)
    assert texts_of(context)[2:5] == [[axes[0].statement], [axes[1].statement], [lock.statement]]
    related = context.layers[1]
    assert related.items
    assert len(related.items) + (related.left_out or 0) == 50, "as many as the plan's limit"
    share = plan_with().document["steps"][0]["metadata"]["structuralShare"]
    assert sum(map(item_tokens, related.items)) <= share * (budget or 8_000)
    assert "화면 결정" not in render_decisions(context, "ko")


@pytest.mark.req("DEC-10")
async def test_the_structural_tier_can_be_switched_off_by_its_share(decisions: Decisions) -> None:
    lock = await save(decisions, "a lock", "lock", "wms")
    near = await save(decisions, "near", "normal", "wms")
    await decisions.relate(near.root_id, "DEPENDS_ON", lock.root_id)
    layers = (await decisions.context("wms", plan=plan_with(structuralShare=0))).layers
    assert (layers[1].items, layers[1].left_out) == ((), 1)
    assert [item.kind for item in layers[5].items] == ["decision"]


@pytest.mark.req("DEC-10")
@pytest.mark.parametrize(("limit", "truncated"), [(2, True), (3, False)])
async def test_a_truncated_structural_walk_is_reported(
    decisions: Decisions, limit: int, truncated: bool
) -> None:
    """The limit counts relations: here three relations lead to two decisions."""
    lock = await save(decisions, "a lock", "lock", "wms")
    for number in range(2):
        ground = await save(decisions, f"ground {number}", "axis", "ui")
        await decisions.relate(lock.root_id, "DEPENDS_ON", ground.root_id)
        if number == 0:
            await decisions.relate(lock.root_id, "REFINES", ground.root_id)
    context = await decisions.context("wms", plan=plan_with(limit=limit))
    assert context.truncated == truncated


@pytest.mark.req("DEC-10")
@pytest.mark.parametrize("strength", ["axis", "lock"])
@pytest.mark.parametrize(("limit", "truncated"), [(1, True), (2, False)])
async def test_more_axes_or_locks_than_the_limit_are_reported_as_truncated(
    decisions: Decisions, strength: Strength, limit: int, truncated: bool
) -> None:
    for number in range(2):
        await save(decisions, f"strong {number}", strength, "wms")
    context = await decisions.context("wms", plan=plan_with(limit=limit))
    assert context.truncated == truncated


@pytest.mark.req("DEC-10", "DEC-13")
@pytest.mark.parametrize(
    ("bounds", "truncated"),
    [
        ({}, False),
        ({"anchors": 1}, True),
        ({"deep": True}, False),
        ({"deep": True, "limit": 1}, True),
        ({"deep": True, "limit": 2, "depth": 2}, False),
    ],
    ids=str,
)
async def test_truncated_anchors_are_reported(
    decisions: Decisions, bounds: dict[str, Any], truncated: bool
) -> None:
    """Two anchors lead to one decision, which cites two pieces of evidence."""
    cards = [await decisions.keep_evidence(f"card {number}", f"words {number}") for number in range(2)]
    near = await save(decisions, "near", "normal", evidence_ids=tuple(card.id for card in cards))
    for hint in ("one", "two"):
        await decisions.add_anchor("s", hint, [Target(kind="decision", id=near.root_id)])
    assert (await decisions.context("wms", plan=plan_with(**bounds))).truncated == truncated


@pytest.mark.req("DEC-11")
async def test_text_search_does_not_count_decisions_of_earlier_tiers(decisions: Decisions) -> None:
    """Matches that are shown already do not use up `topK`."""
    await save(decisions, "round the stock", "normal", "wms")
    for number in range(3):
        await save(decisions, f"round the stock {number}", "lock", "wms")
    context = await decisions.context("wms", q="round stock", plan=plan_with(normals=0, topK=1))
    assert texts_of(context)[6] == ["round the stock"]


@pytest.mark.req("DEC-13", "DEC-14", "DEC-10")
async def test_anchor_targets_of_the_domain_follow_everything_stronger(decisions: Decisions) -> None:
    """Decisions of earlier tiers are not repeated, and none of another domain is shown."""
    here = await save(decisions, "here", "axis", "wms")
    normal, lock = [await save(decisions, each, each, "wms") for each in ("normal", "lock")]
    others = [await save(decisions, f"ui {each}", each, "ui") for each in STRENGTHS]
    card = await decisions.keep_evidence("minutes", "every word of the meeting")
    await decisions.add_anchor("s", "the meeting", [Target(kind="evidence", id=card.id)])
    await decisions.add_anchor(
        "s",
        "what was decided",
        [Target(kind="decision", id=one.root_id) for one in (*others, normal, here, lock)],
    )
    context = await decisions.context("wms", plan=plan_with(normals=0))
    assert texts_of(context)[3:] == [["here"], ["lock"], [], ["normal", "minutes"]]
    layer = context.layers[6]
    first, last = layer.items[0], layer.items[-1]
    assert isinstance(first, DecisionItem)
    assert (first.through, first.hint) == ("anchor", "what was decided")
    assert isinstance(last, EvidenceItem)
    assert (await decisions.evidence(last.id)).content == "every word of the meeting"


@pytest.mark.req("DEC-13")
async def test_anchors_can_be_filtered_by_session(decisions: Decisions) -> None:
    for session in ("today", "yesterday"):
        card = await decisions.keep_evidence(session, f"said {session}")
        await decisions.add_anchor(session, "a hint", [Target(kind="evidence", id=card.id)])
    assert texts_of(await decisions.context("wms", session_ref="today"))[6] == ["today"]
    assert sorted(texts_of(await decisions.context("wms"))[6]) == ["today", "yesterday"]


@pytest.mark.req("DEC-11", "DEC-6")
async def test_text_matches_come_last_and_stay_in_the_domain(decisions: Decisions) -> None:
    """A normal decision beyond the plan's limit is found by its words, after the anchor targets."""
    await save(decisions, "재고는 은행식으로 반올림한다", "normal", "wms")
    await save(decisions, "반올림은 화면에 표시한다", "normal", "ui")
    await save(decisions, "newer", "normal", "wms")
    card = await decisions.keep_evidence("minutes", "words")
    await decisions.add_anchor("s", "a hint", [Target(kind="evidence", id=card.id)])
    plan = plan_with(normals=1)
    without = await decisions.context("wms", plan=plan)
    assert texts_of(without)[5:] == [["newer"], ["minutes"]]
    assert without.layers[5].left_out == 1
    asking = await decisions.context("wms", q="반올림을 어떻게 해?", plan=plan)
    assert texts_of(asking)[5:] == [["newer"], ["minutes", "재고는 은행식으로 반올림한다"]]
    found = asking.layers[6].items[1]
    assert isinstance(found, DecisionItem)
    assert found.through == "words"


@pytest.mark.req("DEC-15", "DEC-13")
async def test_a_deep_plan_extends_tier_7_and_changes_no_other_tier(decisions: Decisions) -> None:
    """A deep plan follows relations and evidence of the domain's own decisions, not of another's."""
    secret = await decisions.keep_evidence("a study of the ui", "cited by the ui only")
    await save_each_strength(decisions, "wms")
    card = await decisions.keep_evidence("study", "all of the study")
    near = await save(decisions, "near", "normal", "wms", evidence_ids=(card.id,))
    far = await save(decisions, "far", "normal", "wms")
    foreign = await save(decisions, "foreign", "axis", "ui", evidence_ids=(secret.id,))
    await decisions.relate(far.root_id, "REFINES", near.root_id)
    await decisions.relate(foreign.root_id, "REFINES", near.root_id)
    await decisions.add_anchor("s", "a hint", [Target(kind="decision", id=near.root_id)])
    shallow, deep = [
        await decisions.context("wms", plan=plan_with(normals=0, deep=deep)) for deep in (False, True)
    ]
    assert texts_of(shallow)[6] == ["near"]
    assert texts_of(deep)[6] == ["far", "near", "study"]
    assert deep.layers[:6] == shallow.layers[:6]


@pytest.mark.req("ENG-5", "DEC-10")
async def test_a_request_can_lower_the_budget_of_the_plan_but_not_raise_it(decisions: Decisions) -> None:
    await save_each_strength(decisions, "wms")
    frame = frame_tokens("wms", None)
    plan = plan_with(budget=frame + 90)
    whole, some, more = [
        await decisions.context("wms", budget=budget, plan=plan) for budget in (None, frame + 40, 10_000)
    ]
    assert texts_of(some)[2:6] == [["global axis"], [], [], []]
    assert texts_of(whole)[2:6] == texts_of(more)[2:6] == [["global axis"], ["wms axis"], ["wms lock"], []]
    assert [layer.left_out for layer in some.layers] == [0, None, 0, 1, 2, 2, None]
    assert some.tokens <= frame + 40
    assert some.tokens < whole.tokens <= frame + 90


@pytest.mark.req("ENG-5")
@pytest.mark.parametrize(
    "missing",
    ["policy", "depth", "limit", "budget", "structuralShare", "normals", "anchors", "topK", "deep"],
)
async def test_a_plan_must_set_every_loading_option(gieok: Gieok, missing: str) -> None:
    plan = plan_with().document
    del plan["steps"][0]["metadata"][missing]
    with pytest.raises(PlanInvalid, match=missing):
        gieok.check(make_plan(plan))


@pytest.mark.parametrize(
    ("arguments", "at"),
    [
        ({"domain": "global"}, "domain"),
        ({"domain": "a b"}, "domain"),
        ({"domain": "wms", "budget": 0}, "budget"),
        ({"domain": "wms", "depth": 0}, "depth"),
        ({"domain": "wms", "phase": ""}, "phase"),
        ({"domain": "wms", "session_ref": "a b"}, "session"),
        ({"domain": "wms", "q": "x" * 4_001}, "q"),
    ],
)
async def test_an_invalid_request_is_refused(
    decisions: Decisions, arguments: dict[str, Any], at: str
) -> None:
    with pytest.raises(InputRefused, match=at):
        await decisions.context(**arguments)


async def test_a_missing_focus_is_not_found(decisions: Decisions) -> None:
    with pytest.raises(NotFound):
        await decisions.context("wms", roots=[uuid4()])
