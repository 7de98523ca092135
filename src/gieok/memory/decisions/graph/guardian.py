"""The guardian: reports what constrains a proposal and what it would break. By relations, never by text.

It only reports. It refuses, changes and saves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from gieok.engine import Data
from gieok.memory.decisions.checks import check_decisions, check_proposal
from gieok.memory.decisions.graph.impact import impact_of, proposed_relations, subject_of, with_relations
from gieok.memory.decisions.records import (
    STRENGTHS,
    Decision,
    DecisionProposal,
    Impact,
    PathEdge,
    Relation,
    RelationType,
    Strength,
)
from gieok.memory.decisions.store import DecisionView

FOUNDATION_TYPES: tuple[RelationType, ...] = ("DEPENDS_ON", "REFINES", "IMPLEMENTS")
"""Relations by which a decision rests on its target. What constrains the target constrains it too."""


class Concern(Data):
    """A decision that the report names, and the relations that lead to it."""

    root_id: UUID
    strength: Strength
    statement: str
    path: tuple[PathEdge, ...]


class Objections(Data):
    """Constraints, conflicts and lapsing validations of a proposal. It can be saved nevertheless."""

    constrained_by: tuple[Concern, ...]
    """Stronger decisions that constrain it, or constrain what it rests on."""
    conflicts: tuple[Concern, ...]
    """Decisions with a declared conflict with it."""
    lapsing: tuple[Concern, ...]
    """Validations of the version that it would replace, which would no longer hold."""
    truncated: bool
    """Whether there are more relations than the plan's limit."""


class GuardianReport(Objections):
    """What saving a proposal would affect."""

    impact: Impact
    """The decisions that it reaches."""


def guard(view: DecisionView, proposal: DecisionProposal, *, depth: int, limit: int) -> GuardianReport:
    """The report on a proposal. NotFound for a decision or evidence that does not exist."""
    check_proposal(view, proposal)
    if proposal.root_id is not None:
        check_decisions(view, (proposal.root_id,))
    subject, proposed = subject_of(proposal), proposed_relations(proposal)
    impact = impact_of(subject, with_relations(view.graph.edges, proposed), depth=depth, limit=limit)
    relations, truncated = _relations_around(view, subject, proposed, limit)
    ends = {end for relation in relations for end in (relation.source, relation.target)} - {subject}
    decisions = {decision.root_id: decision for decision in view.decisions.active(sorted(ends))}
    around = _Neighbourhood(subject, proposal.strength, relations, decisions)
    return GuardianReport(
        impact=impact,
        constrained_by=_distinct(_constraints(around)),
        conflicts=_distinct(_conflicts(around)),
        lapsing=_distinct(_lapsing(around)),
        truncated=truncated,
    )


def path_edge(relation: Relation) -> PathEdge:
    """A relation as an edge of a path."""
    return PathEdge(source=relation.source, type=relation.type, target=relation.target)


@dataclass(frozen=True)
class _Neighbourhood:
    """The relations around a subject, and the decisions at their other ends."""

    subject: UUID
    strength: Strength
    """The proposed strength of the subject."""
    relations: tuple[Relation, ...]
    decisions: Mapping[UUID, Decision]


def _relations_around(
    view: DecisionView, subject: UUID, proposed: tuple[Relation, ...], limit: int
) -> tuple[tuple[Relation, ...], bool]:
    """The relations that the guardian looks at, and whether there are more than `limit` of any kind."""
    outgoing = view.graph.declared_from([subject], (*FOUNDATION_TYPES, "CONFLICTS_WITH"), limit + 1)
    incoming = view.graph.declared_to([subject], ("CONSTRAINS", "CONFLICTS_WITH", "VALIDATES"), limit + 1)
    foundations = {
        relation.target: None
        for relation in (*outgoing[:limit], *proposed)
        if relation.source == subject and relation.type in FOUNDATION_TYPES
    }
    indirect = view.graph.declared_to(list(foundations), ("CONSTRAINS",), limit + 1)
    truncated = any(len(found) > limit for found in (outgoing, incoming, indirect))
    return (*outgoing[:limit], *incoming[:limit], *proposed, *indirect[:limit]), truncated


def _constraints(around: _Neighbourhood) -> Iterator[Concern]:
    """Stronger decisions that constrain the subject, then those that constrain what it rests on."""
    paths: dict[UUID, tuple[PathEdge, ...]] = {around.subject: ()}
    for relation in around.relations:
        if relation.source == around.subject and relation.type in FOUNDATION_TYPES:
            paths.setdefault(relation.target, (path_edge(relation),))
    found = [
        (path_edge(relation), *paths[relation.target])
        for relation in around.relations
        if relation.type == "CONSTRAINS" and relation.target in paths
    ]
    for path in sorted(found, key=len):
        by = around.decisions.get(path[0].source)
        if by and STRENGTHS.index(by.strength) < STRENGTHS.index(around.strength):
            yield _concern(by, path)


def _conflicts(around: _Neighbourhood) -> Iterator[Concern]:
    """Decisions with a declared conflict with the subject, whichever side declared it."""
    for relation in around.relations:
        ends = {relation.source, relation.target}
        if relation.type == "CONFLICTS_WITH" and around.subject in ends:
            (other,) = ends - {around.subject}
            if other in around.decisions:
                yield _concern(around.decisions[other], (path_edge(relation),))


def _lapsing(around: _Neighbourhood) -> Iterator[Concern]:
    """Decisions that validate the current version of the subject."""
    for relation in around.relations:
        by = around.decisions.get(relation.source)
        if by and relation.type == "VALIDATES" and relation.target == around.subject:
            yield _concern(by, (path_edge(relation),))


def _distinct(concerns: Iterable[Concern]) -> tuple[Concern, ...]:
    """The first concern of each decision, strongest decisions first."""
    first: dict[UUID, Concern] = {}
    for concern in concerns:
        first.setdefault(concern.root_id, concern)
    return tuple(sorted(first.values(), key=lambda concern: STRENGTHS.index(concern.strength)))


def _concern(decision: Decision, path: tuple[PathEdge, ...]) -> Concern:
    return Concern(
        root_id=decision.root_id, strength=decision.strength, statement=decision.statement, path=path
    )
