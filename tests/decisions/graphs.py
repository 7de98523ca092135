"""Random relation graphs, and what a change reaches in them, worked out the obvious way."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from uuid import UUID, uuid5

from hypothesis import strategies as st

from gieok.memory.decisions.graph.impact import Edge, EdgesOf, edges_for
from gieok.memory.decisions.records import RELATION_TYPES, Impact, Relation, RelationType

DECISIONS = tuple(UUID(int=number, version=4) for number in range(1, 9))
REACHES_SOURCE: frozenset[RelationType] = frozenset(
    {"DEPENDS_ON", "REFINES", "IMPLEMENTS", "VALIDATES", "CONFLICTS_WITH"}
)
REACHES_TARGET: frozenset[RelationType] = frozenset({"CONSTRAINS", "CONFLICTS_WITH"})


def relation(source: UUID, type_: RelationType, target: UUID) -> Relation:
    """A relation whose id follows from its ends, so that two graphs with the same relations are equal."""
    return Relation(id=uuid5(source, f"{type_} {target}"), source=source, type=type_, target=target)


_PAIRS = [(one, other) for one in DECISIONS for other in DECISIONS if one != other]
RELATIONS = st.tuples(st.sampled_from(_PAIRS), st.sampled_from(RELATION_TYPES)).map(
    lambda drawn: relation(drawn[0][0], drawn[1], drawn[0][1])
)
GRAPHS = st.lists(RELATIONS, max_size=30, unique_by=lambda one: (one.source, one.type, one.target))


def in_memory(relations: Iterable[Relation]) -> EdgesOf:
    """The edges of a graph that is held in a list."""
    edges = edges_for(relations)

    def edges_of(origins: Sequence[bytes], known: Collection[bytes]) -> list[Edge]:
        return [edge for edge in edges if edge[0] in origins and edge[1] not in known]

    return edges_of


def spread(relations: Iterable[Relation]) -> set[tuple[UUID, UUID]]:
    """Who reaches whom in one step."""
    pairs: set[tuple[UUID, UUID]] = set()
    for one in relations:
        if one.type in REACHES_SOURCE:
            pairs.add((one.target, one.source))
        if one.type in REACHES_TARGET:
            pairs.add((one.source, one.target))
    return pairs


def distances(origin: UUID, relations: Sequence[Relation]) -> dict[UUID, int]:
    """How far away everything is that a change of the origin reaches: every pair, until nothing changes."""
    far = {origin: 0}
    pairs = spread(relations)
    for _ in DECISIONS:
        for start, end in pairs:
            if start in far:
                far[end] = min(far.get(end, far[start] + 1), far[start] + 1)
    del far[origin]
    return far


def check_impact(impact: Impact, relations: Sequence[Relation], depth: int, limit: int) -> None:
    """Everything that is promised of a blast radius."""
    far = distances(impact.origin, relations)
    within = sorted(distance for distance in far.values() if distance <= depth)
    reached = {node.root_id: node for node in impact.nodes}
    assert len(reached) == len(impact.nodes), "each decision once"
    assert [node.distance for node in impact.nodes] == within[:limit], "nearest first, within depth and limit"
    assert all(far[root] == node.distance for root, node in reached.items()), "by a shortest path"
    assert impact.truncated == (len(reached) < len(far)), "what was cut off is said"
    assert impact.visited == len(reached) + 1
    for node in impact.nodes:
        check_path(impact.origin, node.root_id, [(edge.source, edge.type, edge.target) for edge in node.path])
        declared = {(one.source, one.type, one.target) for one in relations}
        assert {(edge.source, edge.type, edge.target) for edge in node.path} <= declared
        assert len(node.path) == node.distance


def check_path(origin: UUID, end: UUID, path: Sequence[tuple[UUID, RelationType, UUID]]) -> None:
    """The path leads from the origin to the end, each relation the way round in which a change spreads."""
    place = origin
    for source, type_, target in path:
        if place == target and type_ in REACHES_SOURCE:
            place = source
        else:
            assert place == source
            assert type_ in REACHES_TARGET
            place = target
    assert place == end
