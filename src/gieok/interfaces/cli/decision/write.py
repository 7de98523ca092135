"""`gieok decision save`, `relate`, `import` and `export`."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from gieok.errors import NotFound
from gieok.interfaces.cli.decision.read import STRENGTHS, find_decision, owner_option
from gieok.interfaces.cli.options import json_option, lang_option, run_for_user
from gieok.interfaces.cli.output import model_json, print_json, print_table
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from gieok.app import User
    from gieok.interfaces.markdown.folder import Folder, FolderWriter
    from gieok.memory.decisions.exchange import EntryResult
    from gieok.memory.decisions.records import Decision, Relation, RelationType, Strength

RELATION_TYPES = ("DEPENDS_ON", "CONSTRAINS", "VALIDATES", "REFINES", "CONFLICTS_WITH", "IMPLEMENTS")
"""The same values as in the records, which are too slow to import for `--help`. A test compares them."""

STDIN = "-"
NAME_HELP = "Prefix for the names of the decisions in this folder. Default: the domain."

_COPIED = {"rationale", "strength", "scope", "domain", "evidence_ids"}
"""Fields that a new version takes from the previous one."""


@click.command()
@click.argument("statement")
@click.option("--rationale", metavar="TEXT", help="Reason for the decision; - reads standard input.")
@click.option("--strength", type=click.Choice(STRENGTHS), help="Strength. Default: normal.")
@click.option("--domain", metavar="NAME", help="Domain in which it applies. Default: global.")
@click.option("--global", "is_global", is_flag=True, help="Make the decision global.")
@click.option(
    "--change",
    metavar="DECISION",
    help="Append a version to DECISION. Options that are not given keep their values.",
)
@click.option("--expect", metavar="N", type=click.IntRange(0), help="Fail unless version N is active.")
@owner_option
@json_option
@lang_option
def save(  # noqa: PLR0913, PLR0917  click passes each option as an argument
    statement: str,
    rationale: str | None,
    strength: str | None,
    domain: str | None,
    is_global: bool,
    change: str | None,
    expect: int | None,
    owner: str,
    as_json: bool,
    t: Translator,
) -> None:
    """Save the decision STATEMENT, as a new decision or a new version."""
    if domain is not None and is_global:
        raise click.UsageError("choose one of --domain and --global")
    if expect is not None and change is None:
        raise click.UsageError("--expect needs --change")
    given: dict[str, Any] = {"statement": statement}
    if rationale is not None:
        given["rationale"] = sys.stdin.read() if rationale == STDIN else rationale
    if strength is not None:
        given["strength"] = strength
    if domain is not None or is_global:
        given |= {"scope": "global" if is_global else "domain", "domain": domain}

    async def write(user: User) -> Decision:
        root = await find_decision(user, owner, change) if change is not None else None
        return await _save(user, given, root, expect)

    saved = run_for_user(owner, write)
    if as_json:
        print_json({"decision": model_json(saved)})
    else:
        print(t("decision.saved", id=saved.root_id, version=saved.version))


async def _save(user: User, given: dict[str, Any], root: UUID | None, expect: int | None) -> Decision:
    from gieok.memory.decisions.rules import read_proposal

    if root is None:
        return await user.decisions.save(
            read_proposal({"strength": "normal", "scope": "global", "domain": None, **given})
        )
    active = await user.decisions.get(root)
    copied = active.model_dump(mode="json", by_alias=True, include=_COPIED)
    return await user.decisions.save(
        read_proposal({**copied, **given, "rootId": str(root)}),
        expected_version=active.version if expect is None else expect,
    )


@click.command()
@click.argument("source")
@click.argument("kind", metavar="TYPE", type=click.Choice(RELATION_TYPES, case_sensitive=False))
@click.argument("target")
@click.option("--remove", is_flag=True, help="Remove the relation.")
@owner_option
@json_option
@lang_option
def relate(
    source: str, kind: RelationType, target: str, remove: bool, owner: str, as_json: bool, t: Translator
) -> None:
    """Add a relation of TYPE from SOURCE to TARGET.

    TYPE is DEPENDS_ON, CONSTRAINS, VALIDATES, REFINES, CONFLICTS_WITH or IMPLEMENTS.
    """

    async def write(user: User) -> Relation:
        first, second = await find_decision(user, owner, source), await find_decision(user, owner, target)
        if not remove:
            return await user.decisions.relate(first, kind, second)
        for each in await user.decisions.relations(first):
            if (each.source, each.type, each.target) == (first, kind, second):
                return await user.decisions.unrelate(each.id)
        raise NotFound(f"there is no relation {first} {kind} {second}")

    done = run_for_user(owner, write)
    if as_json:
        print_json({"relation": model_json(done)})
    else:
        text = "decision.relation_removed" if remove else "decision.relation_added"
        print(t(text, source=done.source, kind=done.type, target=done.target))


@click.command("import")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--strength",
    type=click.Choice(STRENGTHS),
    default="normal",
    help="Strength of records that do not state one.",
)
@click.option("--domain", metavar="NAME", help="Domain of records that do not state one. Default: global.")
@click.option("--name", metavar="NAME", help=NAME_HELP)
@owner_option
@json_option
@lang_option
def import_folder(
    folder: Path,
    strength: str,
    domain: str | None,
    name: str | None,
    owner: str,
    as_json: bool,
    t: Translator,
) -> None:
    """Import the Markdown decision records in FOLDER.

    Imports nothing if one of them is invalid. A changed record appends a version; an unchanged one does
    nothing. Records with the status proposed, rejected, deprecated or superseded are skipped.
    """
    from gieok.interfaces.markdown.folder import entries, read_folder
    from gieok.interfaces.markdown.records import Defaults

    found = read_folder(folder, Defaults(cast("Strength", strength), domain))
    decisions = entries(owner, found.files, _folder_name(name, domain))
    results = run_for_user(owner, lambda user: user.exchange.import_entries(decisions))
    _print_import(found, results, as_json, t)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--domain", metavar="NAME", help="Only decisions of this domain.")
@click.option("--name", metavar="NAME", help=NAME_HELP)
@owner_option
@json_option
@lang_option
def export(
    folder: Path, domain: str | None, name: str | None, owner: str, as_json: bool, t: Translator
) -> None:
    """Export active decisions to Markdown files in FOLDER.

    The files are not encrypted. A decision that already has a file keeps it. Files with the same content are
    not touched, and no file is removed.
    """
    from gieok.interfaces.markdown.folder import FolderWriter

    writer = FolderWriter(folder, owner, _folder_name(name, domain))
    run_for_user(owner, lambda user: user.exchange.export_entries(writer.write, domain=domain))
    _print_export(writer, as_json, t)


def _folder_name(name: str | None, domain: str | None) -> str | None:
    """Prefix of the names of a folder: `--name`, or the domain in its normalised form."""
    from gieok.app.decisions import checked_domain

    if name is not None and (not name or ":" in name or not name.isprintable()):
        raise click.UsageError("--name needs at least one visible character and must not contain a colon")
    return checked_domain(domain) if name is None else name


def _print_import(found: Folder, results: Sequence[EntryResult], as_json: bool, t: Translator) -> None:
    done = list(zip((file.path for file in found.files), results, strict=True))
    if as_json:
        print_json(
            {
                "imported": [{"path": path, **model_json(result)} for path, result in done],
                "skipped": [{"path": each.path, "reason": each.reason} for each in found.skipped],
            }
        )
        return
    rows = [
        [path, result.outcome, str(result.version)] for path, result in done if result.outcome != "unchanged"
    ]
    rows += [[each.path, f"skipped: {each.reason}", "-"] for each in found.skipped]
    if rows:
        print_table([t("decision.file"), t("decision.outcome"), t("decision.version")], rows)
    counts = Counter(result.outcome for result in results)
    print(
        t(
            "decision.imported",
            added=counts["added"],
            changed=counts["changed"],
            unchanged=counts["unchanged"],
            skipped=len(found.skipped),
            relations=sum(result.relations_added for result in results),
            removed=sum(result.relations_removed for result in results),
        )
    )


def _print_export(writer: FolderWriter, as_json: bool, t: Translator) -> None:
    if as_json:
        print_json([{"path": path, "outcome": outcome} for path, outcome in writer.written])
        return
    for path, outcome in writer.written:
        if outcome != "unchanged":
            print(t("decision.wrote" if outcome == "written" else "decision.kept", path=path))
    counts = Counter(outcome for _, outcome in writer.written)
    print(
        t(
            "decision.exported",
            written=counts["written"],
            unchanged=counts["unchanged"],
            kept=counts["left"],
        )
    )
