"""Loading the decisions of a domain, as a program does it: `user.decisions.context`."""

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
from gieok.memory.decisions.loading.blocks import frame_tokens
from gieok.memory.decisions.loading.layers import DecisionItem, EvidenceItem
from gieok.memory.decisions.loading.sources import decision_item
from gieok.memory.decisions.records import STRENGTHS, Strength, Target
from gieok.testing.clock import Clock
from gieok.testing.contracts import decisions as stores
from tests.decisions.conftest import Asked
from tests.decisions.loading_reference import Memory, placed, reference
from tests.decisions.world import plan_with, save, save_everywhere, told


@pytest.mark.req("DEC-10", "DEC-6")
async def test_a_domain_is_loaded_in_seven_layers(decisions: Decisions) -> None:
    """Its own decisions and the global ones, never another domain's."""
    await save_everywhere(decisions, "wms", "ui")
    context = await decisions.context("WMS", plan=plan_with(policy=["Say what you do not know."]))
    assert told(context) == [
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
async def test_stored_decisions_are_loaded_as_the_obvious_reference_says(
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
    assert placed(context.layers) == reference(Memory((), (), here, (), (), budget=8_000, normals=normals))


@pytest.mark.req("DEC-10")
async def test_an_empty_memory_still_has_seven_layers(decisions: Decisions) -> None:
    context = await decisions.context("runtime")
    assert told(context) == [[], [], [], [], [], [], []]
    assert [layer.left_out for layer in context.layers] == [0] * 7


@pytest.mark.req("DEC-6", "DEC-4")
async def test_only_active_versions_are_loaded_last_changed_first(
    settings: Settings, request: pytest.FixtureRequest
) -> None:
    clock = Clock()
    async with await Gieok.open(settings, clock=clock) as gieok:
        decisions = gieok.user("minsu").decisions
        old = await save(decisions, "first", "lock", "wms")
        clock.advance(hours=1)
        await save(decisions, "second", "lock", "wms")
        assert told(await decisions.context("wms"))[4] == ["second", "first"]
        clock.advance(hours=1)
        await save(decisions, "first, changed", "lock", "wms", root_id=old.root_id)
        assert told(await decisions.context("wms"))[4] == ["first, changed", "second"]
        asked: Asked = request.getfixturevalue("asked")
        await decisions.context("wms")
        assert "list_chain_history" not in asked.names
        assert asked.rows("list_decisions_of_domain") == 2


@pytest.mark.req("DEC-10", "DEC-8")
async def test_the_structural_tier_shows_what_stands_around_the_focus(decisions: Decisions) -> None:
    """An axis or a lock that applies here is named by its root, because a later tier has its words."""
    lock = await save(decisions, "count by lot", "lock", "wms")
    near, far = await save(decisions, "round", "normal", "wms"), await save(decisions, "show", "normal", "ui")
    ground = await save(decisions, "one ledger", "axis")
    await decisions.relate(near.root_id, "DEPENDS_ON", lock.root_id)
    await decisions.relate(far.root_id, "IMPLEMENTS", near.root_id)
    await decisions.relate(ground.root_id, "CONSTRAINS", lock.root_id)
    layers = told(await decisions.context("wms"))
    assert layers[1] == [f"rests on {ground.root_id}", "reaches round", "reaches show"]
    assert layers[2:6] == [["one ledger"], [], ["count by lot"], ["round"]]
    focused = told(await decisions.context("wms", roots=[far.root_id]))
    assert focused[1] == ["rests on round"]
    shallow = await decisions.context("wms", depth=1)
    assert told(shallow)[1] == [f"rests on {ground.root_id}", "reaches round"]
    assert shallow.truncated


@pytest.mark.req("DEC-10")
async def test_the_structural_tier_has_the_words_of_what_no_later_tier_holds(decisions: Decisions) -> None:
    """A plan that loads no normal decisions still says what they are where they stand around the focus."""
    lock = await save(decisions, "a lock", "lock", "wms")
    near = await save(decisions, "near", "normal", "wms")
    await decisions.relate(near.root_id, "DEPENDS_ON", lock.root_id)
    layers = told(await decisions.context("wms", plan=plan_with(normals=0)))
    assert (layers[1], layers[5]) == (["reaches near"], [])


@pytest.mark.req("DEC-10")
@pytest.mark.parametrize(("limit", "truncated"), [(2, True), (3, False)])
async def test_what_the_bounds_cut_off_around_the_focus_is_told(
    decisions: Decisions, limit: int, truncated: bool
) -> None:
    """Two grounds below one lock by three relations: what is cut is relations, whatever they lead to."""
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
async def test_more_axes_or_locks_than_the_plan_walks_from_are_told(
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
async def test_what_the_bounds_cut_off_behind_the_anchors_is_told(
    decisions: Decisions, bounds: dict[str, Any], truncated: bool
) -> None:
    """Two anchors, and a decision behind them that cites two pieces of evidence."""
    cards = [await decisions.keep_evidence(f"card {number}", f"words {number}") for number in range(2)]
    near = await save(decisions, "near", "normal", "ui", evidence_ids=tuple(card.id for card in cards))
    for hint in ("one", "two"):
        await decisions.add_anchor("s", hint, [Target(kind="decision", id=near.root_id)])
    assert (await decisions.context("wms", plan=plan_with(**bounds))).truncated == truncated


@pytest.mark.req("DEC-11")
async def test_words_find_what_is_not_shown_however_much_is(decisions: Decisions) -> None:
    """Decisions that stand in an earlier tier do not use up the places of those that are looked for."""
    await save(decisions, "round the stock", "normal", "wms")
    for number in range(3):
        await save(decisions, f"round the stock {number}", "lock", "wms")
    context = await decisions.context("wms", q="round stock", plan=plan_with(normals=0, topK=1))
    assert told(context)[6] == ["round the stock"]


@pytest.mark.req("DEC-13", "DEC-14", "DEC-10")
async def test_anchors_lead_to_originals_by_strength(decisions: Decisions) -> None:
    """Whatever the order of anchors and targets; what an earlier tier holds is not repeated."""
    here = await save(decisions, "here", "axis", "wms")
    normal, axis, lock = [await save(decisions, each, each, "ui") for each in ("normal", "axis", "lock")]
    card = await decisions.keep_evidence("minutes", "every word of the meeting")
    await decisions.add_anchor("s", "the meeting", [Target(kind="evidence", id=card.id)])
    await decisions.add_anchor(
        "s",
        "what was decided",
        [Target(kind="decision", id=one.root_id) for one in (normal, axis, here, lock)],
    )
    layer = (await decisions.context("wms")).layers[6]
    assert [getattr(item, "statement", "minutes") for item in layer.items] == [
        "axis",
        "lock",
        "normal",
        "minutes",
    ]
    first, last = layer.items[0], layer.items[-1]
    assert isinstance(first, DecisionItem)
    assert (first.through, first.hint) == ("anchor", "what was decided")
    assert isinstance(last, EvidenceItem)
    assert (await decisions.evidence(last.id)).content == "every word of the meeting"


@pytest.mark.req("DEC-13")
async def test_the_anchors_of_one_session_can_be_asked_for(decisions: Decisions) -> None:
    for session in ("today", "yesterday"):
        card = await decisions.keep_evidence(session, f"said {session}")
        await decisions.add_anchor(session, "a hint", [Target(kind="evidence", id=card.id)])
    assert told(await decisions.context("wms", session_ref="today"))[6] == ["today"]
    assert sorted(told(await decisions.context("wms"))[6]) == ["today", "yesterday"]


@pytest.mark.req("DEC-11", "DEC-6")
async def test_words_come_last_and_stay_in_the_domain(decisions: Decisions) -> None:
    """A normal decision that the plan's bound left out is found by its words, after what anchors lead to."""
    await save(decisions, "재고는 은행식으로 반올림한다", "normal", "wms")
    await save(decisions, "반올림은 화면에 표시한다", "normal", "ui")
    await save(decisions, "newer", "normal", "wms")
    card = await decisions.keep_evidence("minutes", "words")
    await decisions.add_anchor("s", "a hint", [Target(kind="evidence", id=card.id)])
    plan = plan_with(normals=1)
    without = await decisions.context("wms", plan=plan)
    assert told(without)[5:] == [["newer"], ["minutes"]]
    assert without.layers[5].left_out == 1
    asking = await decisions.context("wms", q="반올림을 어떻게 해?", plan=plan)
    assert told(asking)[5:] == [["newer"], ["minutes", "재고는 은행식으로 반올림한다"]]
    found = asking.layers[6].items[1]
    assert isinstance(found, DecisionItem)
    assert found.through == "words"


@pytest.mark.req("DEC-15", "DEC-13")
async def test_the_deep_walk_is_a_plan_of_its_own_and_changes_nothing_before_it(decisions: Decisions) -> None:
    """Deep, tier 7 goes on to what the decisions there reach and cite; the first six tiers are the same."""
    await save_everywhere(decisions, "wms")
    card = await decisions.keep_evidence("study", "all of the study")
    near = await save(decisions, "near", "normal", "ui", evidence_ids=(card.id,))
    far = await save(decisions, "far", "lock", "runtime")
    await decisions.relate(far.root_id, "REFINES", near.root_id)
    await decisions.add_anchor("s", "a hint", [Target(kind="decision", id=near.root_id)])
    shallow, deep = await decisions.context("wms"), await decisions.context("wms", plan=plan_with(deep=True))
    assert told(shallow)[6] == ["near"]
    assert told(deep)[6] == ["far", "near", "study"]
    assert deep.layers[:6] == shallow.layers[:6]


@pytest.mark.req("ENG-5", "DEC-10")
async def test_a_request_may_ask_for_a_smaller_budget_and_not_for_a_larger(decisions: Decisions) -> None:
    await save_everywhere(decisions, "wms")
    frame = frame_tokens("wms", None)
    plan = plan_with(budget=frame + 90)
    whole, some, more = [
        await decisions.context("wms", budget=budget, plan=plan) for budget in (None, frame + 40, 10_000)
    ]
    assert told(some)[2:6] == [["global axis"], [], [], []]
    assert told(whole)[2:6] == told(more)[2:6] == [["global axis"], ["wms axis"], ["wms lock"], []]
    assert [layer.left_out for layer in some.layers] == [0, 0, 0, 1, 2, 2, None]
    assert some.tokens <= frame + 40
    assert some.tokens < whole.tokens <= frame + 90


@pytest.mark.req("ENG-5")
@pytest.mark.parametrize(
    "missing", ["policy", "depth", "limit", "budget", "normals", "anchors", "topK", "deep"]
)
async def test_the_policy_of_loading_is_the_plans(gieok: Gieok, missing: str) -> None:
    plan = plan_with().document
    del plan["steps"][0]["metadata"][missing]
    with pytest.raises(PlanInvalid, match=missing):
        gieok.check(make_plan(plan))


@pytest.mark.parametrize(
    ("asked_for", "at"),
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
async def test_a_request_that_cannot_be_meant_is_refused(
    decisions: Decisions, asked_for: dict[str, Any], at: str
) -> None:
    with pytest.raises(InputRefused, match=at):
        await decisions.context(**asked_for)


async def test_a_focus_that_does_not_exist_is_refused(decisions: Decisions) -> None:
    with pytest.raises(NotFound):
        await decisions.context("wms", roots=[uuid4()])
