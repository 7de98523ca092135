"""The loading order: random memories against a simple reference, which detects any reordering."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from gieok.memory.decisions.loading import order
from gieok.memory.decisions.loading.blocks import block_tokens, frame_tokens, item_tokens, render_decisions
from gieok.memory.decisions.loading.layers import TIERS, DecisionItem, EvidenceItem, LoadedContext
from gieok.memory.decisions.loading.order import SLICES, Slice
from gieok.memory.decisions.records import PathEdge
from gieok.text import count_tokens
from tests.decisions.loading_reference import (
    Memory,
    MemorySources,
    decision_item,
    evidence_item,
    expected_items,
    load_memory,
    loaded_items,
    memories,
    newest_first,
)

SEARCH = settings(max_examples=2_000, deadline=None, database=None, phases=[Phase.generate])
"""One example is enough, so it is not shrunk."""


def matches_reference(memory: Memory) -> bool:
    layers = load_memory(MemorySources(memory), memory)
    return loaded_items(layers) == expected_items(memory)


@pytest.mark.req("DEC-10", "DEC-13", "DEC-7")
@settings(max_examples=200, deadline=None)
@given(memory=memories())
def test_the_order_matches_the_reference(memory: Memory) -> None:
    layers = load_memory(MemorySources(memory), memory)
    assert loaded_items(layers) == expected_items(memory)
    assert [(layer.tier, layer.name) for layer in layers] == list(enumerate(TIERS, start=1))


def swapped(first: int) -> tuple[Slice, ...]:
    """The slices with two neighbours swapped."""
    changed = list(SLICES)
    one, other = SLICES[first], SLICES[first + 1]
    changed[first] = Slice(one.tier, other.scope, other.strength)
    changed[first + 1] = Slice(other.tier, one.scope, one.strength)
    return tuple(changed)


@pytest.mark.req("DEC-10")
@pytest.mark.parametrize("first", range(len(SLICES) - 1))
def test_two_swapped_slices_are_detected(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The property above fails for every swapped pair of neighbours."""
    monkeypatch.setattr(order, "SLICES", swapped(first))
    find(memories(), lambda memory: not matches_reference(memory), settings=SEARCH)


class StructureBeforePolicy(MemorySources):
    """Tiers 1 and 2 swapped."""

    def policy(self) -> Any:
        return super().structural()

    def structural(self) -> Any:
        return super().policy()


class AxesBeforeStructure(MemorySources):
    """Tiers 2 and 3 swapped."""

    def structural(self) -> Any:
        return list(super().decisions(SLICES[0]))

    def decisions(self, part: Slice) -> Any:
        return iter(super().structural()) if part == SLICES[0] else super().decisions(part)


class AnchorsBeforeNormals(MemorySources):
    """Tiers 6 and 7 swapped."""

    def decisions(self, part: Slice) -> Any:
        return iter(super().anchored()) if part == SLICES[-1] else super().decisions(part)

    def anchored(self) -> Any:
        return list(super().decisions(SLICES[-1]))


@pytest.mark.req("DEC-10")
@pytest.mark.parametrize(
    "swapped_sources",
    [StructureBeforePolicy, AxesBeforeStructure, AnchorsBeforeNormals],
    ids=["1 and 2", "2 and 3", "6 and 7"],
)
def test_swapped_tiers_outside_the_slices_are_detected(
    swapped_sources: type[MemorySources],
) -> None:
    """The same for tiers 1, 2 and 7."""

    def differs(memory: Memory) -> bool:
        layers = load_memory(swapped_sources(memory), memory)
        return loaded_items(layers) != expected_items(memory)

    find(memories(), differs, settings=SEARCH)


class AnchorsByTime(MemorySources):
    """Anchors newest first instead of strongest first."""

    def anchored(self) -> list[DecisionItem | EvidenceItem]:
        return sorted(super().anchored(), key=newest_first)


@pytest.mark.req("DEC-10", "DEC-13")
def test_anchors_in_another_order_are_detected() -> None:
    """A newer decision must not come before a stronger one."""

    def differs(memory: Memory) -> bool:
        layers = load_memory(AnchorsByTime(memory), memory)
        return loaded_items(layers) != expected_items(memory)

    find(memories(), differs, settings=SEARCH)


@pytest.mark.req("DEC-10")
@settings(deadline=None)
@given(memory=memories())
def test_a_smaller_budget_cuts_each_tier_from_its_end(memory: Memory) -> None:
    """Each tier is a prefix of what a larger budget loads, and nothing follows a tier that was cut.

    Tier 2 has its own share: cutting it ends neither tier 3 nor any later one.
    """
    whole = load_memory(MemorySources(memory), memory, 10_000)
    for budget in (1, 40, memory.budget):
        layers = load_memory(MemorySources(memory), memory, budget)
        assert sum(item_tokens(item) for layer in layers for item in layer.items) <= budget
        for some, all_ in zip(layers, whole, strict=True):
            assert some.items == all_.items[: len(some.items)]
        order = [layers[tier - 1] for tier in (1, 3, 4, 5, 6, 7)]
        cut = [len(some.items) < len(whole[some.tier - 1].items) for some in order]
        assert not any(later.items for is_cut, later in zip(cut, order[1:], strict=False) if is_cut)


