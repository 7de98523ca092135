"""Blast radius: random graphs with cycles against a simple reference, in memory and in both databases."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice, pairwise
from uuid import UUID, uuid4, uuid5

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
from gieok.memory.chains import NEW
from gieok.memory.decisions.graph.impact import MAX_DEPTH, MAX_LIMIT, Edge, EdgesOf, edges_for, impact_of
from gieok.memory.decisions.records import (
    RELATION_TYPES,
    DecisionContent,
    DecisionProposal,
    Impact,
    ImpactNode,
    PathEdge,
    Relation,
    RelationType,
)
from gieok.plans import read_plan
from gieok.testing.contracts.decisions import START
from tests.decisions.conftest import QueryLog

DEPTHS = st.integers(1, 9)
LIMITS = st.integers(1, 9)
DECISIONS = tuple(UUID(int=number, version=4) for number in range(1, 9))
REACHES_SOURCE: frozenset[RelationType] = frozenset(
    {"DEPENDS_ON", "REFINES", "IMPLEMENTS", "VALIDATES", "CONFLICTS_WITH"}
)
REACHES_TARGET: frozenset[RelationType] = frozenset({"CONSTRAINS", "CONFLICTS_WITH"})


def relation(source: UUID, type_: RelationType, target: UUID) -> Relation:
    """A relation with an id derived from its ends, so that equal graphs compare equal."""
    return Relation(id=uuid5(source, f"{type_} {target}"), source=source, type=type_, target=target)


_PAIRS = [(one, other) for one in DECISIONS for other in DECISIONS if one != other]
RELATIONS = st.tuples(st.sampled_from(_PAIRS), st.sampled_from(RELATION_TYPES)).map(
    lambda drawn: relation(drawn[0][0], drawn[1], drawn[0][1])
)
GRAPHS = st.lists(RELATIONS, max_size=30, unique_by=lambda one: (one.source, one.type, one.target))


def in_memory(relations: Iterable[Relation]) -> EdgesOf:
    """The edges of a graph that is kept in a list."""
    edges = edges_for(relations)

    def edges_of(origins: Sequence[bytes], visited: Collection[bytes]) -> list[Edge]:
        return [edge for edge in edges if edge[0] in origins and edge[1] not in visited]

    return edges_of


def affected_pairs(relations: Iterable[Relation]) -> set[tuple[UUID, UUID]]:
    """The pairs (origin, affected) that are one relation apart."""
    pairs: set[tuple[UUID, UUID]] = set()
    for one in relations:
        if one.type in REACHES_SOURCE:
            pairs.add((one.target, one.source))
        if one.type in REACHES_TARGET:
            pairs.add((one.source, one.target))
    return pairs


def distances(origin: UUID, relations: Sequence[Relation]) -> dict[UUID, int]:
    """The distance of each decision that a change of the origin reaches. Relaxes all pairs repeatedly."""
    distance_of = {origin: 0}
    pairs = affected_pairs(relations)
    for _ in DECISIONS:
        for start, end in pairs:
            if start in distance_of:
                distance_of[end] = min(distance_of.get(end, distance_of[start] + 1), distance_of[start] + 1)
    del distance_of[origin]
    return distance_of


def check_impact(impact: Impact, relations: Sequence[Relation], depth: int, limit: int) -> None:
    """Check every property of a blast radius against the reference."""
    distance_of = distances(impact.origin, relations)
    within = sorted(distance for distance in distance_of.values() if distance <= depth)
    reached = {node.root_id: node for node in impact.nodes}
    assert len(reached) == len(impact.nodes), "each decision once"
    assert [node.distance for node in impact.nodes] == within[:limit], "nearest first, within depth and limit"
    assert all(distance_of[root] == node.distance for root, node in reached.items()), "by a shortest path"
    assert impact.truncated == (len(reached) < len(distance_of)), "truncated if anything was cut off"
    assert impact.visited == len(reached) + 1
    for node in impact.nodes:
        check_path(impact.origin, node.root_id, [(edge.source, edge.type, edge.target) for edge in node.path])
        declared = {(one.source, one.type, one.target) for one in relations}
        assert {(edge.source, edge.type, edge.target) for edge in node.path} <= declared
        assert len(node.path) == node.distance


def check_path(origin: UUID, end: UUID, path: Sequence[tuple[UUID, RelationType, UUID]]) -> None:
    """Check that the path leads from origin to end, along each relation in its direction of impact."""
    current = origin
    for source, type_, target in path:
        if current == target and type_ in REACHES_SOURCE:
            current = source
        else:
            assert current == source
            assert type_ in REACHES_TARGET
            current = target
    assert current == end


@pytest.mark.req("DEC-8")
@settings(max_examples=400, deadline=None)
@given(graph=GRAPHS, depth=DEPTHS, limit=LIMITS)
def test_the_blast_radius_matches_the_reference(graph: list[Relation], depth: int, limit: int) -> None:
    for origin in DECISIONS[:3]:
        check_impact(impact_of(origin, in_memory(graph), depth=depth, limit=limit), graph, depth, limit)


@pytest.mark.req("DEC-8")
@given(graph=GRAPHS.flatmap(lambda one: st.tuples(st.just(one), st.permutations(one))), limit=LIMITS)
def test_the_same_graph_gives_the_same_result(
    graph: tuple[list[Relation], list[Relation]], limit: int
) -> None:
    """Independent of the order in which the relations were declared."""
    one, other = (impact_of(DECISIONS[0], in_memory(each), depth=9, limit=limit) for each in graph)
    assert one == other


@given(source=st.uuids(), target=st.uuids(allow_nil=False))
def test_ids_in_a_report_are_ordinary_uuids(source: UUID, target: UUID) -> None:
    """A walk builds them from stored bytes without the constructor."""
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


def test_the_largest_report_fits_into_the_output_of_a_step() -> None:
    """With every path at full length and the longest relation type."""
    edge = PathEdge(source=DECISIONS[0], type="CONFLICTS_WITH", target=DECISIONS[1])
    node = ImpactNode(root_id=DECISIONS[0], distance=MAX_DEPTH, path=(edge,) * MAX_DEPTH)
    largest = Impact(origin=DECISIONS[0], nodes=(node,) * MAX_LIMIT, truncated=True, visited=MAX_LIMIT + 1)
    assert len(largest.model_dump_json()) <= Limits().output_bytes


async def declare(scope: OwnerScope, graph: list[Relation]) -> None:
    """Store the decisions of a graph and its relations."""

    def write(view: SqlView) -> None:
        for root in DECISIONS:
            content = DecisionContent(statement="a decision", strength="normal", scope="global")
            view.decisions.append(root, content, version_id=uuid4(), created_at=START, expected_version=NEW)
        for one in graph:
            view.relations.save(one)

    await scope.write(write)


@pytest.mark.req("DEC-8")
@pytest.mark.parametrize("page", [2_000, 2])
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=GRAPHS, depth=DEPTHS, limit=LIMITS)
async def test_a_stored_graph_gives_the_same_result_as_one_in_memory(
    gieok: Gieok, monkeypatch: pytest.MonkeyPatch, page: int, graph: list[Relation], depth: int, limit: int
) -> None:
    """Also when its edges are read in many small pages."""
    monkeypatch.setattr(sql_impact, "_PAGE", page)
    monkeypatch.setattr(sql_impact, "_ORIGINS", page)
    owner = f"o{uuid4()}"
    await declare(gieok.scope(owner), graph)
    for origin in DECISIONS[:2]:
        found = await gieok.user(owner).decisions.impact(origin, depth=depth, limit=limit)
        assert found == impact_of(origin, in_memory(graph), depth=depth, limit=limit)
        check_impact(found, graph, depth, limit)


async def chain_of(decisions: Decisions, length: int) -> list[UUID]:
    """Save decisions that each depend on the one before."""
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
async def test_a_walk_only_queries_edges(decisions: Decisions, query_log: QueryLog) -> None:
    """One query per level, by key. No content is decrypted and no text is searched."""
    roots = await chain_of(decisions, 6)
    query_log.queries.clear()
    impact = await decisions.impact(roots[0])
    assert [node.root_id for node in impact.nodes] == roots[1:]
    assert query_log.names == {"get_owner", "list_existing_decisions", "list_impacts"}
    assert query_log.rows("list_existing_decisions") == 1
    assert query_log.count("list_impacts") == len(roots)


@pytest.mark.req("DEC-8")
async def test_a_walk_reads_no_unrelated_edges(
    gieok: Gieok, decisions: Decisions, query_log: QueryLog
) -> None:
    """A thousand other relations change neither the result nor the rows that are read."""
    roots = await chain_of(decisions, 4)
    query_log.queries.clear()
    before = await decisions.impact(roots[0])
    alone = list(query_log.queries)
    elsewhere = [uuid4().bytes for _ in range(1_001)]
    await gieok.database.write("minsu", add_edges(list(pairwise(elsewhere))))
    query_log.queries.clear()
    assert await decisions.impact(roots[0]) == before
    assert query_log.queries == alone


@pytest.mark.req("DEC-8")
async def test_a_walk_stops_reading_a_large_fan_out_at_the_limit(
    gieok: Gieok, decisions: Decisions, query_log: QueryLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql_impact, "_PAGE", 20)
    (root,) = await chain_of(decisions, 1)
    await gieok.database.write("minsu", add_edges([(root.bytes, uuid4().bytes) for _ in range(500)]))
    impact = await decisions.impact(root, limit=30)
    assert (len(impact.nodes), impact.truncated) == (30, True)
    assert query_log.rows("list_impacts") <= 40


@pytest.mark.req("DEC-8")
@pytest.mark.parametrize("page", [1, 2, 5])
async def test_paging_returns_each_edge_once_and_in_order(
    gieok: Gieok, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    """Also when the caller passes no visited decisions."""
    monkeypatch.setattr(sql_impact, "_PAGE", page)
    origins = sorted(uuid4().bytes for _ in range(3))
    pairs = [(origin, uuid4().bytes) for origin in origins for _ in range(4)]
    await gieok.database.write("minsu", add_edges(pairs))
    scope = gieok.scope("minsu")
    found = await scope.read(lambda view: list(islice(view.graph.edges(origins, ()), 2 * len(pairs))))
    assert [(origin, affected) for origin, affected, _, _ in found] == sorted(pairs)


def add_edges(pairs: list[tuple[bytes, bytes]]) -> Callable[[Tx], None]:
    """Add edges between decisions that need not exist, because a walk does not read decisions."""
    rows = [{"origin": one, "affected": other, "type": 1, "from_source": 0} for one, other in pairs]
    return lambda tx: tx.run_many("add_impacts", rows)


@pytest.mark.req("DEC-8")
async def test_a_path_lists_the_declared_relations(decisions: Decisions) -> None:
    """In order from the origin to the reached decision, each as it was declared."""
    axis, lock, code = await chain_of(decisions, 3)
    impact = await decisions.impact(axis)
    first = {"from": lock, "type": "DEPENDS_ON", "to": axis}
    second = {"from": code, "type": "DEPENDS_ON", "to": lock}
    assert impact.model_dump(by_alias=True)["nodes"] == (
        {"rootId": lock, "distance": 1, "path": (first,)},
        {"rootId": code, "distance": 2, "path": (first, second)},
    )
    assert (await decisions.impact(code)).nodes == ()


async def test_a_report_round_trips_through_json(decisions: Decisions) -> None:
    """Validation covers the edges of its paths."""
    roots = await chain_of(decisions, 3)
    impact = await decisions.impact(roots[0])
    document = impact.model_dump_json(by_alias=True)
    assert Impact.model_validate_json(document) == impact
    with pytest.raises(ValidationError):
        Impact.model_validate_json(document.replace("DEPENDS_ON", "LIKES"))
    with pytest.raises(ValidationError):
        Impact.model_validate_json(document.replace('"from"', '"whence"'))


@pytest.mark.req("DEC-8")
async def test_a_cycle_ends_the_walk_without_truncating_it(decisions: Decisions) -> None:
    roots = await chain_of(decisions, 3)
    await decisions.relate(roots[0], "DEPENDS_ON", roots[-1])
    for start in range(3):
        impact = await decisions.impact(roots[start])
        assert [node.root_id for node in impact.nodes] == [roots[(start + step) % 3] for step in (1, 2)]
        assert (impact.truncated, impact.visited) == (False, 3)


@pytest.mark.req("DEC-8")
async def test_edges_to_visited_decisions_are_not_read(decisions: Decisions, query_log: QueryLog) -> None:
    """In a dense graph, about as many edges are read as decisions are found."""
    roots = await chain_of(decisions, 5)
    for one in roots:
        for other in roots:
            if one != other:
                await decisions.relate(one, "CONFLICTS_WITH", other)
    query_log.queries.clear()
    impact = await decisions.impact(roots[0], depth=2)
    assert len(impact.nodes) == 4
    assert {node.distance for node in impact.nodes} == {1}
    assert [rows for name, rows in query_log.queries if name == "list_impacts"][1:] == [0]


@pytest.mark.req("DEC-8", "ENG-5")
async def test_a_request_can_lower_the_limits_of_the_plan_but_not_raise_them(decisions: Decisions) -> None:
    roots = await chain_of(decisions, 19)
    assert len((await decisions.impact(roots[0], depth=2)).nodes) == 2
    assert len((await decisions.impact(roots[0], limit=3)).nodes) == 3
    most = await decisions.impact(roots[0], depth=1_000, limit=1_000_000)
    assert (len(most.nodes), most.truncated) == (MAX_DEPTH, True)
    with pytest.raises(InputRefused, match="depth"):
        await decisions.impact(roots[0], depth=0)


@pytest.mark.req("DEC-8", "OPS-4")
async def test_the_impact_of_an_unknown_decision_is_not_found(gieok: Gieok, decisions: Decisions) -> None:
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
async def test_a_plan_must_set_the_limits_of_a_walk(gieok: Gieok, missing: str) -> None:
    document = json.loads(read_plan("decision_impact"))
    del document["steps"][0]["metadata"][missing]
    with pytest.raises(PlanInvalid, match=missing):
        gieok.check(make_plan(document))
