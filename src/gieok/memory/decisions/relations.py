"""What a relation means for a change: whom it reaches. Pure functions over relations.

A DEPENDS_ON B        a change of B reaches A
A REFINES B           a change of B reaches A
A IMPLEMENTS B        a change of B reaches A
A VALIDATES B         a change of B reaches A: what A proved may not hold any more
A CONSTRAINS B        a change of A reaches B
A CONFLICTS_WITH B    a change of either reaches the other
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple
from uuid import UUID

from gieok.memory.decisions.records import Relation, RelationType

Direction = Literal["target to source", "source to target", "both"]

DIRECTIONS: Mapping[RelationType, Direction] = {
    "DEPENDS_ON": "target to source",
    "REFINES": "target to source",
    "IMPLEMENTS": "target to source",
    "VALIDATES": "target to source",
    "CONSTRAINS": "source to target",
    "CONFLICTS_WITH": "both",
}
"""Along which way of each relation a change spreads."""


class ImpactEdge(NamedTuple):
    """A change of `origin` reaches `affected`, because of a relation of this type."""

    origin: UUID
    affected: UUID
    type: RelationType
    from_source: bool
    """Whether `origin` is the relation's source."""


def impact_edges(relation: Relation) -> tuple[ImpactEdge, ...]:
    """The edges in the direction of impact that a relation stands for."""
    direction = DIRECTIONS[relation.type]
    edges: list[ImpactEdge] = []
    if direction != "source to target":
        edges.append(ImpactEdge(relation.target, relation.source, relation.type, from_source=False))
    if direction != "target to source":
        edges.append(ImpactEdge(relation.source, relation.target, relation.type, from_source=True))
    return tuple(edges)
