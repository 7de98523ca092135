"""A simple reference implementation of the loading order, and a Hypothesis strategy for its input."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from hypothesis import strategies as st

from gieok.memory.decisions.loading.blocks import item_tokens
from gieok.memory.decisions.loading.layers import (
    DecisionItem,
    EvidenceItem,
    Layer,
    LayerItem,
    PolicyItem,
    StructuralItem,
)
from gieok.memory.decisions.loading.order import Slice, load, strongest_first
from gieok.memory.decisions.records import STRENGTHS, PathEdge, Scope, Strength
from gieok.testing.contracts.decisions import START


def load_memory(sources: MemorySources, memory: Memory, budget: int | None = None) -> tuple[Layer, ...]:
    """Load a memory with its own limits, or with another budget."""
    return load(
        sources,
        budget=memory.budget if budget is None else budget,
        structural=memory.structural_tokens,
        normals=memory.normals,
    )


PLACES: dict[tuple[Scope, Strength], tuple[int, int]] = {
    ("global", "axis"): (3, 0),
    ("domain", "axis"): (4, 0),
    ("domain", "lock"): (5, 0),
    ("global", "lock"): (5, 1),
    ("domain", "normal"): (6, 0),
    ("global", "normal"): (6, 1),
}
"""The tier of each kind of decision and its position within the tier, as in seed 004 and ruling 5."""

Items = list[tuple[int, object]]
"""Tier and id of each item, in order."""


@dataclass(frozen=True)
class Memory:
    """Everything that can be loaded for one domain, with the limits of the plan."""

    policy: tuple[PolicyItem, ...]
    structural: tuple[StructuralItem, ...]
    applying: tuple[DecisionItem, ...]
    anchored: tuple[DecisionItem | EvidenceItem, ...]
    similar: tuple[DecisionItem, ...]
    budget: int
    structural_tokens: int
    normals: int


class MemorySources:
    """Implements `order.Sources` with a `Memory`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def policy(self) -> Sequence[PolicyItem]:
        return self._memory.policy

    def structural(self) -> Sequence[StructuralItem]:
        return self._memory.structural

    def decisions(self, part: Slice) -> Iterator[DecisionItem]:
        found = [
            one for one in self._memory.applying if (one.scope, one.strength) == (part.scope, part.strength)
        ]
        return iter(sorted(found, key=newest_first))

    def count(self, part: Slice) -> int:
        return len(list(self.decisions(part)))

    def anchored(self) -> Sequence[DecisionItem | EvidenceItem]:
        return sorted(self._memory.anchored, key=strongest_first)

    def similar(self, shown: Collection[UUID]) -> Sequence[DecisionItem]:
        return [item for item in self._memory.similar if item.root_id not in shown]


def newest_first(item: DecisionItem | EvidenceItem) -> tuple[float, int]:
    return -item.created_at.timestamp(), (item.root_id if isinstance(item, DecisionItem) else item.id).int


def item_id(item: LayerItem) -> object:
    if isinstance(item, PolicyItem):
        return item.statement
    return item.id if isinstance(item, EvidenceItem) else item.root_id


def loaded_items(layers: Iterable[Layer]) -> Items:
    """The loaded items, in order."""
    return [(layer.tier, item_id(item)) for layer in layers for item in layer.items]


def expected_items(memory: Memory) -> Items:
    """The items that must be loaded, in order."""
    order: list[tuple[int, LayerItem]] = [(1, item) for item in memory.policy]
    for (scope, strength), (tier, _) in sorted(PLACES.items(), key=lambda place: place[1]):
        here = [one for one in memory.applying if (one.scope, one.strength) == (scope, strength)]
        here.sort(key=newest_first)
        order += [(tier, one) for one in (here[: memory.normals] if strength == "normal" else here)]
    seen = {item.root_id for _, item in order if isinstance(item, DecisionItem)}
    by_strength: list[DecisionItem | EvidenceItem] = []
    for strength in STRENGTHS:
        reached = [
            one for one in memory.anchored if isinstance(one, DecisionItem) and one.strength == strength
        ]
        by_strength += sorted(reached, key=newest_first)
    by_strength += sorted((one for one in memory.anchored if isinstance(one, EvidenceItem)), key=newest_first)
    for item in (*by_strength, *memory.similar):
        if item_id(item) not in seen:
            seen.add(item.root_id if isinstance(item, DecisionItem) else item.id)
            order.append((7, item))
    loaded = sorted(_loaded(order, memory), key=lambda each: each[0])
    return [(tier, item_id(item)) for tier, item in loaded]


