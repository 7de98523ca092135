"""What a change reaches: a walk along declared relations, nearest first, each decision once.

The walk asks for the edges of the decisions that it stands on, takes no more of them than it needs, and knows
neither a database nor a text. A decision that it meets again ends that way: cycles cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from heapq import merge
from typing import NamedTuple
from uuid import UUID, SafeUUID

from gieok.memory.decisions.records import (
    RELATION_TYPES,
    DecisionProposal,
    Impact,
    ImpactNode,
    PathEdge,
    Relation,
)
from gieok.memory.decisions.relations import impact_edges

MAX_DEPTH = 16
MAX_LIMIT = 2_000
"""So that the largest report, every path at full length, still fits into the output of a step."""

PROPOSED = UUID(int=0)
"""Stands in a report for a decision that is only proposed and has no root yet."""

_set = object.__setattr__  # a UUID is frozen

Edge = tuple[bytes, bytes, int, int]
"""Origin, affected, the number of the type in RELATION_TYPES from 1, and whether the origin declared it (1).

Ids are their bytes here, because a walk looks at many edges for each decision that it finds.
"""

EdgesOf = Callable[[Sequence[bytes], Collection[bytes]], Iterable[Edge]]
"""The edges that begin at the first decisions, in order. May be lazy: a walk stops when it has enough.

The second are those that the walk knows already. Edges to them may be left out: they lead
nowhere new, and are most of a closely related graph.
"""


class Reach(NamedTuple):
    """What a walk found, in the order in which it found it."""

    nodes: tuple[ImpactNode, ...]
    truncated: bool
    """Whether depth or limit kept it from going on."""


def blast_radius(origins: Iterable[UUID], edges_of: EdgesOf, *, depth: int, limit: int) -> Reach:
    """At most `limit` decisions within `depth` relations of the origins, each with its shortest path.

    Of several shortest paths the first in the order of the edges is taken, level by level, so that the same
    graph always gives the same answer.
    """
    known = {origin.bytes: ImpactNode(origin, 0, ()) for origin in origins}
    frontier = sorted(known)
    nodes: list[ImpactNode] = []
    for _ in range(depth):
        found: list[bytes] = []
        for edge in edges_of(frontier, known):
            affected = edge[1]
            if affected in known:
                continue
            if len(nodes) == limit:
                return Reach(tuple(nodes), truncated=True)
            node = known[affected] = _next(known[edge[0]], edge)
            nodes.append(node)
            found.append(affected)
        if not found:
            return Reach(tuple(nodes), truncated=False)
        frontier = sorted(found)
    beyond = any(affected not in known for _, affected, _, _ in edges_of(frontier, known))
    return Reach(tuple(nodes), truncated=beyond)


def impact_of(origin: UUID, edges_of: EdgesOf, *, depth: int, limit: int) -> Impact:
    """The blast radius of one decision, as it is reported."""
    nodes, truncated = blast_radius((origin,), edges_of, depth=depth, limit=limit)
    return Impact(origin=origin, nodes=nodes, truncated=truncated, visited=len(nodes) + 1)


def edges_for(relations: Iterable[Relation]) -> list[Edge]:
    """The edges that these relations stand for, in order."""
    edges = (edge for relation in relations for edge in impact_edges(relation))
    return sorted(
        (edge.origin.bytes, edge.affected.bytes, RELATION_TYPES.index(edge.type) + 1, int(edge.from_source))
        for edge in edges
    )


def with_relations(edges_of: EdgesOf, relations: Iterable[Relation]) -> EdgesOf:
    """The edges as they would be if these relations had been declared too."""
    added = edges_for(relations)

    def both(origins: Sequence[bytes], known: Collection[bytes]) -> Iterator[Edge]:
        standing = frozenset(origins)
        return merge(edges_of(origins, known), [edge for edge in added if edge[0] in standing])

    return both if added else edges_of


def subject_of(proposal: DecisionProposal) -> UUID:
    """The decision that a proposal would change, or `PROPOSED` where it would begin a new one."""
    return proposal.root_id or PROPOSED


def proposed_relations(proposal: DecisionProposal) -> tuple[Relation, ...]:
    """The relations that would stand if the proposal were saved. None of them has an id of its own yet."""
    subject = subject_of(proposal)
    return tuple(
        Relation(id=PROPOSED, source=subject, type=relation.type, target=relation.target)
        for relation in proposal.relations
    )


def _next(before: ImpactNode, edge: Edge) -> ImpactNode:
    """Where an edge leads. Its path holds the relation behind the edge, the way round as it was declared."""
    _, affected, number, from_source = edge
    root_id, type_ = _uuid(affected), RELATION_TYPES[number - 1]
    if from_source:
        declared = PathEdge(before.root_id, type_, root_id)
    else:
        declared = PathEdge(root_id, type_, before.root_id)
    return ImpactNode(root_id, before.distance + 1, (*before.path, declared))


def _uuid(raw: bytes) -> UUID:
    """`UUID(bytes=raw)` in half its time: without the checks that are for other ways to make one."""
    made = UUID.__new__(UUID)
    _set(made, "int", int.from_bytes(raw, "big"))
    _set(made, "is_safe", SafeUUID.unknown)
    return made
