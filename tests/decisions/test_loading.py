"""The loading order: random memories against an obvious reference, and every reordering caught by it."""

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
from gieok.memory.decisions.loading.order import SLICES, Slice, load
from gieok.memory.decisions.records import PathEdge
from gieok.text import count_tokens
from tests.decisions.loading_reference import (
    Memory,
    Offered,
    decision_item,
    evidence_item,
    memories,
    newest_first,
    placed,
    reference,
)

SEARCH = settings(max_examples=2_000, deadline=None, database=None, phases=[Phase.generate])
"""An example is enough; it need not be the smallest."""


def loaded_as_it_must_be(memory: Memory) -> bool:
    layers = load(Offered(memory), budget=memory.budget, normals=memory.normals)
    return placed(layers) == reference(memory)


@pytest.mark.req("DEC-10", "DEC-13", "DEC-7")
@settings(max_examples=200, deadline=None)
@given(memory=memories())
def test_the_order_is_what_the_obvious_reference_says(memory: Memory) -> None:
    layers = load(Offered(memory), budget=memory.budget, normals=memory.normals)
    assert placed(layers) == reference(memory)
    assert [(layer.tier, layer.name) for layer in layers] == list(enumerate(TIERS, start=1))


def swapped(first: int) -> tuple[Slice, ...]:
    """The slices with two neighbours in each other's place."""
    changed = list(SLICES)
    one, other = SLICES[first], SLICES[first + 1]
    changed[first] = Slice(one.tier, other.scope, other.strength)
    changed[first + 1] = Slice(other.tier, one.scope, one.strength)
    return tuple(changed)


