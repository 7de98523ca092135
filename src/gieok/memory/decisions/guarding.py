"""Reading what the guardian reports on, inside one transaction."""

from __future__ import annotations

from uuid import UUID

from gieok.memory.decisions.graph import ReadingRooms
from gieok.memory.decisions.guardian import (
    STANDS_ON,
    GuardianReport,
    Surroundings,
    foundations,
    report,
)
from gieok.memory.decisions.impact import impact_of, proposed_relations, subject_of, with_relations
from gieok.memory.decisions.known import check_decisions, check_proposal
from gieok.memory.decisions.records import DecisionProposal, Relation


def guard(rooms: ReadingRooms, proposal: DecisionProposal, *, depth: int, limit: int) -> GuardianReport:
    """The report on a proposal. NotFound where it names a decision that there is not."""
    check_proposal(rooms, proposal)
    if proposal.root_id is not None:
        check_decisions(rooms, (proposal.root_id,))
    subject, proposed = subject_of(proposal), proposed_relations(proposal)
    impact = impact_of(subject, with_relations(rooms.graph.edges, proposed), depth=depth, limit=limit)
    declared, truncated = _relations_around(rooms, subject, proposed, limit)
    ends = {end for relation in declared for end in (relation.source, relation.target)} - {subject}
    decisions = {decision.root_id: decision for decision in rooms.decisions.active(sorted(ends))}
    around = Surroundings(subject, proposal.strength, declared, decisions)
    return report(impact, around, truncated=truncated)


def _relations_around(
    rooms: ReadingRooms, subject: UUID, proposed: tuple[Relation, ...], limit: int
) -> tuple[tuple[Relation, ...], bool]:
    """The relations that the guardian looks at, and whether there were more than it may read."""
    own = rooms.graph.declared_from([subject], (*STANDS_ON, "CONFLICTS_WITH"), limit + 1)
    into = rooms.graph.declared_to([subject], ("CONSTRAINS", "CONFLICTS_WITH", "VALIDATES"), limit + 1)
    below = foundations(subject, [*own[:limit], *proposed])
    upon = rooms.graph.declared_to(below, ("CONSTRAINS",), limit + 1)
    truncated = any(len(found) > limit for found in (own, into, upon))
    return (*own[:limit], *into[:limit], *proposed, *upon[:limit]), truncated
