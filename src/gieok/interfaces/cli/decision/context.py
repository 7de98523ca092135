"""`gieok decision context`: what applies in a domain, in the loading order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gieok.interfaces.cli.asking import ask
from gieok.interfaces.cli.decision.asking import find, user_option
from gieok.interfaces.cli.decision.drawing import kind
from gieok.interfaces.cli.harmless import one_line
from gieok.interfaces.cli.output import documents, json_option, lang_option, print_json
from gieok.interfaces.cli.wording import Say

if TYPE_CHECKING:
    from uuid import UUID

    from gieok.app import User
    from gieok.memory.decisions.layers import Layer, LayerItem, LoadedContext


@click.command()
@click.argument("domain")
@click.option("--phase", metavar="NAME", help="Given back as it is; it filters nothing.")
@click.option("-q", "--query", metavar="TEXT", help="Add decisions that share words with TEXT, last of all.")
@click.option("--focus", metavar="DECISION", multiple=True, help="Look at the structure around DECISION.")
@click.option("--session", metavar="NAME", help="Follow the anchors of this session only.")
@click.option("--budget", metavar="N", type=click.IntRange(1), help="At most N tokens, cut from the end.")
@click.option("--depth", metavar="N", type=click.IntRange(1), help="Follow at most N relations in a row.")
@user_option
@json_option
@lang_option
def context(  # noqa: PLR0913, PLR0917  click gives each option as an argument
    domain: str,
    phase: str | None,
    query: str | None,
    focus: tuple[str, ...],
    session: str | None,
    budget: int | None,
    depth: int | None,
    owner: str,
    as_json: bool,
    say: Say,
) -> None:
    """What applies in DOMAIN: seven layers, always in the same order."""

    async def read(user: User) -> LoadedContext:
        return await user.decisions.context(
            domain,
            phase=phase,
            q=query,
            session_ref=session,
            roots=[await find(user, owner, name) for name in focus],
            budget=budget,
            depth=depth,
        )

    found = ask(owner, read)
    if as_json:
        print_json(documents([found])[0])
        return
    held = {item.root_id for layer in found.layers for item in layer.items if item.kind == "decision"}
    for layer in found.layers:
        print("\n".join(_lines(layer, held, say)))
    print(say("decision.tokens", tokens=found.tokens))


def _lines(layer: Layer, held: set[UUID], say: Say) -> list[str]:
    lines = [f"{layer.tier} {layer.name}", *(f"  {_item(item, held, say)}" for item in layer.items)]
    if layer.left_out is None:
        lines.append("  " + say("decision.unread"))
    elif layer.left_out:
        lines.append("  " + say("decision.left_out", many=layer.left_out))
    return lines


def _item(item: LayerItem, held: set[UUID], say: Say) -> str:
    match item.kind:
        case "policy":
            return one_line(item.statement)
        case "structural":
            elsewhere = say("decision.below" if item.root_id in held else "decision.beyond")
            words = one_line(item.statement) if item.statement else elsewhere
            path = " ".join(edge.type for edge in item.path)
            return f"{path}  {words}  {item.root_id}"
        case "decision":
            return f"{one_line(item.statement)} ({kind(item)})  {item.root_id}"
        case "evidence":
            return f"{one_line(item.hint)}: {one_line(item.title)}  {item.id}"
