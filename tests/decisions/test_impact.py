"""Blast radius: random graphs with cycles against an obvious reference, in memory and in both databases."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from itertools import islice, pairwise
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gieok import Gieok
from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.scope import OwnerScope, SqlView
from gieok.adapters.sql.stores import impact as sql_impact
from gieok.app.decisions import Decisions
from gieok.engine import Limits, make_plan
from gieok.errors import InputRefused, NotFound, PlanInvalid
from gieok.memory.chains.rules import NEW
from gieok.memory.decisions.graph.impact import MAX_DEPTH, MAX_LIMIT, impact_of
from gieok.memory.decisions.records import (
    DecisionContent,
    DecisionProposal,
    Impact,
    ImpactNode,
    PathEdge,
    Relation,
)
from gieok.plans import read_plan
from gieok.testing.contracts.decisions import START
from tests.decisions.conftest import Asked
from tests.decisions.graphs import DECISIONS, GRAPHS, check_impact, in_memory

DEPTHS = st.integers(1, 9)
LIMITS = st.integers(1, 9)


@pytest.mark.req("DEC-8")
@settings(max_examples=400, deadline=None)
@given(graph=GRAPHS, depth=DEPTHS, limit=LIMITS)
def test_a_blast_radius_is_what_the_obvious_reference_says(
    graph: list[Relation], depth: int, limit: int
) -> None:
    for origin in DECISIONS[:3]:
        check_impact(impact_of(origin, in_memory(graph), depth=depth, limit=limit), graph, depth, limit)


@pytest.mark.req("DEC-8")
@given(graph=GRAPHS.flatmap(lambda one: st.tuples(st.just(one), st.permutations(one))), limit=LIMITS)
def test_the_same_graph_gives_the_same_answer(
    graph: tuple[list[Relation], list[Relation]], limit: int
) -> None:
    """In whatever order its relations were declared."""
    one, other = (impact_of(DECISIONS[0], in_memory(each), depth=9, limit=limit) for each in graph)
    assert one == other


@given(source=st.uuids(), target=st.uuids(allow_nil=False))
def test_the_ids_of_a_report_are_like_any_others(source: UUID, target: UUID) -> None:
    """A walk makes them of stored bytes, by a way of its own."""
    assume(source != target)
    declared = Relation(id=uuid4(), source=source, type="DEPENDS_ON", target=target)
    (node,) = impact_of(target, in_memory([declared]), depth=1, limit=1).nodes
    again: UUID = pickle.loads(pickle.dumps(node.root_id))
    assert node.root_id == again == source
    assert (hash(again), str(node.root_id), node.root_id.is_safe) == (
        hash(source),
        str(source),
        source.is_safe,
    )


def test_the_largest_report_fits_into_a_step() -> None:
    """Every path at full length, the longest type: what the limits of a walk promise."""
    edge = PathEdge(source=DECISIONS[0], type="CONFLICTS_WITH", target=DECISIONS[1])
    node = ImpactNode(root_id=DECISIONS[0], distance=MAX_DEPTH, path=(edge,) * MAX_DEPTH)
    largest = Impact(origin=DECISIONS[0], nodes=(node,) * MAX_LIMIT, truncated=True, visited=MAX_LIMIT + 1)
    assert len(largest.model_dump_json()) <= Limits().output_bytes


async def declare(scope: OwnerScope, graph: list[Relation]) -> None:
    """Store the decisions of a graph and its relations."""

    def write(rooms: SqlView) -> None:
        for root in DECISIONS:
            content = DecisionContent(statement="a decision", strength="normal", scope="global")
            rooms.decisions.append(root, content, version_id=uuid4(), created_at=START, expected_version=NEW)
        for one in graph:
            rooms.relations.save(one)

    await scope.write(write)


@pytest.mark.req("DEC-8")
@pytest.mark.parametrize("page", [2_000, 2])
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=GRAPHS, depth=DEPTHS, limit=LIMITS)
async def test_a_stored_graph_is_walked_like_one_in_memory(
    gieok: Gieok, monkeypatch: pytest.MonkeyPatch, page: int, graph: list[Relation], depth: int, limit: int
) -> None:
    """Also when its edges come in many small pages."""
    monkeypatch.setattr(sql_impact, "_PAGE", page)
    monkeypatch.setattr(sql_impact, "_ORIGINS", page)
    owner = f"o{uuid4()}"
    await declare(gieok.scope(owner), graph)
    for origin in DECISIONS[:2]:
        found = await gieok.user(owner).decisions.impact(origin, depth=depth, limit=limit)
        assert found == impact_of(origin, in_memory(graph), depth=depth, limit=limit)
        check_impact(found, graph, depth, limit)


async def chain_of(decisions: Decisions, length: int) -> list[UUID]:
    """Decisions of which each depends on the one before."""
    roots: list[UUID] = []
    for number in range(length):
        saved = await decisions.save(
            DecisionProposal(statement=f"decision {number}", strength="normal", scope="global")
        )
        if roots:
            await decisions.relate(saved.root_id, "DEPENDS_ON", roots[-1])
        roots.append(saved.root_id)
    return roots


@pytest.mark.req("DEC-8", "DEC-11")
async def test_a_walk_asks_for_edges_and_for_nothing_else(decisions: Decisions, asked: Asked) -> None:
    """One query a level, by keys: no content is opened, and no text is searched."""
    roots = await chain_of(decisions, 6)
    asked.queries.clear()
    impact = await decisions.impact(roots[0])
    assert [node.root_id for node in impact.nodes] == roots[1:]
    assert asked.names == {"get_owner", "list_existing_decisions", "list_impacts"}
    assert asked.rows("list_existing_decisions") == 1
    assert asked.count("list_impacts") == len(roots)


@pytest.mark.req("DEC-8")
async def test_a_walk_reads_what_it_reaches_whatever_else_there_is(
    gieok: Gieok, decisions: Decisions, asked: Asked
) -> None:
    """A thousand relations elsewhere change neither the answer nor the rows that are read for it."""
    roots = await chain_of(decisions, 4)
    asked.queries.clear()
    before = await decisions.impact(roots[0])
    alone = list(asked.queries)
    elsewhere = [uuid4().bytes for _ in range(1_001)]
    await gieok.database.write("minsu", add_edges(list(pairwise(elsewhere))))
    asked.queries.clear()
    assert await decisions.impact(roots[0]) == before
    assert asked.queries == alone


@pytest.mark.req("DEC-8")
async def test_a_decision_that_everything_depends_on_is_not_read_whole(
    gieok: Gieok, decisions: Decisions, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql_impact, "_PAGE", 20)
    (root,) = await chain_of(decisions, 1)
    await gieok.database.write("minsu", add_edges([(root.bytes, uuid4().bytes) for _ in range(500)]))
    impact = await decisions.impact(root, limit=30)
    assert (len(impact.nodes), impact.truncated) == (30, True)
    assert asked.rows("list_impacts") <= 40


@pytest.mark.req("DEC-8")
@pytest.mark.parametrize("page", [1, 2, 5])
async def test_edges_come_in_order_and_once_however_they_are_paged(
    gieok: Gieok, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    """Also for a reader that has not got to know yet what earlier pages brought."""
    monkeypatch.setattr(sql_impact, "_PAGE", page)
    origins = sorted(uuid4().bytes for _ in range(3))
    pairs = [(origin, uuid4().bytes) for origin in origins for _ in range(4)]
    await gieok.database.write("minsu", add_edges(pairs))
    scope = gieok.scope("minsu")
    found = await scope.read(lambda rooms: list(islice(rooms.graph.edges(origins, ()), 2 * len(pairs))))
    assert [(origin, affected) for origin, affected, _, _ in found] == sorted(pairs)


def add_edges(pairs: list[tuple[bytes, bytes]]) -> Callable[[Tx], None]:
    """Edges between decisions that need not exist: a walk does not look at them."""
    rows = [{"origin": one, "affected": other, "type": 1, "from_source": 0} for one, other in pairs]
    return lambda tx: tx.run_many("add_impacts", rows)


@pytest.mark.req("DEC-8")
async def test_a_path_says_why(decisions: Decisions) -> None:
    """A path holds the relations as they were declared, from the origin to the decision that it reached."""
    axis, lock, code = await chain_of(decisions, 3)
    impact = await decisions.impact(axis)
    first = {"from": lock, "type": "DEPENDS_ON", "to": axis}
    second = {"from": code, "type": "DEPENDS_ON", "to": lock}
    assert impact.model_dump(by_alias=True)["nodes"] == (
        {"rootId": lock, "distance": 1, "path": (first,)},
        {"rootId": code, "distance": 2, "path": (first, second)},
    )
    assert (await decisions.impact(code)).nodes == ()


async def test_a_report_is_read_back_from_its_document(decisions: Decisions) -> None:
    """Strictly, down to the edges of its paths."""
    roots = await chain_of(decisions, 3)
    impact = await decisions.impact(roots[0])
    document = impact.model_dump_json(by_alias=True)
    assert Impact.model_validate_json(document) == impact
    with pytest.raises(ValidationError):
        Impact.model_validate_json(document.replace("DEPENDS_ON", "LIKES"))
    with pytest.raises(ValidationError):
        Impact.model_validate_json(document.replace('"from"', '"whence"'))


@pytest.mark.req("DEC-8")
async def test_a_cycle_ends_and_is_no_cut(decisions: Decisions) -> None:
    roots = await chain_of(decisions, 3)
    await decisions.relate(roots[0], "DEPENDS_ON", roots[-1])
    for start in range(3):
        impact = await decisions.impact(roots[start])
        assert [node.root_id for node in impact.nodes] == [roots[(start + step) % 3] for step in (1, 2)]
        assert (impact.truncated, impact.visited) == (False, 3)


@pytest.mark.req("DEC-8")
async def test_edges_to_what_is_known_stay_in_the_database(decisions: Decisions, asked: Asked) -> None:
    """However closely the decisions are related, few more edges are read than decisions are found."""
    roots = await chain_of(decisions, 5)
    for one in roots:
        for other in roots:
            if one != other:
                await decisions.relate(one, "CONFLICTS_WITH", other)
    asked.queries.clear()
    impact = await decisions.impact(roots[0], depth=2)
    assert len(impact.nodes) == 4
    assert {node.distance for node in impact.nodes} == {1}
    assert [rows for name, rows in asked.queries if name == "list_impacts"][1:] == [0]


@pytest.mark.req("DEC-8", "ENG-5")
async def test_a_request_may_ask_for_less_than_the_plan_and_not_for_more(decisions: Decisions) -> None:
    roots = await chain_of(decisions, 19)
    assert len((await decisions.impact(roots[0], depth=2)).nodes) == 2
    assert len((await decisions.impact(roots[0], limit=3)).nodes) == 3
    most = await decisions.impact(roots[0], depth=1_000, limit=1_000_000)
    assert (len(most.nodes), most.truncated) == (MAX_DEPTH, True)
    with pytest.raises(InputRefused, match="depth"):
        await decisions.impact(roots[0], depth=0)


@pytest.mark.req("DEC-8", "OPS-4")
async def test_an_unknown_decision_has_no_impact(gieok: Gieok, decisions: Decisions) -> None:
    (root,) = await chain_of(decisions, 1)
    with pytest.raises(NotFound, match=str(root)):
        await gieok.user("jiyoung").decisions.impact(root)


@pytest.mark.req("DEC-4", "DEC-8")
async def test_a_new_version_keeps_its_relations(decisions: Decisions) -> None:
    first, second = await chain_of(decisions, 2)
    before = await decisions.impact(first)
    for root in (first, second):
        await decisions.save(
            DecisionProposal(statement="changed", strength="lock", scope="global", root_id=root)
        )
    assert await decisions.impact(first) == before


@pytest.mark.req("ENG-5")
@pytest.mark.parametrize("missing", ["depth", "limit"])
async def test_the_bounds_of_a_walk_are_policy_of_the_plan(gieok: Gieok, missing: str) -> None:
    document = json.loads(read_plan("decision_impact"))
    del document["steps"][0]["metadata"][missing]
    with pytest.raises(PlanInvalid, match=missing):
        gieok.check(make_plan(document))
