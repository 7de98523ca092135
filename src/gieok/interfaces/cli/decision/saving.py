"""`gieok decision save` and `relate`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from gieok.errors import NotFound
from gieok.interfaces.cli.asking import ask
from gieok.interfaces.cli.decision.asking import STRENGTHS, find, user_option
from gieok.interfaces.cli.output import documents, json_option, lang_option, print_json
from gieok.interfaces.cli.wording import Say

if TYPE_CHECKING:
    from uuid import UUID

    from gieok.app import User
    from gieok.memory.decisions.records import Decision, Relation, RelationType

RELATION_TYPES = ("DEPENDS_ON", "CONSTRAINS", "VALIDATES", "REFINES", "CONFLICTS_WITH", "IMPLEMENTS")
"""As in the records, which are not imported before a command runs; a test holds them together."""

STDIN = "-"

_KEPT = {"rationale", "strength", "scope", "domain", "evidence_ids"}
"""What a new version takes over from the one before it."""


@click.command()
@click.argument("statement")
@click.option("--rationale", metavar="TEXT", help="Why; - reads it from standard input.")
@click.option("--strength", type=click.Choice(STRENGTHS), help="How strong it is. Default: normal.")
@click.option("--domain", metavar="NAME", help="Where it applies. Default: everywhere.")
@click.option("--global", "is_global", is_flag=True, help="It applies everywhere from now on.")
@click.option("--change", metavar="DECISION", help="Append a version; what is not said stays as it is.")
@click.option(
    "--expect", metavar="N", type=click.IntRange(0), help="Fail unless version N is the active one."
)
@user_option
@json_option
@lang_option
def save(  # noqa: PLR0913, PLR0917  click gives each option as an argument
    statement: str,
    rationale: str | None,
    strength: str | None,
    domain: str | None,
    is_global: bool,
    change: str | None,
    expect: int | None,
    owner: str,
    as_json: bool,
    say: Say,
) -> None:
    """Save the decision STATEMENT. It is durable when the command ends."""
    if domain is not None and is_global:
        raise click.UsageError("choose one of --domain and --global")
    if expect is not None and change is None:
        raise click.UsageError("--expect is for a version that --change appends")
    given: dict[str, Any] = {"statement": statement}
    if rationale is not None:
        given["rationale"] = sys.stdin.read() if rationale == STDIN else rationale
    if strength is not None:
        given["strength"] = strength
    if domain is not None or is_global:
        given |= {"scope": "global" if is_global else "domain", "domain": domain}

    async def write(user: User) -> Decision:
        return await _save(
            user, given, await find(user, owner, change) if change is not None else None, expect
        )

    saved = ask(owner, write)
    if as_json:
        print_json({"decision": documents([saved])[0]})
    else:
        print(say("decision.saved", id=saved.root_id, version=saved.version))


@click.command()
@click.argument("source")
@click.argument("kind", metavar="TYPE", type=click.Choice(RELATION_TYPES, case_sensitive=False))
@click.argument("target")
@click.option("--remove", is_flag=True, help="Take the relation back instead.")
@user_option
@json_option
@lang_option
def relate(
    source: str, kind: RelationType, target: str, remove: bool, owner: str, as_json: bool, say: Say
) -> None:
    """Declare that SOURCE stands in a relation of TYPE to TARGET.

    TYPE is DEPENDS_ON, CONSTRAINS, VALIDATES, REFINES, CONFLICTS_WITH or IMPLEMENTS.
    """

    async def write(user: User) -> Relation:
        first, second = await find(user, owner, source), await find(user, owner, target)
        if not remove:
            return await user.decisions.relate(first, kind, second)
        for each in await user.decisions.relations(first):
            if (each.source, each.type, each.target) == (first, kind, second):
                return await user.decisions.unrelate(each.id)
        raise NotFound(f"there is no relation {first} {kind} {second}")

    done = ask(owner, write)
    if as_json:
        print_json({"relation": documents([done])[0]})
    else:
        words = "decision.unrelated" if remove else "decision.related"
        print(say(words, source=done.source, kind=done.type, target=done.target))


async def _save(user: User, given: dict[str, Any], change: UUID | None, expect: int | None) -> Decision:
    from gieok.memory.decisions.rules import read_proposal

    if change is None:
        return await user.decisions.save(
            read_proposal({"strength": "normal", "scope": "global", "domain": None, **given})
        )
    stands = await user.decisions.get(change)
    before = stands.model_dump(mode="json", by_alias=True, include=_KEPT)
    return await user.decisions.save(
        read_proposal({**before, **given, "rootId": str(change)}),
        expected_version=stands.version if expect is None else expect,
    )
