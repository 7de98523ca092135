"""The loading order: seven tiers, always in this order, within a token budget.

1 policy          the principles of the plan, then those of the owner
2 structural      ids of decisions related to the focus: those that its change reaches, those that it rests on
3 global+axis
4 domain+axis
5 domain+lock     then global locks: a global decision applies to every domain
6 domain+normal   then global normals
7 anchors         targets of anchors by strength, then decisions that share words with the question

Loading stops at the first item that does not fit the budget. It never skips an item for a smaller one further
on, because that would let a weaker decision replace a stronger one.

Tier 2 has a share of the budget, and gets no more than tiers 3 and 4 leave: relations never cost an axis. A
larger budget never removes an item.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Protocol, TypeVar
from uuid import UUID

from gieok.memory.decisions.loading.blocks import item_tokens
from gieok.memory.decisions.loading.layers import (
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
"""The contents of tiers 3 to 6, in order."""


class Sources(Protocol):
    """Where the items come from. Each method is called only while there is budget left."""

    def policy(self) -> Sequence[PolicyItem]:
        """The principles of the plan, then those of the owner, in their order."""
        ...

    def structural(self) -> Sequence[StructuralItem]:
        """The structural items, in the order of `nearest_first`."""
        ...

    def decisions(self, part: Slice) -> Iterator[DecisionItem]:
        """The decisions of a slice, last changed first. Lazy."""
        ...

    def count(self, part: Slice) -> int:
        """How many decisions the slice has. Called only where some were left out."""
        ...

    def anchored(self) -> Sequence[DecisionItem | EvidenceItem]:
        """The targets of the anchors, in the order of `strongest_first`."""
        ...

    def similar(self, shown: Collection[UUID]) -> Sequence[DecisionItem]:
        """Decisions that share words with the question and are not shown yet, best first.

        Empty without a question.
        """
        ...


def load(sources: Sources, *, budget: int, structural: int, normals: int) -> tuple[Layer, ...]:
    """The seven layers, whose items fit a budget of tokens.

    Tier 2 gets at most `structural` of these tokens. Each scope gives at most `normals` normal decisions:
    that leaves room for tier 7 and skips nothing stronger.
    """
    tokens = _TokenBudget(budget)
    policy = _policy_layer(tokens, sources)
    axes = [_applying_layer(tier, tokens, sources, normals) for tier in (3, 4)]
    related = _structural_layer(tokens, sources, structural)
    others = [_applying_layer(tier, tokens, sources, normals) for tier in (5, 6)]
    anchors = _anchor_layer(tokens, sources, _shown([*axes, *others]))
    return policy, related, *axes, *others, anchors


def nearest_first(item: StructuralItem) -> tuple[int, int]:
    """The sort key of tier 2. Equal items keep the order of the walk."""
    return item.distance, STRENGTHS.index(item.strength)


def strongest_first(item: DecisionItem | EvidenceItem) -> tuple[int, float, int]:
    """The sort key of tier 7: axis, lock, normal, then evidence; the newest first in each."""
    if isinstance(item, DecisionItem):
        return STRENGTHS.index(item.strength), -item.created_at.timestamp(), item.root_id.int
    return len(STRENGTHS), -item.created_at.timestamp(), item.id.int


class _TokenBudget:
    """The tokens that are left. After the first item that does not fit, nothing more is taken."""

    def __init__(self, tokens: int) -> None:
        self._left = tokens
        self.is_exhausted = False

    def reserve(self, tokens: int) -> _TokenBudget:
        """A budget of its own for at most so many of the tokens that are left."""
        part = _TokenBudget(min(tokens, self._left))
        self._left -= part._left
        return part

    def give_back(self, part: _TokenBudget) -> None:
        """Add what a part did not need. A part that was too small for its items gives nothing back."""
        if not part.is_exhausted:
            self._left += part._left

    def take(self, items: Iterable[Item]) -> list[Item]:
        """The first items, as many as fit."""
        taken: list[Item] = []
        for item in () if self.is_exhausted else items:
            cost = item_tokens(item)
            if cost > self._left:
                self.is_exhausted = True
                break
            self._left -= cost
            taken.append(item)
        return taken


def _policy_layer(tokens: _TokenBudget, sources: Sources) -> Layer:
    offered = sources.policy()
    taken = tokens.take(offered)
    return _named(1, taken, len(offered) - len(taken))


def _structural_layer(tokens: _TokenBudget, sources: Sources, most: int) -> Layer:
    if tokens.is_exhausted:
        return _named(2, (), None)
    offered, part = sources.structural(), tokens.reserve(most)
    taken = part.take(offered)
    tokens.give_back(part)
    return _named(2, taken, len(offered) - len(taken))


def _applying_layer(tier: int, tokens: _TokenBudget, sources: Sources, normals: int) -> Layer:
    taken: list[DecisionItem] = []
    left_out = 0
    for part in SLICES:
        if part.tier == tier:
            most = normals if part.strength == "normal" else None
            found = tokens.take(islice(sources.decisions(part), most))
            taken += found
            if tokens.is_exhausted or len(found) == most:
                left_out += sources.count(part) - len(found)
    return _named(tier, taken, left_out)


def _anchor_layer(tokens: _TokenBudget, sources: Sources, shown: set[UUID]) -> Layer:
    """Anchors first. The text search runs only if all of their targets have fitted."""
    if tokens.is_exhausted:
        return _named(7, (), None)
    anchored = [
        item for item in sources.anchored() if not (isinstance(item, DecisionItem) and item.root_id in shown)
    ]
    taken = tokens.take(anchored)
    left_out = len(anchored) - len(taken)
    if not tokens.is_exhausted:
        shown |= {item.root_id for item in taken if isinstance(item, DecisionItem)}
        similar = sources.similar(shown)
        found = tokens.take(similar)
        return _named(7, [*taken, *found], left_out + len(similar) - len(found))
    return _named(7, taken, left_out)


def _named(tier: int, items: Iterable[LayerItem], left_out: int | None) -> Layer:
    return Layer(tier=tier, name=TIERS[tier - 1], items=tuple(items), left_out=left_out)


def _shown(layers: Iterable[Layer]) -> set[UUID]:
    """The decisions whose statements are in these layers."""
    return {item.root_id for layer in layers for item in layer.items if isinstance(item, DecisionItem)}
