"""The deep walk from a session's anchors, done in the background: what it found, to be read later.

A walk keeps where things are and not what they say: whoever reads it gets the versions that are active then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from gieok.engine import Data
from gieok.memory.decisions.evidence import Lead, Target
from gieok.memory.decisions.exploring import as_item, evidence_item
from gieok.memory.decisions.graph import ReadingRooms
from gieok.memory.decisions.layers import DecisionItem, EvidenceItem
from gieok.memory.decisions.loading import strongest_first
from gieok.memory.fields import Timestamp


class Reached(Data):
    """One thing that a walk came to, and the anchor that led there."""

    target: Target
    lead: Lead


class Walk(Data):
    """Everything that a walk came to, under the id of its job."""

    id: UUID
    reached: tuple[Reached, ...]
    truncated: bool
    """Whether the plan's bounds cut it off."""
    created_at: Timestamp


class Exploration(Data):
    """A walk as it reads now: active versions, in the order of tier 7."""

    items: tuple[DecisionItem | EvidenceItem, ...]
    truncated: bool
    walked_at: Timestamp


class WalkStore(Protocol):
    """The walks of one owner."""

    def save(self, walk: Walk) -> None:
        """Keep a walk; the same job's earlier one is replaced."""
        ...

    def get(self, walk_id: UUID) -> Walk | None:
        """The walk, or None."""
        ...

    def forget(self, before: datetime) -> int:
        """Remove walks that are older; returns how many."""
        ...


class WalkRooms(ReadingRooms, Protocol):
    """Decision memory, and the walks through it."""

    @property
    def walks(self) -> WalkStore: ...


def reached(items: Iterable[DecisionItem | EvidenceItem]) -> tuple[Reached, ...]:
    """Where these items are."""
    return tuple(_reached(item) for item in items)


def read_walk(rooms: ReadingRooms, walk: Walk) -> Exploration:
    """What a walk came to, as it is now. What is not there any more is left out."""
    decisions = _leads(walk, "decision")
    evidence = _leads(walk, "evidence")
    items: Sequence[DecisionItem | EvidenceItem] = [
        *(as_item(each, "anchor", decisions[each.root_id]) for each in rooms.decisions.active([*decisions])),
        *(evidence_item(card, evidence[card.id]) for card in rooms.evidence.cards([*evidence])),
    ]
    return Exploration(
        items=tuple(sorted(items, key=strongest_first)), truncated=walk.truncated, walked_at=walk.created_at
    )


def _reached(item: DecisionItem | EvidenceItem) -> Reached:
    if item.anchor_id is None or item.hint is None:
        raise ValueError("a walk only holds what an anchor led to")
    identity = item.root_id if item.kind == "decision" else item.id
    return Reached(target=Target(kind=item.kind, id=identity), lead=Lead(id=item.anchor_id, hint=item.hint))


def _leads(walk: Walk, kind: str) -> dict[UUID, Lead]:
    return {each.target.id: each.lead for each in walk.reached if each.target.kind == kind}
