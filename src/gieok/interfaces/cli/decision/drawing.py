"""Impact as a picture: a tree for a terminal, Graphviz DOT, and Mermaid. Pure functions over records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gieok.interfaces.cli.harmless import one_line

if TYPE_CHECKING:
    from uuid import UUID

    from gieok.memory.decisions.records import Decision, Impact, PathEdge


class Strokes(NamedTuple):
    """What a tree is drawn with. `above` stands for the decision that a branch hangs from."""

    branch: str
    last: str
    beside: str
    above: str


LINES = Strokes("├─ ", "└─ ", "│  ", "↑")
ASCII = Strokes("|- ", "`- ", "|  ", "^")


class Branch(NamedTuple):
    """A decision that a change reaches from the one above it, because of a relation."""

    root_id: UUID
    edge: PathEdge


def labels(decisions: Sequence[Decision]) -> dict[UUID, str]:
    """What each decision is called in a picture: one line."""
    return {each.root_id: f"{one_line(each.statement)} ({kind(each)})" for each in decisions}


def kind(decision: Decision) -> str:
    """How strong a decision is and where it applies."""
    return f"{decision.strength}, {decision.domain or decision.scope}"


def tree(impact: Impact, names: Mapping[UUID, str], strokes: Strokes = LINES) -> list[str]:
    """The shortest paths as a tree. `↑` is what a line hangs from, as in `DEPENDS_ON ↑` or `↑ CONSTRAINS`."""
    below = _branches(impact)

    def hang(parent: UUID, indent: str) -> Iterator[str]:
        branches = below.get(parent, [])
        for branch in branches:
            is_last = branch is branches[-1]
            mark = strokes.last if is_last else strokes.branch
            reason = _because(branch, strokes)
            yield f"{indent}{mark}{reason}  {_name(branch.root_id, names)}  {branch.root_id}"
            deeper = " " * len(strokes.beside) if is_last else strokes.beside
            yield from hang(branch.root_id, indent + deeper)

    return [f"{_name(impact.origin, names)}  {impact.origin}", *hang(impact.origin, "")]


def dot(impact: Impact, names: Mapping[UUID, str]) -> list[str]:
    """The same in the language of Graphviz. An arrow points as its relation was declared."""
    nodes = [f"  {_dot_text(root)} [label={_dot_text(_name(root, names))}];" for root in _nodes(impact)]
    edges = [
        f"  {_dot_text(edge.source)} -> {_dot_text(edge.target)} [label={_dot_text(edge.type)}];"
        for edge in _edges(impact)
    ]
    return [
        "digraph impact {",
        "  rankdir=LR;",
        "  node [shape=box];",
        f"  {_dot_text(impact.origin)} [penwidth=2];",
        *nodes,
        *edges,
        "}",
    ]


def mermaid(impact: Impact, names: Mapping[UUID, str]) -> list[str]:
    """The same in the language of Mermaid, which GitHub and others show in Markdown."""
    numbers = {root: f"d{number}" for number, root in enumerate(_nodes(impact))}
    nodes = [f'  {number}["{_mermaid_text(_name(root, names))}"]' for root, number in numbers.items()]
    edges = [f"  {numbers[edge.source]} -->|{edge.type}| {numbers[edge.target]}" for edge in _edges(impact)]
    return ["flowchart LR", *nodes, *edges, "  style d0 stroke-width:3px"]


def _branches(impact: Impact) -> dict[UUID, list[Branch]]:
    """What hangs from each decision, in the order of the report."""
    below: dict[UUID, list[Branch]] = {}
    for node in impact.nodes:
        edge = node.path[-1]
        parent = edge.target if edge.source == node.root_id else edge.source
        below.setdefault(parent, []).append(Branch(node.root_id, edge))
    return below


def _because(branch: Branch, strokes: Strokes) -> str:
    is_source = branch.edge.source == branch.root_id
    return f"{branch.edge.type} {strokes.above}" if is_source else f"{strokes.above} {branch.edge.type}"


def _nodes(impact: Impact) -> list[UUID]:
    return [impact.origin, *(node.root_id for node in impact.nodes)]


def _edges(impact: Impact) -> list[PathEdge]:
    return [node.path[-1] for node in impact.nodes]


def _name(root_id: UUID, names: Mapping[UUID, str]) -> str:
    return names.get(root_id, str(root_id))


def _dot_text(text: object) -> str:
    """A quoted string of DOT, which knows the escapes of JSON that can come up here."""
    return json.dumps(str(text), ensure_ascii=False)


def _mermaid_text(text: str) -> str:
    """Characters that mean something to Mermaid, or to the HTML it makes, by their numbers."""
    return "".join(char if char not in '"#&<>`\\[]{}|' else f"#{ord(char)};" for char in text)
