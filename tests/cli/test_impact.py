"""Impact as a tree, as DOT and as Mermaid."""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.interfaces.cli.decision.impact import ASCII, dot, mermaid, tree
from gieok.interfaces.cli.output import one_line
from gieok.memory.decisions.records import Impact, ImpactNode, PathEdge, RelationType


def root(number: int) -> UUID:
    return UUID(int=number << 96)


def edge(source: int, type_: RelationType, target: int) -> PathEdge:
    return PathEdge(source=root(source), type=type_, target=root(target))


def node(number: int, *path: PathEdge) -> ImpactNode:
    return ImpactNode(root_id=root(number), distance=len(path), path=path)


DEPENDS, CONSTRAINS, REFINES = edge(2, "DEPENDS_ON", 1), edge(1, "CONSTRAINS", 3), edge(4, "REFINES", 2)
IMPACT = Impact(
    origin=root(1),
    nodes=(node(2, DEPENDS), node(3, CONSTRAINS), node(4, DEPENDS, REFINES)),
    truncated=False,
    visited=4,
)
NAMES = {root(1): "하나의 저장소", root(2): "둘", root(3): "셋", root(4): "넷"}


@pytest.mark.req("DEC-8")
def test_each_decision_of_the_tree_is_below_the_one_that_affects_it() -> None:
    assert tree(IMPACT, NAMES) == [
        f"하나의 저장소  {root(1)}",
        f"├─ DEPENDS_ON ↑  둘  {root(2)}",
        f"│  └─ REFINES ↑  넷  {root(4)}",
        f"└─ ↑ CONSTRAINS  셋  {root(3)}",
    ]


def test_an_ascii_tree_for_an_ascii_terminal() -> None:
    assert all(line.isascii() for line in tree(IMPACT, {}, ASCII))


def test_dot_has_all_decisions_and_relations() -> None:
    lines = dot(IMPACT, NAMES)
    assert (lines[0], lines[-1]) == ("digraph impact {", "}")
    assert f'  "{root(2)}" [label="둘"];' in lines
    assert f'  "{root(2)}" -> "{root(1)}" [label="DEPENDS_ON"];' in lines
    assert f'  "{root(1)}" -> "{root(3)}" [label="CONSTRAINS"];' in lines


def test_mermaid_has_all_decisions_and_relations() -> None:
    lines = mermaid(IMPACT, NAMES)
    assert lines[0] == "flowchart LR"
    assert '  d0["하나의 저장소"]' in lines
    assert "  d1 -->|DEPENDS_ON| d0" in lines
    assert "  d0 -->|CONSTRAINS| d2" in lines


def test_a_decision_without_impact_is_a_single_node() -> None:
    alone = Impact(origin=root(1), nodes=(), truncated=False, visited=1)
    assert tree(alone, NAMES) == [f"하나의 저장소  {root(1)}"]
    assert dot(alone, NAMES)[-1] == "}"
    assert mermaid(alone, NAMES)[1] == '  d0["하나의 저장소"]'


@given(st.text())
def test_statements_are_escaped(statement: str) -> None:
    """Quotes, brackets, line ends and escape sequences stay inside the label."""
    alone = Impact(origin=root(1), nodes=(), truncated=False, visited=1)
    names = {root(1): one_line(statement)}
    assert tree(alone, names)[0].isprintable()
    assert re.fullmatch(r'  "[^"]*" \[label="(?:[^"\\]|\\.)*"\];', dot(alone, names)[4])
    assert re.fullmatch(r'  d0\["[^"\[\]<>`]*"\]', mermaid(alone, names)[1])
