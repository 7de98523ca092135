"""`gieok decision list`, `show` and `history`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from gieok.interfaces.cli.asking import ask
from gieok.interfaces.cli.decision.asking import STRENGTHS, find, user_option
from gieok.interfaces.cli.harmless import one_line, printable_lines
from gieok.interfaces.cli.output import (
    documents,
    json_option,
    lang_option,
    print_facts,
    print_json,
    print_table,
)
from gieok.interfaces.cli.wording import Say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gieok.app import User
    from gieok.app.decisions import DecisionPage
    from gieok.memory.decisions.records import Decision, Relation, Scope, Strength

MOST = 1_000
"""Decisions on one page of a list, and versions read at a time."""


@click.command("list")
@click.option("--domain", metavar="NAME", help="Only those of this domain.")
@click.option(
    "--scope", type=click.Choice(["global", "domain"]), help="Only global ones, or only of domains."
)
@click.option("--strength", type=click.Choice(STRENGTHS), help="Only of this strength.")
@click.option("--limit", metavar="N", type=click.IntRange(1, MOST), default=100, help="At most N of them.")
@click.option("--cursor", metavar="TEXT", help="Go on where another list ended.")
@user_option
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
    say: Say,
) -> None:
    """The active decisions. The strongest stand first, then those that changed last."""

    async def read(user: User) -> DecisionPage:
        return await user.decisions.list(
            domain=domain,
            scope=cast("Scope | None", scope),
            strength=cast("Strength | None", strength),
            limit=limit,
            cursor=cursor,
        )

    page = ask(owner, read)
    if as_json:
        print_json({"decisions": documents(page.decisions), "nextCursor": page.next_cursor})
    elif not page.decisions:
        print(say("decision.none"))
    else:
        headings = ("decision.id", "decision.strength", "decision.domain", "decision.version")
        print_table(
            [*map(say, headings), say("decision.statement")],
            [[str(each.root_id), *_place(each), one_line(each.statement)] for each in page.decisions],
        )
        if page.next_cursor:
            print(say("decision.more", cursor=page.next_cursor))


@click.command()
@click.argument("name", metavar="DECISION")
@user_option
@json_option
@lang_option
def show(name: str, owner: str, as_json: bool, say: Say) -> None:
    """The active version of DECISION, its reasons and its relations."""

    async def read(user: User) -> tuple[Decision, Sequence[Relation]]:
        root = await find(user, owner, name)
        return await user.decisions.get(root), await user.decisions.relations(root)

    found, relations = ask(owner, read)
    if as_json:
        print_json({"decision": documents([found])[0], "relations": documents(relations)})
        return
    print(printable_lines(found.statement))
    print()
    print_facts(
        [
            (say("decision.id"), str(found.root_id)),
            (say("decision.strength"), found.strength),
            (say("decision.domain"), found.domain or found.scope),
            (say("decision.version"), f"{found.version}, {found.created_at:%Y-%m-%d %H:%M} UTC"),
            *((say("decision.evidence"), str(each)) for each in found.evidence_ids),
            *((say("decision.relation"), _relation(each, found)) for each in relations),
        ]
    )
    if found.rationale:
        print(f"\n{printable_lines(found.rationale)}")


@click.command()
@click.argument("name", metavar="DECISION")
@user_option
@json_option
@lang_option
def history(name: str, owner: str, as_json: bool, say: Say) -> None:
    """Every version of DECISION, oldest first. No version is ever changed."""

    async def read(user: User) -> list[Decision]:
        root = await find(user, owner, name)
        versions: list[Decision] = []
        while page := await user.decisions.history(
            root, after=versions[-1].version if versions else 0, limit=MOST
        ):
            versions += page
        return versions

    versions = ask(owner, read)
    if as_json:
        print_json({"versions": documents(versions)})
        return
    print_table(
        [say("decision.version"), say("decision.when"), say("decision.strength"), say("decision.statement")],
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


def _place(decision: Decision) -> tuple[str, str, str]:
    return decision.strength, decision.domain or "-", str(decision.version)


def _relation(relation: Relation, of: Decision) -> str:
    if relation.source == of.root_id:
        return f"{relation.type} {relation.target}"
    return f"{relation.source} {relation.type}"
