"""Import and export of decisions as a folder of records. An import is one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID, uuid4

from pydantic import Field

from gieok.engine import Data, NoData, StepContext, WriteStep
from gieok.errors import InputRefused
from gieok.memory.chains import NEW
from gieok.memory.decisions.checks import check_decisions, check_evidence
from gieok.memory.decisions.records import (
    RELATION_TYPES,
    Decision,
    DecisionContent,
    ProposedRelation,
    Relation,
    RelationType,
    content_of,
)
from gieok.memory.decisions.store import DecisionGraph, DecisionView, RelationStore

MAX_ENTRIES = 5_000
"""Decisions of one import. It is one transaction, and other writers wait for it."""

MAX_RELATIONS = 1_000
"""Relations of one imported decision."""

_PAGE = 100

Outcome = Literal["added", "changed", "unchanged"]


class DecisionEntry(DecisionContent):
    """A decision without its versions. `relations=None` leaves the stored relations unchanged."""

    root_id: UUID
    relations: Annotated[tuple[ProposedRelation, ...], Field(max_length=MAX_RELATIONS)] | None = None
    is_named: bool = False
    """Whether the root was derived from a file name, which another folder may use too."""

    @property
    def content(self) -> DecisionContent:
        """The content without root and relations."""
        return content_of(self)


class EntryResult(Data):
    """The result of importing one entry."""

    root_id: UUID
    outcome: Outcome
    version: int
    """The active version after the import."""
    relations_added: int
    relations_removed: int


Entries = Annotated[tuple[DecisionEntry, ...], Field(min_length=1, max_length=MAX_ENTRIES)]


class ImportInputs(Data):
    entries: Entries


class ImportedDecisions(Data):
    results: tuple[EntryResult, ...]
    """One for each entry, in order."""


class ImportDecisions(WriteStep[NoData, ImportInputs, ImportedDecisions]):
    """Imports decisions: all of them or none. NotFound for a relation or evidence that does not exist."""

    type = "ImportDecisions"

    def apply(
        self, view: DecisionView, metadata: NoData, inputs: ImportInputs, context: StepContext
    ) -> ImportedDecisions:
        context.note("entries", len(inputs.entries))
        return ImportedDecisions(results=import_entries(view, inputs.entries, context.now))


def import_entries(
    view: DecisionView, entries: Sequence[DecisionEntry], created_at: datetime
) -> tuple[EntryResult, ...]:
    """Save what differs from the stored decisions. An entry without a difference makes no new version.

    All decisions are saved before the first relation, so entries may refer to each other in any order.
    NotFound for a relation to a decision that is neither stored nor among the entries.
    """
    roots = [entry.root_id for entry in entries]
    stored = {
        decision.root_id: decision for page in _pages(roots) for decision in view.decisions.active(page)
    }
    saved = [_save(view, entry, stored.get(entry.root_id), created_at) for entry in entries]
    _check_targets(view, entries)
    declared = _outgoing(view.graph, [entry.root_id for entry in entries if entry.relations is not None])
    return tuple(
        _relate(view.relations, entry, result, declared) for entry, result in zip(entries, saved, strict=True)
    )


def export_entries(view: DecisionView, decisions: Sequence[Decision]) -> tuple[DecisionEntry, ...]:
    """These decisions with their outgoing relations, in the order given."""
    declared = _outgoing(view.graph, [decision.root_id for decision in decisions])
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
    view: DecisionView, entry: DecisionEntry, stored: Decision | None, created_at: datetime
) -> EntryResult:
    outcome: Outcome = "added" if stored is None else "changed"
    if stored is not None and content_of(stored) == entry.content:
        return _result(stored, "unchanged")
    if stored is not None and entry.is_named and stored.domain != entry.domain:
        raise InputRefused(
            f"a record without an id would move decision {stored.root_id} to another domain; "
            "rename its folder, or give the record that id",
            at="domain",
        )
    check_evidence(view, entry.evidence_ids)
    saved = view.decisions.append(
        entry.root_id,
        entry.content,
        version_id=uuid4(),
        created_at=created_at,
        expected_version=stored.version if stored else NEW,
    )
    return _result(saved, outcome)


def _check_targets(view: DecisionView, entries: Sequence[DecisionEntry]) -> None:
    targets: dict[UUID, None] = {}
    for entry in entries:
        for relation in entry.relations or ():
            if relation.target == entry.root_id:
                raise InputRefused(f"decision {entry.root_id} has a relation to itself", at="relations")
            targets[relation.target] = None
    for page in _pages(list(targets)):
        check_decisions(view, page)


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
    """The outgoing relations of these decisions, by source, then by type and target."""
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
