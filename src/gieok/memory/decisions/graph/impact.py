"""Impact analysis: a breadth-first walk along declared relations, nearest first, each decision once.

How a change spreads along a relation:

A DEPENDS_ON B        a change of B reaches A
A REFINES B           a change of B reaches A
A IMPLEMENTS B        a change of B reaches A
A VALIDATES B         a change of B reaches A: what A validated may no longer hold
A CONSTRAINS B        a change of A reaches B
A CONFLICTS_WITH B    a change of either reaches the other

The walk reads edges lazily and needs neither a database nor text. Visited decisions are not walked again, so
cycles end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from typing import Annotated, Literal, NamedTuple
from uuid import UUID, SafeUUID

from pydantic import Field

from gieok.engine import Data
from gieok.memory.decisions.records import (
    RELATION_TYPES,
    DecisionProposal,
    Impact,
    ImpactNode,
    PathEdge,
    Relation,
    RelationType,
)

MAX_DEPTH = 16
MAX_LIMIT = 2_000
"""The largest report, with every path at full length, still fits into the output of a step."""

PROPOSED = UUID(int=0)
"""Placeholder in a report for a proposed decision that has no root yet."""

_set = object.__setattr__  # a UUID is frozen

Direction = Literal["target to source", "source to target", "both"]

DIRECTIONS: Mapping[RelationType, Direction] = {
    "DEPENDS_ON": "target to source",
    "REFINES": "target to source",
    "IMPLEMENTS": "target to source",
    "VALIDATES": "target to source",
    "CONSTRAINS": "source to target",
    "CONFLICTS_WITH": "both",
}
"""The direction in which a change spreads along each relation."""

Edge = tuple[bytes, bytes, int, int]
"""Origin, affected, the index of the type in RELATION_TYPES from 1, and 1 if the origin is the source.

Ids are raw bytes, because a walk reads many edges for each decision that it finds.
"""

EdgesOf = Callable[[Sequence[bytes], Collection[bytes]], Iterable[Edge]]
"""The sorted edges that begin at the first argument. May be lazy: a walk stops when it has enough.

The second argument is what the walk has visited. Edges to those may be left out; in a dense graph they are
most of the edges.
"""


class WalkMetadata(Data):
    """The bounds of a walk, from the plan."""

    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)]
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)]


class ImpactEdge(NamedTuple):
    """A change of `origin` reaches `affected` along a relation of this type."""

    origin: UUID
    affected: UUID
    type: RelationType
    from_source: bool
    """Whether `origin` is the relation's source."""


def impact_edges(relation: Relation) -> tuple[ImpactEdge, ...]:
    """The edges of a relation in the direction of impact."""
    direction = DIRECTIONS[relation.type]
    edges: list[ImpactEdge] = []
    if direction != "source to target":
        edges.append(ImpactEdge(relation.target, relation.source, relation.type, from_source=False))
    if direction != "target to source":
        edges.append(ImpactEdge(relation.source, relation.target, relation.type, from_source=True))
    return tuple(edges)


class Reach(NamedTuple):
    """The nodes that a walk found, in order."""

    nodes: tuple[ImpactNode, ...]
    truncated: bool
    """Whether depth or limit ended the walk early."""


def blast_radius(origins: Iterable[UUID], edges_of: EdgesOf, *, depth: int, limit: int) -> Reach:
    """At most `limit` decisions within `depth` relations of the origins, each with a shortest path.

    Deterministic: of several shortest paths the first in edge order is taken, level by level.
    """
    visited = {origin.bytes: ImpactNode(origin, 0, ()) for origin in origins}
    frontier = sorted(visited)
    nodes: list[ImpactNode] = []
    for _ in range(depth):
        found: list[bytes] = []
        for edge in edges_of(frontier, visited):
            affected = edge[1]
            if affected in visited:
                continue
            if len(nodes) == limit:
                return Reach(tuple(nodes), truncated=True)
            node = visited[affected] = _next_node(visited[edge[0]], edge)
            nodes.append(node)
            found.append(affected)
        if not found:
            return Reach(tuple(nodes), truncated=False)
        frontier = sorted(found)
    has_more = any(affected not in visited for _, affected, _, _ in edges_of(frontier, visited))
    return Reach(tuple(nodes), truncated=has_more)


def impact_of(origin: UUID, edges_of: EdgesOf, *, depth: int, limit: int) -> Impact:
    """The impact report of one decision."""
    nodes, truncated = blast_radius((origin,), edges_of, depth=depth, limit=limit)
    return Impact(origin=origin, nodes=nodes, truncated=truncated, visited=len(nodes) + 1)


def edges_for(relations: Iterable[Relation]) -> list[Edge]:
    """The edges of these relations, sorted."""
    edges = (edge for relation in relations for edge in impact_edges(relation))
    return sorted(
        (edge.origin.bytes, edge.affected.bytes, RELATION_TYPES.index(edge.type) + 1, int(edge.from_source))
        for edge in edges
    )


def with_relations(edges_of: EdgesOf, relations: Iterable[Relation]) -> EdgesOf:
    """`edges_of` with these relations added, as if they had been declared."""
    added = edges_for(relations)

    def merged(origins: Sequence[bytes], visited: Collection[bytes]) -> Iterator[Edge]:
        wanted = frozenset(origins)
        return merge(edges_of(origins, visited), [edge for edge in added if edge[0] in wanted])

    return merged if added else edges_of


def subject_of(proposal: DecisionProposal) -> UUID:
    """The decision that a proposal would change, or `PROPOSED` for a new one."""
    return proposal.root_id or PROPOSED


def proposed_relations(proposal: DecisionProposal) -> tuple[Relation, ...]:
    """The relations that a proposal would declare. They have no ids of their own yet."""
    subject = subject_of(proposal)
    return tuple(
        Relation(id=PROPOSED, source=subject, type=relation.type, target=relation.target)
        for relation in proposal.relations
    )


def _next_node(previous: ImpactNode, edge: Edge) -> ImpactNode:
    """The node at the end of an edge. Its path holds the relation as it was declared."""
    _, affected, number, from_source = edge
    root_id, type_ = _uuid(affected), RELATION_TYPES[number - 1]
    if from_source:
        declared = PathEdge(previous.root_id, type_, root_id)
    else:
        declared = PathEdge(root_id, type_, previous.root_id)
    return ImpactNode(root_id, previous.distance + 1, (*previous.path, declared))


def _uuid(raw: bytes) -> UUID:
    """`UUID(bytes=raw)` in half the time: it skips the checks for the other constructor arguments."""
    made = UUID.__new__(UUID)
    _set(made, "int", int.from_bytes(raw, "big"))
    _set(made, "is_safe", SafeUUID.unknown)
    return made
