"""That what is named exists: asked of the stores, before a proposal and again inside the commit."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from uuid import UUID

from gieok.errors import InputRefused, NotFound
from gieok.memory.decisions.evidence import Target
from gieok.memory.decisions.records import Decision, DecisionProposal
from gieok.memory.decisions.store import DecisionRooms


def check_proposal(rooms: DecisionRooms, proposal: DecisionProposal) -> None:
    """NotFound for a relation or evidence that leads nowhere; InputRefused for a relation to itself."""
    targets = [relation.target for relation in proposal.relations]
    if proposal.root_id in targets:
        raise InputRefused("a decision has no relation to itself", at="relations")
    check_decisions(rooms, targets)
    check_evidence(rooms, proposal.evidence_ids)


def check_targets(rooms: DecisionRooms, targets: Iterable[Target]) -> None:
    """NotFound for a target that does not exist."""
    check_decisions(rooms, [target.id for target in targets if target.kind == "decision"])
    check_evidence(rooms, [target.id for target in targets if target.kind == "evidence"])


def check_decisions(rooms: DecisionRooms, root_ids: Iterable[UUID]) -> None:
    """NotFound for a decision that does not exist."""
    if wanted := tuple(root_ids):
        _refuse("decision", wanted, rooms.decisions.existing(wanted))


def check_evidence(rooms: DecisionRooms, evidence_ids: Iterable[UUID]) -> None:
    """NotFound for evidence that does not exist."""
    if wanted := tuple(evidence_ids):
        _refuse("evidence", wanted, {card.id for card in rooms.evidence.cards(wanted)})


def active_version(rooms: DecisionRooms, root_id: UUID) -> Decision:
    """The active version of a decision, or NotFound."""
    found = rooms.decisions.active((root_id,))
    if not found:
        raise NotFound(f"there is no decision {root_id}")
    return found[0]


def _refuse(what: str, wanted: Iterable[UUID], found: Collection[UUID]) -> None:
    for identity in wanted:
        if identity not in found:
            raise NotFound(f"there is no {what} {identity}")
