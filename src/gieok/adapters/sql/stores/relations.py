"""Relations between decisions in SQL: as declared, and as edges in the direction of impact."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from gieok.adapters.sql.driver.database import Row, Tx, Value
from gieok.errors import Conflict
from gieok.memory.decisions.graph.impact import impact_edges
from gieok.memory.decisions.records import RELATION_TYPES, Relation, RelationType

_Edge = tuple[bytes, bytes, int, int]
"""The columns of an edge: origin, affected, type, from_source."""


class SqlRelationStore:
    """Relations of one owner inside one transaction. They contain only random ids, so nothing is sealed."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def save(self, relation: Relation) -> Relation:
        columns = {
            "source": relation.source.bytes,
            "type": type_number(relation.type),
            "target": relation.target.bytes,
        }
        if self._tx.run("add_relation", id=relation.id.bytes, **columns):
            self._tx.run_many("add_impacts", list(map(_edge_row, _edges(relation))))
            return relation
        row = self._tx.one("find_relation", **columns)
        if row is None:
            raise Conflict("this relation was being deleted at the same moment; create it again")
        return read_relation(row)

    def get(self, relation_id: UUID) -> Relation | None:
        row = self._tx.one("get_relation", id=relation_id.bytes)
        return None if row is None else read_relation(row)

    def remove(self, relation: Relation) -> None:
        if self._tx.run("remove_relation", id=relation.id.bytes):
            self._tx.run_many("remove_impacts", list(map(_edge_row, _edges(relation))))

    def touching(self, root_ids: Sequence[UUID], limit: int) -> list[Relation]:
        if not root_ids:
            return []
        rows = self._tx.all(
            "list_relations_touching", root_ids=[root.bytes for root in root_ids], limit=limit
        )
        return [read_relation(row) for row in rows]

    def wrong_impacts(self) -> list[str]:
        """The decisions from which an edge is missing or too much, by root."""
        wrong = self._expected_impacts() ^ {(*row,) for row in self._tx.all("list_all_impacts")}
        return sorted({str(UUID(bytes=edge[0])) for edge in wrong})

    def rebuild_impacts(self) -> None:
        """Write all edges again."""
        self._tx.run("erase_decision_impacts")
        self._tx.run_many("add_impacts", [_edge_row(edge) for edge in sorted(self._expected_impacts())])

    def _expected_impacts(self) -> set[_Edge]:
        relations = map(read_relation, self._tx.all("list_all_relations"))
        return {edge for each in relations for edge in _edges(each)}


def type_number(relation_type: RelationType) -> int:
    """The number of a relation type in the tables."""
    return RELATION_TYPES.index(relation_type) + 1


def type_of(number: int) -> RelationType:
    """The inverse of `type_number`."""
    return RELATION_TYPES[number - 1]


def _edges(relation: Relation) -> list[_Edge]:
    return [
        (edge.origin.bytes, edge.affected.bytes, type_number(edge.type), int(edge.from_source))
        for edge in impact_edges(relation)
    ]


def _edge_row(edge: _Edge) -> dict[str, Value]:
    origin, affected, number, from_source = edge
    return {"origin": origin, "affected": affected, "type": number, "from_source": from_source}


def read_relation(row: Row) -> Relation:
    """A relation from its columns id, source, type, target."""
    identity, source, number, target = row
    return Relation(
        id=UUID(bytes=identity),
        source=UUID(bytes=source),
        type=type_of(number),
        target=UUID(bytes=target),
    )
