"""`gieok decision impact`: what a change affects, as a tree, as Graphviz DOT or as Mermaid."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from gieok.interfaces.cli.decision.read import find_decision, owner_option, strength_and_domain
from gieok.interfaces.cli.options import json_option, lang_option, run_for_user
from gieok.interfaces.cli.output import can_show, model_json, one_line, print_json
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from uuid import UUID

    from gieok.app import User
    from gieok.memory.decisions.records import Decision, Impact, PathEdge


@click.command()
@click.argument("name", metavar="DECISION")
@click.option("--depth", metavar="N", type=click.IntRange(1), help="Follow paths of at most N relations.")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Show at most N decisions.")
@click.option("--dot", "as_dot", is_flag=True, help="Print a graph for Graphviz.")
@click.option("--mermaid", "as_mermaid", is_flag=True, help="Print a graph for Mermaid.")
@owner_option
@json_option
@lang_option
def impact(
    name: str,
    depth: int | None,
    limit: int | None,
    as_dot: bool,
    as_mermaid: bool,
    owner: str,
    as_json: bool,
    t: Translator,
) -> None:
    """Show which decisions a change of DECISION affects.

    Follows the declared relations and shows the shortest path to each decision. In the tree, the arrow stands
    for the parent: `DEPENDS_ON ↑` means that this decision depends on the one above it.
    """
    if (as_dot, as_mermaid, as_json).count(True) > 1:
        raise click.UsageError("choose one of --dot, --mermaid and --json")

    async def read(user: User) -> tuple[Impact, Sequence[Decision]]:
        root = await find_decision(user, owner, name)
        found = await user.decisions.impact(root, depth=depth, limit=limit)
        return found, await user.decisions.active([found.origin, *(node.root_id for node in found.nodes)])

    found, decisions = run_for_user(owner, read)
    if as_json:
        print_json(model_json(found))
        return
    names = labels(decisions)
    if as_dot or as_mermaid:
        print("\n".join(dot(found, names) if as_dot else mermaid(found, names)))
        return
    print("\n".join(tree(found, names, UNICODE if can_show(UNICODE.branch + UNICODE.parent) else ASCII)))
    print(
        t("decision.affected_truncated" if found.truncated else "decision.affected", count=len(found.nodes))
    )


class TreeStyle(NamedTuple):
    """Characters of a tree. `parent` is the arrow to the decision above."""

    branch: str
    last_branch: str
    vertical: str
    parent: str


UNICODE = TreeStyle("├─ ", "└─ ", "│  ", "↑")
ASCII = TreeStyle("|- ", "`- ", "|  ", "^")


def labels(decisions: Sequence[Decision]) -> dict[UUID, str]:
    """Label of each decision: statement, strength and domain on one line."""
    return {each.root_id: f"{one_line(each.statement)} ({strength_and_domain(each)})" for each in decisions}


def tree(impact: Impact, names: Mapping[UUID, str], style: TreeStyle = UNICODE) -> list[str]:
    """Lines of a tree of the shortest paths, with relations such as `DEPENDS_ON ↑` and `↑ CONSTRAINS`."""
    children: dict[UUID, list[tuple[UUID, PathEdge]]] = {}
    for node in impact.nodes:
        edge = node.path[-1]
        parent = edge.target if edge.source == node.root_id else edge.source
        children.setdefault(parent, []).append((node.root_id, edge))

    def below(parent: UUID, indent: str) -> Iterator[str]:
        branches = children.get(parent, [])
        for number, (child, edge) in enumerate(branches, start=1):
            is_last = number == len(branches)
            relation = (
                f"{edge.type} {style.parent}" if edge.source == child else f"{style.parent} {edge.type}"
            )
            branch = style.last_branch if is_last else style.branch
            yield f"{indent}{branch}{relation}  {_label(child, names)}  {child}"
            yield from below(child, indent + (" " * len(style.vertical) if is_last else style.vertical))

    return [f"{_label(impact.origin, names)}  {impact.origin}", *below(impact.origin, "")]


def dot(impact: Impact, names: Mapping[UUID, str]) -> list[str]:
    """Lines of a Graphviz graph. Arrows point from the source to the target of the declared relation."""
    nodes = [f"  {_dot_string(root)} [label={_dot_string(_label(root, names))}];" for root in _roots(impact)]
    edges = [
        f"  {_dot_string(edge.source)} -> {_dot_string(edge.target)} [label={_dot_string(edge.type)}];"
        for edge in _edges(impact)
    ]
    return [
        "digraph impact {",
        "  rankdir=LR;",
        "  node [shape=box];",
        f"  {_dot_string(impact.origin)} [penwidth=2];",
        *nodes,
        *edges,
        "}",
    ]


def mermaid(impact: Impact, names: Mapping[UUID, str]) -> list[str]:
    """Lines of a Mermaid flowchart, which GitHub shows in Markdown."""
    numbers = {root: f"d{number}" for number, root in enumerate(_roots(impact))}
    nodes = [f'  {number}["{_mermaid_string(_label(root, names))}"]' for root, number in numbers.items()]
    edges = [f"  {numbers[edge.source]} -->|{edge.type}| {numbers[edge.target]}" for edge in _edges(impact)]
    return ["flowchart LR", *nodes, *edges, "  style d0 stroke-width:3px"]


def _roots(impact: Impact) -> list[UUID]:
    return [impact.origin, *(node.root_id for node in impact.nodes)]


def _edges(impact: Impact) -> list[PathEdge]:
    return [node.path[-1] for node in impact.nodes]


def _label(root_id: UUID, names: Mapping[UUID, str]) -> str:
    return names.get(root_id, str(root_id))


def _dot_string(text: object) -> str:
    """A quoted DOT string. DOT has the JSON escapes that can occur in a printable line."""
    return json.dumps(str(text), ensure_ascii=False)


def _mermaid_string(text: str) -> str:
    """Escape the characters that have a meaning in Mermaid or HTML."""
    return "".join(char if char not in '"#&<>`\\[]{}|' else f"#{ord(char)};" for char in text)
