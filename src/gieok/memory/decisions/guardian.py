"""The guardian: what stands in the way of a proposal, and what it would break. By relations, never by text.

It reports. Nothing in it refuses, changes or saves anything: what follows is for whoever reads the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from gieok.engine import Data
from gieok.memory.decisions.records import (
    STRENGTHS,
    Decision,
    Impact,
    PathEdge,
    Relation,
    RelationType,
    Strength,
)

STANDS_ON: tuple[RelationType, ...] = ("DEPENDS_ON", "REFINES", "IMPLEMENTS")
"""By these a decision rests on its target, so that what constrains the target constrains it too."""


class Concern(Data):
    """Another decision that a proposal has to do with, and the relations that say so."""

    root_id: UUID
    strength: Strength
    statement: str
    path: tuple[PathEdge, ...]


class Objections(Data):
    """Related decisions that speak against a proposal. They do not prevent it from being saved."""

    constrained_by: tuple[Concern, ...]
    """Stronger decisions that constrain it, or constrain what it stands on."""
    conflicts: tuple[Concern, ...]
    """Decisions that are declared to conflict with it."""
    lapsing: tuple[Concern, ...]
    """Decisions that validate the version which it would replace."""
    truncated: bool
    """Whether there were more relations than the plan lets the guardian read."""


class GuardianReport(Objections):
    """What would happen if a proposal were saved."""

    impact: Impact
    """The decisions that it affects."""


def is_stronger(one: Strength, other: Strength) -> bool:
    """Whether `one` outranks `other`."""
    return STRENGTHS.index(one) < STRENGTHS.index(other)


def foundations(subject: UUID, relations: Iterable[Relation]) -> tuple[UUID, ...]:
    """What the subject stands on, each once, in the order of the relations."""
    targets = (
        relation.target for relation in relations if relation.source == subject and relation.type in STANDS_ON
    )
    return tuple(dict.fromkeys(targets))


@dataclass(frozen=True)
class Surroundings:
    """The relations around a subject, and the decisions at their other ends."""

    subject: UUID
    strength: Strength
    """The strength that the subject would have."""
    relations: tuple[Relation, ...]
    decisions: Mapping[UUID, Decision]


def constraints(around: Surroundings) -> Iterator[Concern]:
    """Stronger decisions that constrain the subject, and then those that constrain what it stands on."""
    standing: dict[UUID, tuple[PathEdge, ...]] = {around.subject: ()}
    for relation in around.relations:
        if relation.source == around.subject and relation.type in STANDS_ON:
            standing.setdefault(relation.target, (declared(relation),))
    found = [
        (declared(relation), *standing[relation.target])
        for relation in around.relations
        if relation.type == "CONSTRAINS" and relation.target in standing
    ]
    for path in sorted(found, key=len):
        by = around.decisions.get(path[0].source)
        if by and is_stronger(by.strength, around.strength):
            yield _concern(by, path)


def conflicts(around: Surroundings) -> Iterator[Concern]:
    """Decisions that are declared to conflict with the subject, whichever side declared it."""
    for relation in around.relations:
        ends = {relation.source, relation.target}
        if relation.type == "CONFLICTS_WITH" and around.subject in ends:
            (other,) = ends - {around.subject}
            if other in around.decisions:
                yield _concern(around.decisions[other], (declared(relation),))


def lapsing(around: Surroundings) -> Iterator[Concern]:
    """Decisions that validate the subject: what they proved was proved of its present version."""
    for relation in around.relations:
        by = around.decisions.get(relation.source)
        if by and relation.type == "VALIDATES" and relation.target == around.subject:
            yield _concern(by, (declared(relation),))


def report(impact: Impact, around: Surroundings, *, truncated: bool) -> GuardianReport:
    """Everything at once. A decision that concerns the subject in one way is named once for it."""
    return GuardianReport(
        impact=impact,
        constrained_by=_each_once(constraints(around)),
        conflicts=_each_once(conflicts(around)),
        lapsing=_each_once(lapsing(around)),
        truncated=truncated,
    )


def _each_once(concerns: Iterable[Concern]) -> tuple[Concern, ...]:
    """The first concern of each decision, the strongest decisions first."""
    first: dict[UUID, Concern] = {}
    for concern in concerns:
        first.setdefault(concern.root_id, concern)
    return tuple(sorted(first.values(), key=lambda concern: STRENGTHS.index(concern.strength)))


def declared(relation: Relation) -> PathEdge:
    """A relation as an edge of a path."""
    return PathEdge(source=relation.source, type=relation.type, target=relation.target)


def _concern(decision: Decision, path: tuple[PathEdge, ...]) -> Concern:
    return Concern(
        root_id=decision.root_id, strength=decision.strength, statement=decision.statement, path=path
    )
