"""The loading order: seven tiers, always in this order, whatever they cost. It arranges what is offered.

1 policy          what the plan itself states
2 structural      what a change of the focus reaches, by explicit relations
3 global+axis
4 domain+axis
5 domain+lock     then global locks: a global decision applies to every domain
6 domain+normal   then global normals
7 anchors         what anchors lead to, by strength; after all of that, what shares words with the question

A budget ends the order where it is used up. It never skips an item for a smaller one further on, because that
would let a weaker decision stand in for a stronger one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Protocol, TypeVar
from uuid import UUID

from gieok.memory.decisions.blocks import item_tokens
from gieok.memory.decisions.layers import (
    TIERS,
    DecisionItem,
    EvidenceItem,
    Layer,
    LayerItem,
    PolicyItem,
    StructuralItem,
)
from gieok.memory.decisions.records import STRENGTHS, Scope, Strength

Item = TypeVar("Item", PolicyItem, StructuralItem, DecisionItem, DecisionItem | EvidenceItem)


class Slice(NamedTuple):
    """Decisions of one scope and strength, last changed first."""

    tier: int
    scope: Scope
    strength: Strength


SLICES: tuple[Slice, ...] = (
    Slice(3, "global", "axis"),
    Slice(4, "domain", "axis"),
    Slice(5, "domain", "lock"),
    Slice(5, "global", "lock"),
    Slice(6, "domain", "normal"),
    Slice(6, "global", "normal"),
)
"""What tiers 3 to 6 hold, in order."""


class Sources(Protocol):
    """Where the items come from. Each is asked only when the budget has lasted that far."""

    def policy(self) -> Sequence[PolicyItem]:
        """The principles of the plan, in its order."""
        ...

    def structural(self) -> Sequence[StructuralItem]:
        """What the structure reaches, in the order of `nearest_first`."""
        ...

    def decisions(self, part: Slice) -> Iterator[DecisionItem]:
        """The decisions of a slice, last changed first. Lazy: they are read as they are taken."""
        ...

    def count(self, part: Slice) -> int:
        """How many decisions the slice has. Asked only where some were left out."""
        ...

    def anchored(self) -> Sequence[DecisionItem | EvidenceItem]:
        """What the anchors lead to, in the order of `strongest_first`."""
        ...

    def similar(self, shown: Collection[UUID]) -> Sequence[DecisionItem]:
        """What shares words with the question and is not shown yet, best first.

        Nothing where there is no question.
        """
        ...


def load(sources: Sources, *, budget: int, normals: int) -> tuple[Layer, ...]:
    """The seven layers, whose items fit a budget of tokens.

    Of normal decisions each scope gives at most `normals`. Only the weakest strength has such a bound: it
    leaves room for tier 7 and passes over nothing stronger.
    """
    purse = _Purse(budget)
    policy = _layer(1, purse, sources.policy)
    structural = _layer(2, purse, sources.structural)
    applying = [_applying_layer(tier, purse, sources, normals) for tier in (3, 4, 5, 6)]
    shown = _shown([structural, *applying])
    return policy, structural, *applying, _anchor_layer(purse, sources, shown)


def nearest_first(item: StructuralItem) -> tuple[int, int]:
    """The order of tier 2. Equals keep the order of the walk."""
    return item.distance, STRENGTHS.index(item.strength)


def strongest_first(item: DecisionItem | EvidenceItem) -> tuple[int, float, int]:
    """The order of tier 7: axis, lock, normal, then evidence; in each the newest first."""
    if isinstance(item, DecisionItem):
        return STRENGTHS.index(item.strength), -item.created_at.timestamp(), item.root_id.int
    return len(STRENGTHS), -item.created_at.timestamp(), item.id.int


class _Purse:
    """A budget on its way through the order. Once something did not fit, nothing after it is taken."""

    def __init__(self, tokens: int) -> None:
        self._left = tokens
        self.is_shut = False

    def take(self, items: Iterable[Item]) -> list[Item]:
        """The items from the first on, as far as the budget goes."""
        taken: list[Item] = []
        for item in () if self.is_shut else items:
            cost = item_tokens(item)
            if cost > self._left:
                self.is_shut = True
                break
            self._left -= cost
            taken.append(item)
        return taken


def _layer(tier: int, purse: _Purse, offer: Callable[[], Sequence[Item]]) -> Layer:
    offered = None if purse.is_shut else offer()
    taken = purse.take(offered or ())
    return _named(tier, taken, None if offered is None else len(offered) - len(taken))


def _applying_layer(tier: int, purse: _Purse, sources: Sources, normals: int) -> Layer:
    taken: list[DecisionItem] = []
    left_out = 0
    for part in SLICES:
        if part.tier == tier:
            most = normals if part.strength == "normal" else None
            found = purse.take(islice(sources.decisions(part), most))
            taken += found
            if purse.is_shut or len(found) == most:
                left_out += sources.count(part) - len(found)
    return _named(tier, taken, left_out)


def _anchor_layer(purse: _Purse, sources: Sources, shown: set[UUID]) -> Layer:
    """Anchors first. Words are looked at only when everything that anchors lead to has found its place."""
    if purse.is_shut:
        return _named(7, (), None)
    anchored = [item for item in sources.anchored() if _root(item) not in shown]
    taken = purse.take(anchored)
    left_out = len(anchored) - len(taken)
    if not purse.is_shut:
        shown |= {item.root_id for item in taken if isinstance(item, DecisionItem)}
        similar = sources.similar(shown)
        found = purse.take(similar)
        return _named(7, [*taken, *found], left_out + len(similar) - len(found))
    return _named(7, taken, left_out)


def _named(tier: int, items: Iterable[LayerItem], left_out: int | None) -> Layer:
    return Layer(tier=tier, name=TIERS[tier - 1], items=tuple(items), left_out=left_out)


def _root(item: LayerItem) -> UUID | None:
    return item.root_id if isinstance(item, StructuralItem | DecisionItem) else None


def _shown(layers: Iterable[Layer]) -> set[UUID]:
    """The decisions whose words stand in these layers."""
    return {
        item.root_id
        for layer in layers
        for item in layer.items
        if isinstance(item, DecisionItem) or (isinstance(item, StructuralItem) and item.statement)
    }
