"""Decisions that come from elsewhere and go elsewhere: what a folder of records says, against what is stored.

Pure but for the stores that it is given. All of it happens in the transaction of one cycle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID, uuid4

from pydantic import Field

from gieok.engine import Data
from gieok.errors import InputRefused
from gieok.memory.chains.rules import NEW
from gieok.memory.decisions.graph import DecisionGraph, ReadingRooms
from gieok.memory.decisions.known import check_decisions, check_evidence
from gieok.memory.decisions.records import (
    RELATION_TYPES,
    Decision,
    DecisionContent,
    ProposedRelation,
    Relation,
    RelationType,
)
from gieok.memory.decisions.store import RelationStore

MAX_ENTRIES = 5_000
"""Decisions that one import may bring: it is one transaction, and other writers wait for it."""

MAX_RELATIONS = 1_000
"""Relations that one decision may take along."""

_PAGE = 100

Outcome = Literal["added", "changed", "unchanged"]


class DecisionEntry(DecisionContent):
    """A decision apart from its versions. With `relations` None it says nothing about them."""

    root_id: UUID
    relations: Annotated[tuple[ProposedRelation, ...], Field(max_length=MAX_RELATIONS)] | None = None
    is_named: bool = False
    """Whether the root was made of a name, which another folder may have too."""

    @property
    def content(self) -> DecisionContent:
        """What is decided, apart from where it stands."""
        return content_of(self)


class EntryResult(Data):
    """What became of one entry."""

    root_id: UUID
    outcome: Outcome
    version: int
    """The active version now."""
    relations_added: int
    relations_removed: int


Entries = Annotated[tuple[DecisionEntry, ...], Field(min_length=1, max_length=MAX_ENTRIES)]


def content_of(record: DecisionContent) -> DecisionContent:
    """The content alone, of a record that has more."""
    return DecisionContent(**{name: getattr(record, name) for name in DecisionContent.model_fields})


def bring_in(
    rooms: ReadingRooms, entries: Sequence[DecisionEntry], created_at: datetime
) -> tuple[EntryResult, ...]:
    """Make the stored decisions what the entries say. What is so already is left alone: no new version.

    Every decision stands before the first relation is made, so that entries may refer to each other in any
    order. NotFound for a relation to a decision that exists neither here nor among the entries.
    """
    roots = [entry.root_id for entry in entries]
    stored = {
        decision.root_id: decision for page in _pages(roots) for decision in rooms.decisions.active(page)
    }
    saved = [_save(rooms, entry, stored.get(entry.root_id), created_at) for entry in entries]
    _check_targets(rooms, entries)
    declared = _outgoing(rooms.graph, [entry.root_id for entry in entries if entry.relations is not None])
    return tuple(
        _relate(rooms.relations, entry, result, declared)
        for entry, result in zip(entries, saved, strict=True)
    )


def take_out(rooms: ReadingRooms, decisions: Sequence[Decision]) -> tuple[DecisionEntry, ...]:
    """These decisions with the relations that begin at them, in the order given."""
    declared = _outgoing(rooms.graph, [decision.root_id for decision in decisions])
    return tuple(
        DecisionEntry(
            **dict(content_of(decision)),
            root_id=decision.root_id,
            relations=tuple(
                ProposedRelation(type=type_, target=target)
                for type_, target in sorted(declared.get(decision.root_id, {}))
            ),
        )
        for decision in decisions
    )


def _save(
    rooms: ReadingRooms, entry: DecisionEntry, stored: Decision | None, created_at: datetime
) -> EntryResult:
    outcome: Outcome = "added" if stored is None else "changed"
    if stored is not None and content_of(stored) == entry.content:
        return _result(stored, "unchanged")
    if stored is not None and entry.is_named and stored.domain != entry.domain:
        raise InputRefused(
            f"a record without an id of its own would move decision {stored.root_id} to another domain; "
            "give its folder another name, or the record that id",
            at="domain",
        )
    check_evidence(rooms, entry.evidence_ids)
    saved = rooms.decisions.append(
        entry.root_id,
        entry.content,
        version_id=uuid4(),
        created_at=created_at,
        expected_version=stored.version if stored else NEW,
    )
    return _result(saved, outcome)


def _check_targets(rooms: ReadingRooms, entries: Sequence[DecisionEntry]) -> None:
    targets: dict[UUID, None] = {}
    for entry in entries:
        for relation in entry.relations or ():
            if relation.target == entry.root_id:
                raise InputRefused(f"decision {entry.root_id} has a relation to itself", at="relations")
            targets[relation.target] = None
    for page in _pages(list(targets)):
        check_decisions(rooms, page)


def _result(decision: Decision, outcome: Outcome) -> EntryResult:
    return EntryResult(
        root_id=decision.root_id,
        outcome=outcome,
        version=decision.version,
        relations_added=0,
        relations_removed=0,
    )


_Declared = dict[UUID, dict[tuple[RelationType, UUID], Relation]]


def _relate(
    store: RelationStore, entry: DecisionEntry, result: EntryResult, declared: _Declared
) -> EntryResult:
    if entry.relations is None:
        return result
    before = declared.get(entry.root_id, {})
    wanted = {(relation.type, relation.target): relation for relation in entry.relations}
    for key in wanted.keys() - before.keys():
        relation = wanted[key]
        store.save(Relation(id=uuid4(), source=entry.root_id, type=relation.type, target=relation.target))
    for key in before.keys() - wanted.keys():
        store.remove(before[key])
    return result.model_copy(
        update={
            "relations_added": len(wanted.keys() - before.keys()),
            "relations_removed": len(before.keys() - wanted.keys()),
        }
    )


def _outgoing(graph: DecisionGraph, roots: Sequence[UUID]) -> _Declared:
    """The relations that begin at these decisions, by source, then by type and target."""
    declared: _Declared = {}
    for page in _pages(roots):
        limit = MAX_RELATIONS * len(page)
        found = graph.declared_from(page, RELATION_TYPES, limit + 1)
        if len(found) > limit:
            raise InputRefused(f"decisions have more than {MAX_RELATIONS} relations each", at="relations")
        for relation in found:
            declared.setdefault(relation.source, {})[(relation.type, relation.target)] = relation
    return declared


def _pages(roots: Sequence[UUID]) -> Iterator[Sequence[UUID]]:
    return (roots[start : start + _PAGE] for start in range(0, len(roots), _PAGE))
