"""`gieok decision impact`: what a change of a decision would reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gieok.interfaces.cli.asking import ask
from gieok.interfaces.cli.decision.asking import find, user_option
from gieok.interfaces.cli.decision.drawing import ASCII, LINES, dot, labels, mermaid, tree
from gieok.interfaces.cli.output import can_show, documents, json_option, lang_option, print_json
from gieok.interfaces.cli.wording import Say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gieok.app import User
    from gieok.memory.decisions.records import Decision, Impact


@click.command()
@click.argument("name", metavar="DECISION")
@click.option("--depth", metavar="N", type=click.IntRange(1), help="Follow at most N relations in a row.")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Show at most N decisions.")
@click.option("--dot", "as_dot", is_flag=True, help="Print a picture for Graphviz.")
@click.option("--mermaid", "as_mermaid", is_flag=True, help="Print a picture for Mermaid.")
@user_option
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
    say: Say,
) -> None:
    """What a change of DECISION reaches by declared relations.

    Each decision is shown with its shortest path. In the tree, an arrow stands for the decision that a line
    hangs from.
    """
    if (as_dot, as_mermaid, as_json).count(True) > 1:
        raise click.UsageError("choose one of --dot, --mermaid and --json")

    async def read(user: User) -> tuple[Impact, Sequence[Decision]]:
        found = await user.decisions.impact(await find(user, owner, name), depth=depth, limit=limit)
        return found, await user.decisions.active([found.origin, *(node.root_id for node in found.nodes)])

    found, decisions = ask(owner, read)
    if as_json:
        print_json(documents([found])[0])
        return
    names = labels(decisions)
    if as_dot or as_mermaid:
        print("\n".join(dot(found, names) if as_dot else mermaid(found, names)))
        return
    print("\n".join(tree(found, names, LINES if can_show(LINES.branch + LINES.above) else ASCII)))
    print(say("decision.cut" if found.truncated else "decision.reached", many=len(found.nodes)))
