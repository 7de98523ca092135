"""`gieok archive`: the state of the archive in MongoDB, verify it, restore from it, detach it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gieok.interfaces.cli.options import json_option, lang_option, run_with_gieok
from gieok.interfaces.cli.output import dataclass_json, format_table, print_json, print_table, progress_bar
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from gieok.app import Gieok
    from gieok.app.archive import Archive, ArchiveReport, ArchiveStatus

SHOWN = 100
"""How many differences the table shows."""
HEADINGS = ("integrity.user", "archive.collection", "integrity.row", "archive.difference")

owner_option = click.option(
    "--user", "owner", metavar="NAME", help="Only the data of this user. Default: all users."
)


@click.group()
def archive() -> None:
    """Copy of messages and memories in MongoDB.

    GIEOK_ARCHIVE_URL names the server.
    """


@archive.command()
@json_option
@lang_option
@click.pass_context
def status(context: click.Context, as_json: bool, t: Translator) -> None:
    """Show whether the archive is reachable and complete.

    The exit status is 1 if it cannot be reached.
    """
    found = run_with_gieok(lambda gieok: _archive(gieok, t).status(), needs_model=False)
    if as_json:
        print_json(dataclass_json(found))
    else:
        print("\n".join(format_table(_status_rows(found, t))))
    if not found.is_reachable:
        context.exit(1)


@archive.command()
@owner_option
@json_option
@lang_option
@click.pass_context
def verify(context: click.Context, owner: str | None, as_json: bool, t: Translator) -> None:
    """Compare every message and memory with the archive, while the service runs. Changes nothing.

    Every copy is opened. The exit status is 0 if all are the same, 1 if not, and 2 for a wrong option.
    """
    with progress_bar(t("archive.verifying")) as report:
        found = run_with_gieok(
            lambda gieok: _archive(gieok, t).verify(owner, report=report), needs_model=False
        )
    if as_json:
        differences = [dataclass_json(each) for each in found.differences]
        print_json({"ok": found.is_ok, **dataclass_json(found), "differences": differences})
    else:
        _print_report(found, t)
    if not found.is_ok:
        context.exit(1)


@archive.command()
@owner_option
@json_option
@lang_option
def restore(owner: str | None, as_json: bool, t: Translator) -> None:
    """Bring back into the database what only the archive has. Repeating it changes nothing.

    These are texts that have left the database (GIEOK_ARCHIVE_MESSAGES_AFTER_DAYS), and messages and memories
    that it has lost, as after the restore of an older backup.
    """
    with progress_bar(t("archive.restoring")) as report:
        done = run_with_gieok(
            lambda gieok: _archive(gieok, t).restore(owner, report=report), needs_model=False
        )
    if as_json:
        print_json(dataclass_json(done))
    else:
        print(t("archive.restored", **dataclass_json(done)))


@archive.command()
@json_option
@lang_option
def detach(as_json: bool, t: Translator) -> None:
    """Forget the archive, to work without it or with a new one. Deletes nothing in MongoDB.

    First bring all texts back with `restore`, stop all processes, and unset GIEOK_ARCHIVE_URL.
    """
    from gieok.app.archive_restore import detach as forget

    owners = run_with_gieok(forget, needs_model=False)
    if as_json:
        print_json({"owners": owners})
    else:
        print(t("archive.detached", owners=owners))


def _archive(gieok: Gieok, t: Translator) -> Archive:
    if gieok.archive is None:
        raise click.UsageError(t("archive.none"))
    return gieok.archive


def _status_rows(found: ArchiveStatus, t: Translator) -> list[list[str]]:
    state = t("archive.reachable", version=found.version) if found.is_reachable else found.problem or "-"
    rows = [[t("archive.location"), found.location], [t("archive.state"), state]]
    if found.is_reachable:
        counts = t("archive.counts", messages=found.messages, summaries=found.summaries)
        rows.append([t("archive.documents"), counts])
    undelivered = str(found.undelivered)
    if found.oldest_at is not None:
        undelivered = t("archive.since", count=found.undelivered, at=found.oldest_at.isoformat())
    rows.append([t("archive.undelivered"), undelivered])
    return [*rows, [t("archive.backfilling"), str(found.backfilling)]]


def _print_report(found: ArchiveReport, t: Translator) -> None:
    counts = {"owners": found.owners, "messages": found.messages, "summaries": found.summaries}
    if found.is_ok:
        print(t("archive.ok", **counts))
    else:
        rows = [
            (each.owner, each.collection, each.row, t(f"difference.{each.problem}"))
            for each in found.differences[:SHOWN]
        ]
        print_table([t(heading) for heading in HEADINGS], rows)
        if len(found.differences) > SHOWN:
            print(t("integrity.more", count=len(found.differences) - SHOWN))
        print(t("archive.differs", **counts, differences=len(found.differences)))
    if found.undelivered:
        print(t("archive.not_delivered", count=found.undelivered))