def _loaded(order: Sequence[tuple[int, LayerItem]], memory: Memory) -> Iterator[tuple[int, LayerItem]]:
    """First the policy and the axes, then relations in the rest of the budget, then everything else."""
    first = [each for each in order if each[0] in (1, 3, 4)]
    yield from (taken := list(_within(first, memory.budget)))
    if taken != first:
        return
    left = memory.budget - sum(item_tokens(item) for _, item in taken)
    room = min(left, memory.structural_tokens)
    related: list[tuple[int, LayerItem]] = [(2, item) for item in memory.structural]
    yield from _within(related, room)
    left -= min(room, sum(item_tokens(item) for _, item in related))
    yield from _within([each for each in order if each[0] > 4], left)


def _within(order: Iterable[tuple[int, LayerItem]], budget: int) -> Iterator[tuple[int, LayerItem]]:
    spent = 0
    for tier, item in order:
        spent += item_tokens(item)
        if spent > budget:
            return
        yield tier, item


def decision_item(number: int, scope: Scope, strength: Strength, minute: int, words: int) -> DecisionItem:
    return DecisionItem(
        id=UUID(int=1_000 + number, version=4),
        root_id=UUID(int=number, version=4),
        version=1,
        is_active=True,
        statement="word " * words,
        strength=strength,
        scope=scope,
        domain="wms" if scope == "domain" else None,
        created_at=START + timedelta(minutes=minute),
        through="scope",
    )


def evidence_item(number: int, minute: int) -> EvidenceItem:
    return EvidenceItem(
        id=UUID(int=2_000 + number, version=4),
        sha256="0" * 64,
        title="a source",
        source=None,
        created_at=START + timedelta(minutes=minute),
        anchor_id=UUID(int=1, version=4),
        hint="a hint",
    )


def structural_item(number: int) -> StructuralItem:
    root, focus = UUID(int=number, version=4), UUID(int=99, version=4)
    return StructuralItem(
        root_id=root,
        strength="normal",
        scope="domain",
        domain="ui",
        is_affected=True,
        distance=1,
        path=(PathEdge(source=root, type="DEPENDS_ON", target=focus),),
    )


_MINUTES = st.integers(0, 5)


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    """Decisions of the domain (1 to 20) and of others (21 to 30), with anchors and relations to them."""
    here = draw(st.lists(st.integers(1, 20), unique=True, max_size=12))
    applying = {
        number: decision_item(
            number,
            draw(st.sampled_from(("global", "domain"))),
            draw(st.sampled_from(STRENGTHS)),
            draw(_MINUTES),
            draw(st.integers(1, 40)),
        )
        for number in here
    }
    elsewhere = {
        number: decision_item(number, "domain", draw(st.sampled_from(STRENGTHS)), draw(_MINUTES), 3)
        for number in draw(st.lists(st.integers(21, 30), unique=True, max_size=5))
    }
    known = {**applying, **elsewhere}
    some = st.lists(st.sampled_from(sorted(known)), unique=True, max_size=6) if known else st.just([])
    return Memory(
        policy=tuple(PolicyItem(statement=f"principle {n}") for n in range(draw(st.integers(0, 3)))),
        structural=tuple(map(structural_item, draw(some))),
        applying=tuple(applying.values()),
        anchored=(
            *(known[number] for number in draw(some)),
            *(evidence_item(number, draw(_MINUTES)) for number in range(draw(st.integers(0, 3)))),
        ),
        similar=tuple(known[number] for number in draw(some)),
        budget=draw(st.integers(1, 1_200)),
        structural_tokens=draw(st.integers(0, 300)),
        normals=draw(st.integers(0, 5)),
    )
