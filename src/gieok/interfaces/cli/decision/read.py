"""`gieok decision list`, `show`, `history` and `context`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from gieok.errors import InputRefused, NotFound
from gieok.interfaces.cli.options import json_option, lang_option, run_for_user, user_option
from gieok.interfaces.cli.output import (
    model_json,
    one_line,
    print_fields,
    print_json,
    print_table,
    printable_lines,
)
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from gieok.app import User
    from gieok.memory.decisions.loading.layers import Layer, LayerItem, LoadedContext
    from gieok.memory.decisions.records import Decision, DecisionPage, Relation, Scope, Strength

STRENGTHS = ("axis", "lock", "normal")
"""The same values as in the records, which are too slow to import for `--help`. A test compares them."""
MAX_PAGE = 1_000
"""Decisions per page of a list, and versions read at a time."""

owner_option = user_option("User whose decisions are used.")


async def find_decision(user: User, owner: str, name: str) -> UUID:
    """Root id of the decision with this id, name or `folder:name`. Raises NotFound."""
    from gieok.interfaces.markdown.folder import root_id

    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputRefused("is not valid text; use the id or the imported name", at="DECISION") from None
    folder, colon, rest = name.partition(":")
    roots = [root_id(owner, name)] + ([root_id(owner, rest, folder)] if colon else [])
    found = await user.decisions.active(roots)
    if not found:
        raise NotFound(f"there is no decision '{name}'; use its id or its imported name")
    return found[0].root_id


def strength_and_domain(decision: Decision) -> str:
    """Strength and domain of a decision, such as `lock, wms`; for a global one `lock, global`."""
    return f"{decision.strength}, {decision.domain or decision.scope}"


@click.command("list")
@click.option("--domain", metavar="NAME", help="Only decisions of this domain.")
@click.option(
    "--scope",
    type=click.Choice(["global", "domain"]),
    help="Only global decisions, or only those of domains.",
)
@click.option("--strength", type=click.Choice(STRENGTHS), help="Only decisions of this strength.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, MAX_PAGE), default=100, help="At most N decisions."
)
@click.option("--cursor", metavar="TEXT", help="Start at the cursor that the previous page printed.")
@owner_option
@json_option
@lang_option
def list_decisions(
    domain: str | None,
    scope: str | None,
    strength: str | None,
    limit: int,
    cursor: str | None,
    owner: str,
    as_json: bool,
    t: Translator,
) -> None:
    """List active decisions by strength, then newest change first."""

    async def read(user: User) -> DecisionPage:
        return await user.decisions.list(
            domain=domain,
            scope=cast("Scope | None", scope),
            strength=cast("Strength | None", strength),
            limit=limit,
            cursor=cursor,
        )

    page = run_for_user(owner, read)
    if as_json:
        print_json(
            {"decisions": [model_json(each) for each in page.decisions], "nextCursor": page.next_cursor}
        )
    elif not page.decisions:
        print(t("decision.none"))
    else:
        headings = ("decision.id", "decision.strength", "decision.domain", "decision.version")
        print_table(
            [*map(t, headings), t("decision.statement")],
            [
                [
                    str(each.root_id),
                    each.strength,
                    each.domain or "-",
                    str(each.version),
                    one_line(each.statement),
                ]
                for each in page.decisions
            ],
        )
        if page.next_cursor:
            print(t("decision.next_page", cursor=page.next_cursor))


@click.command()
@click.argument("name", metavar="DECISION")
@owner_option
@json_option
@lang_option
def show(name: str, owner: str, as_json: bool, t: Translator) -> None:
    """Show the active version of DECISION with rationale and relations."""

    async def read(user: User) -> tuple[Decision, Sequence[Relation]]:
        root = await find_decision(user, owner, name)
        return await user.decisions.get(root), await user.decisions.relations(root)

    found, relations = run_for_user(owner, read)
    if as_json:
        print_json({"decision": model_json(found), "relations": [model_json(each) for each in relations]})
        return
    print(printable_lines(found.statement))
    print()
    print_fields(
        [
            (t("decision.id"), str(found.root_id)),
            (t("decision.strength"), found.strength),
            (t("decision.domain"), found.domain or found.scope),
            (t("decision.version"), f"{found.version}, {found.created_at:%Y-%m-%d %H:%M} UTC"),
            *((t("decision.evidence"), str(each)) for each in found.evidence_ids),
            *((t("decision.relation"), _relation_text(each, found)) for each in relations),
        ]
    )
    if found.rationale:
        print(f"\n{printable_lines(found.rationale)}")


def _relation_text(relation: Relation, decision: Decision) -> str:
    """`TYPE other` if the decision is the source of the relation, else `other TYPE`."""
    if relation.source == decision.root_id:
        return f"{relation.type} {relation.target}"
    return f"{relation.source} {relation.type}"


@click.command()
@click.argument("name", metavar="DECISION")
@owner_option
@json_option
@lang_option
def history(name: str, owner: str, as_json: bool, t: Translator) -> None:
    """Show all versions of DECISION, oldest first. Versions never change."""

    async def read(user: User) -> list[Decision]:
        root = await find_decision(user, owner, name)
        versions: list[Decision] = []
        while page := await user.decisions.history(
            root, after=versions[-1].version if versions else 0, limit=MAX_PAGE
        ):
            versions += page
        return versions

    versions = run_for_user(owner, read)
    if as_json:
        print_json({"versions": [model_json(each) for each in versions]})
        return
    headings = ("decision.version", "decision.created_at", "decision.strength", "decision.statement")
    print_table(
        [t(heading) for heading in headings],
        [
            [
                f"{each.version} *" if each.is_active else str(each.version),
                f"{each.created_at:%Y-%m-%d %H:%M}",
                each.strength,
                one_line(each.statement),
            ]
            for each in versions
        ],
    )


@click.command()
@click.argument("domain")
@click.option("--phase", metavar="NAME", help="Label that is copied to the output; it filters nothing.")
@click.option(
    "-q", "--query", metavar="TEXT", help="Add decisions that share words with TEXT, in the last layer."
)
@click.option(
    "--focus", metavar="DECISION", multiple=True, help="Load the relations around DECISION. Repeatable."
)
@click.option("--session", metavar="NAME", help="Use only the anchors of this session.")
@click.option(
    "--budget", metavar="N", type=click.IntRange(1), help="At most N tokens; the last layers are cut first."
)
@click.option("--depth", metavar="N", type=click.IntRange(1), help="Follow paths of at most N relations.")
@owner_option
@json_option
@lang_option
def context(  # noqa: PLR0913, PLR0917  click passes each option as an argument
    domain: str,
    phase: str | None,
    query: str | None,
    focus: tuple[str, ...],
    session: str | None,
    budget: int | None,
    depth: int | None,
    owner: str,
    as_json: bool,
    t: Translator,
) -> None:
    """Load the decisions that apply in DOMAIN, in seven layers."""

    async def read(user: User) -> LoadedContext:
        return await user.decisions.context(
            domain,
            phase=phase,
            q=query,
            session_ref=session,
            roots=[await find_decision(user, owner, name) for name in focus],
            budget=budget,
            depth=depth,
        )

    loaded = run_for_user(owner, read)
    if as_json:
        print_json(model_json(loaded))
        return
    shown = {item.root_id for layer in loaded.layers for item in layer.items if item.kind == "decision"}
    for layer in loaded.layers:
        print("\n".join(_layer_lines(layer, shown, t)))
    print(t("decision.tokens", tokens=loaded.tokens))


def _layer_lines(layer: Layer, shown: set[UUID], t: Translator) -> list[str]:
    lines = [f"{layer.tier} {layer.name}", *(f"  {item_text(item, shown, t)}" for item in layer.items)]
    if layer.left_out is None:
        lines.append("  " + t("decision.not_loaded"))
    elif layer.left_out:
        lines.append("  " + t("decision.left_out", count=layer.left_out))
    return lines


def item_text(item: LayerItem, shown: set[UUID], t: Translator) -> str:
    """One line for an item of a layer or of a walk. `shown` are the decisions with a line of their own."""
    match item.kind:
        case "policy":
            return one_line(item.statement)
        case "structural":
            path = " ".join(edge.type for edge in item.path)
            below = f"  {t('decision.in_lower_layer')}" if item.root_id in shown else ""
            return f"{path}  {item.root_id} ({item.strength}, {item.domain or item.scope}){below}"
        case "decision":
            return f"{one_line(item.statement)} ({strength_and_domain(item)})  {item.root_id}"
        case "evidence":
            hint = f"{one_line(item.hint)}: " if item.hint else ""
            return f"{hint}{one_line(item.title)}  {item.id}"
