"""`gieok decision import` and `export`: a folder of Markdown records."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from gieok.interfaces.cli.asking import ask
from gieok.interfaces.cli.decision.asking import STRENGTHS, user_option
from gieok.interfaces.cli.output import documents, json_option, lang_option, print_json, print_table
from gieok.interfaces.cli.wording import Say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gieok.app import User
    from gieok.interfaces.markdown.folder import Folder, FolderWriter
    from gieok.memory.decisions.exchange import EntryResult
    from gieok.memory.decisions.records import Strength


NAME_HELP = "What the folder is called, so that its names are its own. Default: the domain."


@click.command("import")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--strength", type=click.Choice(STRENGTHS), default="normal", help="Of records that do not say it."
)
@click.option("--domain", metavar="NAME", help="Of records that do not say it. Default: global.")
@click.option("--name", metavar="NAME", help=NAME_HELP)
@user_option
@json_option
@lang_option
def import_folder(
    folder: Path,
    strength: str,
    domain: str | None,
    name: str | None,
    owner: str,
    as_json: bool,
    say: Say,
) -> None:
    """Take in every decision record in FOLDER. Where one is wrong, none is taken in.

    A record that changed appends a version, one that did not changes nothing. Records that are only proposed,
    rejected, deprecated or superseded are skipped.
    """
    from gieok.interfaces.markdown.folder import read_folder
    from gieok.interfaces.markdown.naming import entries
    from gieok.interfaces.markdown.parse import Defaults

    found = read_folder(folder, Defaults(cast("Strength", strength), domain))
    decisions = entries(owner, found.files, _space(name, domain))

    async def write(user: User) -> Sequence[EntryResult]:
        return await user.exchange.bring_in(decisions)

    _tell_import(found, ask(owner, write), as_json, say)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--domain", metavar="NAME", help="Only decisions of this domain.")
@click.option("--name", metavar="NAME", help=NAME_HELP)
@user_option
@json_option
@lang_option
def export(folder: Path, domain: str | None, name: str | None, owner: str, as_json: bool, say: Say) -> None:
    """Write every active decision to a Markdown file in FOLDER. The files are not sealed.

    A decision that has a file there keeps it. A file that says the same already is not touched, and none is
    removed.
    """
    from gieok.interfaces.markdown.folder import FolderWriter

    writer = FolderWriter(folder, owner, _space(name, domain))

    async def read(user: User) -> None:
        await user.exchange.take_out(writer.write, domain=domain)

    ask(owner, read)
    _tell_export(writer, as_json, say)


def _space(name: str | None, domain: str | None) -> str | None:
    """What a folder is called: a domain in its one spelling, as decisions have it."""
    from gieok.app.decisions import known_domain

    if name is not None and (not name or ":" in name or not name.isprintable()):
        raise click.UsageError("--name is one visible character or more, and none of them is a colon")
    return known_domain(domain) if name is None else name


def _tell_import(found: Folder, results: Sequence[EntryResult], as_json: bool, say: Say) -> None:
    done = list(zip((file.path for file in found.files), results, strict=True))
    if as_json:
        print_json(
            {
                "imported": [
                    {"path": path, **document}
                    for (path, _), document in zip(done, documents(results), strict=True)
                ],
                "skipped": [{"path": each.path, "reason": each.reason} for each in found.skipped],
            }
        )
        return
    rows = [
        [path, result.outcome, str(result.version)] for path, result in done if result.outcome != "unchanged"
    ]
    rows += [[each.path, f"skipped: {each.reason}", "-"] for each in found.skipped]
    if rows:
        print_table([say("decision.file"), say("decision.outcome"), say("decision.version")], rows)
    counts = Counter(result.outcome for result in results)
    print(
        say(
            "decision.imported",
            added=counts["added"],
            changed=counts["changed"],
            unchanged=counts["unchanged"],
            skipped=len(found.skipped),
            relations=sum(result.relations_added for result in results),
            removed=sum(result.relations_removed for result in results),
        )
    )


def _tell_export(writer: FolderWriter, as_json: bool, say: Say) -> None:
    if as_json:
        print_json([{"path": path, "outcome": outcome} for path, outcome in writer.written])
        return
    for path, outcome in writer.written:
        if outcome != "unchanged":
            print(say("decision.wrote" if outcome == "written" else "decision.left", path=path))
    counts = Counter(outcome for _, outcome in writer.written)
    print(
        say(
            "decision.exported",
            written=counts["written"],
            unchanged=counts["unchanged"],
            left=counts["left"],
        )
    )
