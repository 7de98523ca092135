"""Existence checks for ids in a proposal, an anchor or an import.

Run before the guardian's report and again inside the commit, because the target may have been deleted in
between.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from uuid import UUID

from gieok.errors import InputRefused, NotFound
from gieok.memory.decisions.records import Decision, DecisionProposal, Target
from gieok.memory.decisions.store import DecisionView


def check_proposal(view: DecisionView, proposal: DecisionProposal) -> None:
    """NotFound for a relation target or evidence that does not exist; InputRefused for a self-relation."""
    targets = [relation.target for relation in proposal.relations]
    if proposal.root_id in targets:
        raise InputRefused("a decision cannot have a relation to itself", at="relations")
    check_decisions(view, targets)
    check_evidence(view, proposal.evidence_ids)


def check_targets(view: DecisionView, targets: Iterable[Target]) -> None:
    """NotFound for a target of an anchor that does not exist."""
    check_decisions(view, [target.id for target in targets if target.kind == "decision"])
    check_evidence(view, [target.id for target in targets if target.kind == "evidence"])


def check_decisions(view: DecisionView, root_ids: Iterable[UUID]) -> None:
    """NotFound for a decision that does not exist."""
    if wanted := tuple(root_ids):
        _check_found("decision", wanted, view.decisions.existing(wanted))


def check_evidence(view: DecisionView, evidence_ids: Iterable[UUID]) -> None:
    """NotFound for evidence that does not exist."""
    if wanted := tuple(evidence_ids):
        _check_found("evidence", wanted, {card.id for card in view.evidence.cards(wanted)})


def active_version(view: DecisionView, root_id: UUID) -> Decision:
    """The active version of a decision, or NotFound."""
    found = view.decisions.active((root_id,))
    if not found:
        raise NotFound(f"there is no decision {root_id}")
    return found[0]


def _check_found(kind: str, wanted: Iterable[UUID], found: Collection[UUID]) -> None:
    for identity in wanted:
        if identity not in found:
            raise NotFound(f"there is no {kind} {identity}")