@pytest.mark.req("DEC-10")
@settings(deadline=None)
@given(memory=memories(), structural_tokens=st.integers(0, 10_000))
def test_the_structural_tier_costs_no_axis(memory: Memory, structural_tokens: int) -> None:
    """Policy and axes are the same with any share of tier 2, and without relations at all."""
    with_relations = load_memory(MemorySources(memory), replace(memory, structural_tokens=structural_tokens))
    without = load_memory(MemorySources(replace(memory, structural=())), memory)
    for tier in (1, 3, 4):
        assert with_relations[tier - 1] == without[tier - 1]
    assert sum(item_tokens(item) for item in with_relations[1].items) <= structural_tokens


HOSTILE = st.text(st.sampled_from("a 가0[]<|\\\n\u202e漢🙂"), min_size=1, max_size=40)
DOMAINS = st.sampled_from(("w", "창고-관리"))


@st.composite
def with_hostile_text(draw: st.DrawFn, memory: Memory) -> Memory:
    """The same memory with text that must be escaped, and with every optional part of a line."""
    related = PathEdge(source=UUID(int=7, version=4), type="CONFLICTS_WITH", target=UUID(int=8, version=4))

    def decision(item: DecisionItem) -> DecisionItem:
        words = {name: draw(HOSTILE) for name in ("statement", "rationale", "hint")}
        return item.model_copy(update={**words, "version": draw(st.integers(1, 10**6))})

    return replace(
        memory,
        policy=tuple(item.model_copy(update={"statement": draw(HOSTILE)}) for item in memory.policy),
        structural=tuple(
            item.model_copy(
                update={"path": (related,) * draw(st.integers(1, 4)), "is_affected": draw(st.booleans())}
            )
            for item in memory.structural
        ),
        applying=tuple(map(decision, memory.applying)),
        anchored=tuple(decision(each) for each in memory.anchored if isinstance(each, DecisionItem)),
    )


@pytest.mark.req("DEC-10")
@settings(deadline=None)
@given(memory=memories().flatmap(with_hostile_text), phase=st.none() | HOSTILE, domain=DOMAINS)
def test_a_block_is_within_its_estimate_and_its_budget(
    memory: Memory, phase: str | None, domain: str
) -> None:
    """In both languages, with headings, ids, notices and escapes."""
    frame = frame_tokens(domain, phase)
    layers = load_memory(MemorySources(memory), memory)
    claimed = block_tokens(domain, phase, layers)
    context = LoadedContext(domain=domain, phase=phase, layers=layers, tokens=claimed, truncated=False)
    rendered = max(count_tokens(render_decisions(context, language)) for language in ("ko", "en"))
    assert rendered <= claimed <= frame + memory.budget
    assert claimed <= frame + sum(item_tokens(item) for layer in layers for item in layer.items)


@pytest.mark.req("DEC-10")
@settings(deadline=None)
@given(memory=memories())
def test_left_out_items_are_counted(memory: Memory) -> None:
    """For every tier that was read, loaded and left-out items add up to all of them."""
    layers = load_memory(MemorySources(memory), memory)
    for layer in layers[:2]:
        offered = memory.policy if layer.tier == 1 else memory.structural
        assert layer.left_out is None or len(layer.items) + layer.left_out == len(offered)
    for layer in layers[2:6]:
        parts = [part for part in SLICES if part.tier == layer.tier]
        assert layer.left_out is not None
        assert len(layer.items) + layer.left_out == sum(MemorySources(memory).count(part) for part in parts)


class RecordingSources(MemorySources):
    """Records which sources of tier 7 were read."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self.calls: list[str] = []

    def anchored(self) -> Sequence[DecisionItem | EvidenceItem]:
        self.calls.append("anchors")
        return super().anchored()

    def similar(self, shown: Collection[UUID]) -> Sequence[DecisionItem]:
        self.calls.append("words")
        return super().similar(shown)


@pytest.mark.req("DEC-10", "DEC-11")
@pytest.mark.parametrize(
    ("short_of", "calls", "left_out"), [(0, ["anchors", "words"], 0), (1, ["anchors"], 1), (35, [], None)]
)
def test_text_is_searched_only_after_everything_else_has_fitted(
    short_of: int, calls: list[str], left_out: int | None
) -> None:
    """Neither anchors nor text are read once the budget is used up."""
    decision, evidence = decision_item(1, "global", "axis", 0, words=1), evidence_item(1, 0)
    budget = item_tokens(decision) + item_tokens(evidence) - short_of
    memory = Memory((), (), (decision,), (evidence,), (), budget=budget, structural_tokens=0, normals=0)
    sources = RecordingSources(memory)
    layers = load_memory(sources, memory)
    assert sources.calls == calls
    assert layers[6].left_out == left_out