@pytest.mark.req("DEC-10")
@pytest.mark.parametrize("first", range(len(SLICES) - 1))
def test_two_tiers_in_each_others_place_are_caught(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The property above is no formality: it fails for each pair of neighbours that is exchanged."""
    monkeypatch.setattr(order, "SLICES", swapped(first))
    find(memories(), lambda memory: not loaded_as_it_must_be(memory), settings=SEARCH)


class StructureBeforePolicy(Offered):
    """Tier 1 and tier 2 exchanged."""

    def policy(self) -> Any:
        return super().structural()

    def structural(self) -> Any:
        return super().policy()


class AxesBeforeStructure(Offered):
    """Tier 2 and tier 3 exchanged."""

    def structural(self) -> Any:
        return list(super().decisions(SLICES[0]))

    def decisions(self, part: Slice) -> Any:
        return iter(super().structural()) if part == SLICES[0] else super().decisions(part)


class AnchorsBeforeNormals(Offered):
    """Tier 6 and tier 7 exchanged."""

    def decisions(self, part: Slice) -> Any:
        return iter(super().anchored()) if part == SLICES[-1] else super().decisions(part)

    def anchored(self) -> Any:
        return list(super().decisions(SLICES[-1]))


@pytest.mark.req("DEC-10")
@pytest.mark.parametrize(
    "exchanged",
    [StructureBeforePolicy, AxesBeforeStructure, AnchorsBeforeNormals],
    ids=["1 and 2", "2 and 3", "6 and 7"],
)
def test_the_tiers_around_the_slices_in_each_others_place_are_caught(
    exchanged: type[Offered],
) -> None:
    """The same for the neighbours that are no slices."""

    def caught(memory: Memory) -> bool:
        layers = load(exchanged(memory), budget=memory.budget, normals=memory.normals)
        return placed(layers) != reference(memory)

    find(memories(), caught, settings=SEARCH)


class ByTime(Offered):
    """Anchors that put the newest first."""

    def anchored(self) -> list[DecisionItem | EvidenceItem]:
        return sorted(super().anchored(), key=newest_first)


@pytest.mark.req("DEC-10", "DEC-13")
def test_anchors_in_an_order_of_their_own_are_caught() -> None:
    """An anchor that let a newer decision precede a stronger one would be noticed."""

    def caught(memory: Memory) -> bool:
        layers = load(ByTime(memory), budget=memory.budget, normals=memory.normals)
        return placed(layers) != reference(memory)

    find(memories(), caught, settings=SEARCH)


@pytest.mark.req("DEC-10")
@settings(deadline=None)
@given(memory=memories())
def test_a_budget_cuts_from_the_end(memory: Memory) -> None:
    """With less room comes the beginning of what comes with more: nothing is skipped, nothing moves up."""
    whole = placed(load(Offered(memory), budget=10_000, normals=memory.normals))
    for budget in (1, 40, memory.budget):
        layers = load(Offered(memory), budget=budget, normals=memory.normals)
        some = placed(layers)
        assert some == whole[: len(some)]
        assert sum(item_tokens(item) for layer in layers for item in layer.items) <= budget


HOSTILE = st.text(st.sampled_from("a 가0[]<|\\\n\u202e漢🙂"), min_size=1, max_size=40)
DOMAINS = st.sampled_from(("w", "창고-관리"))


@st.composite
def said_anyhow(draw: st.DrawFn, memory: Memory) -> Memory:
    """The same memory in words that must be escaped, with everything that a line may hold beside them."""
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
@given(memory=memories().flatmap(said_anyhow), phase=st.none() | HOSTILE, domain=DOMAINS)
def test_a_block_takes_no_more_than_is_claimed_and_allowed(
    memory: Memory, phase: str | None, domain: str
) -> None:
    """Counted as it is written, in both languages: headings, ids, notices and escapes included."""
    frame = frame_tokens(domain, phase)
    layers = load(Offered(memory), budget=memory.budget, normals=memory.normals)
    claimed = block_tokens(domain, phase, layers)
    context = LoadedContext(domain=domain, phase=phase, layers=layers, tokens=claimed, truncated=False)
    rendered = max(count_tokens(render_decisions(context, language)) for language in ("ko", "en"))
    assert rendered <= claimed <= frame + memory.budget
    assert claimed <= frame + sum(item_tokens(item) for layer in layers for item in layer.items)


@pytest.mark.req("DEC-10")
@settings(deadline=None)
@given(memory=memories())
def test_what_was_left_out_is_counted(memory: Memory) -> None:
    """For every tier that was looked into: what it holds and what it left out is all that it has."""
    layers = load(Offered(memory), budget=memory.budget, normals=memory.normals)
    for layer in layers[:2]:
        offered = memory.policy if layer.tier == 1 else memory.structural
        assert layer.left_out is None or len(layer.items) + layer.left_out == len(offered)
    for layer in layers[2:6]:
        parts = [part for part in SLICES if part.tier == layer.tier]
        assert layer.left_out is not None
        assert len(layer.items) + layer.left_out == sum(Offered(memory).count(part) for part in parts)


class Watched(Offered):
    """Tells which of the sources of tier 7 were asked."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self.asked: list[str] = []

    def anchored(self) -> Sequence[DecisionItem | EvidenceItem]:
        self.asked.append("anchors")
        return super().anchored()

    def similar(self, shown: Collection[UUID]) -> Sequence[DecisionItem]:
        self.asked.append("words")
        return super().similar(shown)


@pytest.mark.req("DEC-10", "DEC-11")
@pytest.mark.parametrize(
    ("short_of", "asked", "left_out"), [(0, ["anchors", "words"], 0), (1, ["anchors"], 1), (35, [], None)]
)
def test_words_are_not_looked_at_while_anything_structural_waits(
    short_of: int, asked: list[str], left_out: int | None
) -> None:
    """Neither anchors nor words are asked once the budget has ended before them."""
    decision, evidence = decision_item(1, "global", "axis", 0, words=1), evidence_item(1, 0)
    budget = item_tokens(decision) + item_tokens(evidence) - short_of
    sources = Watched(Memory((), (), (decision,), (evidence,), (), budget=budget, normals=0))
    layers = load(sources, budget=budget, normals=0)
    assert sources.asked == asked
    assert layers[6].left_out == left_out
