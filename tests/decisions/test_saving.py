"""Decisions, relations, evidence and anchors through `user.decisions`."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from gieok import Gieok, Settings
from gieok.adapters.sql.lifecycle.owners import ERASE_QUERIES
from gieok.app.decisions import Decisions
from gieok.errors import Conflict, GieokError, InputRefused, NotFound
from gieok.memory.decisions.records import DecisionProposal, ProposedRelation, RelationType, Target
from gieok.testing.clock import Clock
from tests.behind import Behind


def proposal(statement: str = "Use SQLite first", **change: Any) -> DecisionProposal:
    values: dict[str, Any] = {"statement": statement, "strength": "lock", "scope": "global", **change}
    return DecisionProposal(**values)


def to(target: UUID, relation_type: RelationType = "DEPENDS_ON") -> tuple[ProposedRelation, ...]:
    return (ProposedRelation(type=relation_type, target=target),)


@pytest.fixture
def decisions(gieok: Gieok) -> Decisions:
    return gieok.user("minsu").decisions


def rows(behind: Behind) -> dict[str, int]:
    return {table: behind.count(table) for table in (*ERASE_QUERIES, "owners")}


@pytest.mark.req("DEC-3", "DEC-1")
async def test_a_saved_decision_is_visible_to_another_instance_immediately(settings: Settings) -> None:
    """Before any session ends and before anything is closed."""
    async with await Gieok.open(settings) as here, await Gieok.open(settings) as there:
        saved = await here.user("minsu").decisions.save(proposal("결정은 즉시 저장된다"))
        assert await there.user("minsu").decisions.get(saved.root_id) == saved


@pytest.mark.req("DEC-2")
async def test_proposing_stores_nothing(decisions: Decisions, behind: Behind) -> None:
    first = await decisions.save(proposal())
    card = await decisions.keep_evidence("t", "original")
    before = rows(behind)
    await decisions.propose(proposal("new", relations=to(first.root_id), evidence_ids=(card.id,)))
    made = await decisions.propose(proposal("changed", root_id=first.root_id))
    assert made.replaces == first
    assert rows(behind) == before
    assert await decisions.get(first.root_id) == first


@pytest.mark.req("DEC-4", "DEC-6")
async def test_a_change_appends_a_version_and_only_history_returns_old_versions(settings: Settings) -> None:
    clock = Clock()
    async with await Gieok.open(settings, clock=clock) as gieok:
        decisions = gieok.user("minsu").decisions
        first = await decisions.save(proposal("one"))
        clock.advance(days=1)
        second = await decisions.save(proposal("two", root_id=first.root_id), expected_version=1)
        assert (second.root_id, second.version, second.is_active) == (first.root_id, 2, True)
        assert (first.created_at, second.created_at) == (Clock().now, clock.now)
        assert (await decisions.list()).decisions == (second,)
        assert await decisions.history(first.root_id) == [
            first.model_copy(update={"is_active": False}),
            second,
        ]
        assert await decisions.history(first.root_id, after=1) == [second]


@pytest.mark.req("DEC-4")
async def test_a_stale_expected_version_is_a_conflict_and_stores_nothing(
    decisions: Decisions, behind: Behind
) -> None:
    first = await decisions.save(proposal("one"))
    await decisions.save(proposal("two", root_id=first.root_id))
    before = rows(behind)
    with pytest.raises(Conflict, match="at version 2, and version 1 was expected"):
        await decisions.save(proposal("late", root_id=first.root_id), expected_version=1)
    assert rows(behind) == before


async def test_expected_version_0_creates_a_decision_under_a_chosen_root(decisions: Decisions) -> None:
    root = uuid4()
    saved = await decisions.save(proposal(root_id=root), expected_version=0)
    assert (saved.root_id, saved.version) == (root, 1)
    with pytest.raises(Conflict):
        await decisions.save(proposal(root_id=root), expected_version=0)


@pytest.mark.req("DEC-4", "DEC-8")
async def test_a_reference_to_something_missing_is_refused_and_nothing_is_stored(
    decisions: Decisions, behind: Behind
) -> None:
    known = await decisions.save(proposal())
    before = rows(behind)
    wrong: list[tuple[DecisionProposal, int | None, type[GieokError]]] = [
        (proposal(root_id=uuid4()), None, NotFound),
        (proposal(root_id=uuid4()), 1, NotFound),
        (proposal(relations=to(uuid4())), None, NotFound),
        (proposal(relations=(*to(known.root_id), *to(uuid4()))), None, NotFound),
        (proposal(evidence_ids=(uuid4(),)), None, NotFound),
        (proposal(root_id=known.root_id, relations=to(known.root_id)), None, InputRefused),
        (proposal(), 1, InputRefused),
    ]
    for what, expected, error in wrong:
        with pytest.raises(error):
            await decisions.save(what, expected_version=expected)
        if expected is None:
            with pytest.raises(error):
                await decisions.propose(what)
    assert rows(behind) == before


@pytest.mark.req("DEC-8")
async def test_relations_are_saved_with_a_decision_and_hold_for_its_next_versions(
    decisions: Decisions,
) -> None:
    base = await decisions.save(proposal("base"))
    saved = await decisions.save(proposal("above", relations=to(base.root_id)))
    await decisions.save(proposal("above, again", root_id=saved.root_id, relations=to(base.root_id)))
    await decisions.save(proposal("base, again", root_id=base.root_id))
    (relation,) = await decisions.relations(base.root_id)
    assert (relation.source, relation.type, relation.target) == (saved.root_id, "DEPENDS_ON", base.root_id)


@pytest.mark.req("DEC-8")
async def test_a_relation_can_be_declared_and_removed(decisions: Decisions, behind: Behind) -> None:
    one, two = await decisions.save(proposal("one")), await decisions.save(proposal("two"))
    relation = await decisions.relate(one.root_id, "CONFLICTS_WITH", two.root_id)
    assert await decisions.relate(one.root_id, "CONFLICTS_WITH", two.root_id) == relation
    assert await decisions.relations(two.root_id) == [relation]
    assert await decisions.unrelate(relation.id) == relation
    assert (behind.count("decision_relations"), behind.count("decision_impacts")) == (0, 0)
    with pytest.raises(NotFound, match=str(relation.id)):
        await decisions.unrelate(relation.id)


@pytest.mark.req("DEC-8")
async def test_a_relation_to_a_missing_decision_or_to_itself_is_refused(decisions: Decisions) -> None:
    one = await decisions.save(proposal("one"))
    with pytest.raises(InputRefused, match="itself"):
        await decisions.relate(one.root_id, "REFINES", one.root_id)
    for source, target in ((one.root_id, uuid4()), (uuid4(), one.root_id)):
        with pytest.raises(NotFound, match="no decision"):
            await decisions.relate(source, "REFINES", target)


@pytest.mark.req("DEC-6", "DEC-7")
async def test_a_list_is_paged_and_filtered_by_domain(decisions: Decisions) -> None:
    for strength in ("normal", "axis", "lock"):
        for domain in ("WMS", "ui"):
            await decisions.save(
                proposal(f"{strength} {domain}", strength=strength, scope="domain", domain=domain)
            )
    first = await decisions.list(domain="wms", limit=2)
    assert [decision.statement for decision in first.decisions] == ["axis WMS", "lock WMS"]
    rest = await decisions.list(domain="wms", limit=2, cursor=first.next_cursor)
    assert [decision.statement for decision in rest.decisions] == ["normal WMS"]
    assert rest.next_cursor is None
    assert (await decisions.list(domain="wms", limit=3)).next_cursor is None
    assert (await decisions.list(scope="global")).decisions == ()


async def test_invalid_list_options_are_refused(decisions: Decisions) -> None:
    wrong: dict[str, dict[str, Any]] = {
        "limit": {"limit": 0},
        "cursor": {"cursor": "nonsense"},
        "domain": {"domain": "a b"},
    }
    for at, options in wrong.items():
        with pytest.raises(InputRefused) as refused:
            await decisions.list(**options)
        assert refused.value.at == at


@pytest.mark.req("OPS-4")
async def test_data_of_another_owner_is_not_found(gieok: Gieok, decisions: Decisions) -> None:
    saved = await decisions.save(proposal())
    card = await decisions.keep_evidence("t", "original")
    theirs = gieok.user("jiyoung").decisions
    own = await theirs.save(proposal())
    for attempt in (
        theirs.get(saved.root_id),
        theirs.history(saved.root_id),
        theirs.evidence(card.id),
        theirs.save(proposal(root_id=saved.root_id)),
        theirs.save(proposal(evidence_ids=(card.id,))),
        theirs.relate(own.root_id, "REFINES", saved.root_id),
        theirs.add_anchor("s", "hint", [Target(kind="decision", id=saved.root_id)]),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert await theirs.relations(saved.root_id) == []


@pytest.mark.req("DEC-1")
async def test_evidence_is_stored_verbatim_and_once(decisions: Decisions, behind: Behind) -> None:
    original = "첫 줄\n\n  둘째 줄 \u200b끝 "
    card = await decisions.keep_evidence("회의록", original, "2026-01-05 회의")
    assert await decisions.keep_evidence("다른 제목", original) == card
    kept = await decisions.evidence(card.id)
    assert (kept.content, kept.title, kept.source) == (original, "회의록", "2026-01-05 회의")
    assert behind.count("evidence") == 1


@pytest.mark.req("DEC-1", "DEC-14")
async def test_an_anchor_leads_to_the_original_text(decisions: Decisions) -> None:
    card = await decisions.keep_evidence("t", "the original words")
    saved = await decisions.save(proposal(evidence_ids=(card.id,)))
    targets = (Target(kind="decision", id=saved.root_id), Target(kind="evidence", id=card.id))
    anchor = await decisions.add_anchor("s1", "storage was settled here", targets)
    assert await decisions.anchors("s1") == [anchor]
    assert await decisions.anchors("s2") == []
    assert (await decisions.evidence(anchor.targets[1].id)).content == "the original words"
    assert (await decisions.get(anchor.targets[0].id)).evidence_ids == (card.id,)


async def test_invalid_evidence_and_anchors_are_refused_with_the_field_name(decisions: Decisions) -> None:
    card = await decisions.keep_evidence("t", "c")
    target = [Target(kind="evidence", id=card.id)]
    attempts = {
        "title": decisions.keep_evidence("", "c"),
        "content": decisions.keep_evidence("t", "\x00"),
        "hint": decisions.add_anchor("s", "x" * 501, target),
        "targets": decisions.add_anchor("s", "h", []),
    }
    for at, attempt in attempts.items():
        with pytest.raises(InputRefused) as refused:
            await attempt
        assert refused.value.at == at
    with pytest.raises(InputRefused, match="sessionRef"):
        await decisions.add_anchor("a b", "h", target)
    for kind in ("decision", "evidence"):
        with pytest.raises(NotFound):
            await decisions.add_anchor("s", "h", [Target(kind=kind, id=uuid4())])


@pytest.mark.parametrize("after", [-1, 2**31, 2**70])
async def test_a_version_number_out_of_range_is_refused(decisions: Decisions, after: int) -> None:
    saved = await decisions.save(proposal())
    with pytest.raises(InputRefused, match="after"):
        await decisions.history(saved.root_id, after=after)


async def test_more_relations_than_the_limit_are_an_error(
    decisions: Decisions, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = [await decisions.save(proposal(each)) for each in ("one", "two", "three")]
    monkeypatch.setattr("gieok.app.decisions.RELATIONS", 1)
    await decisions.relate(one.root_id, "REFINES", two.root_id)
    assert len(await decisions.relations(one.root_id)) == 1
    await decisions.relate(three.root_id, "REFINES", one.root_id)
    with pytest.raises(InputRefused, match="more than 1 relations"):
        await decisions.relations(one.root_id)
