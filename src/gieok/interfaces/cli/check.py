"""`gieok check`: find damage in the database, and rebuild what can be rebuilt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gieok.interfaces.cli.options import json_option, lang_option, run_with_gieok
from gieok.interfaces.cli.output import dataclass_json, print_json, print_table, progress_bar
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from gieok.adapters.sql.lifecycle.integrity import Damage, IntegrityReport

SHOWN = 100
"""How many damaged rows the table shows."""
HEADINGS = ("integrity.user", "integrity.table", "integrity.row", "integrity.damage", "integrity.state")


@click.command()
@click.option("--user", "owner", metavar="NAME", help="Check the data of this user only. Default: all users.")
@click.option("--repair", is_flag=True, help="Rebuild index columns, counts and heads of chains.")
@json_option
@lang_option
@click.pass_context
def check(context: click.Context, owner: str | None, repair: bool, as_json: bool, t: Translator) -> None:
    """Check all stored data, while the service runs. Changes nothing without --repair.

    Every sealed value is opened; search terms, heads of chains and counts are compared with their rows. The
    exit status is 0 if no damage is left, 1 if there is some, and 2 for a wrong option.
    """
    with progress_bar(t("integrity.checking")) as report:
        found = run_with_gieok(
            lambda gieok: gieok.check_integrity(owner=owner, repair=repair, report=report), needs_model=False
        )
    if as_json:
        damage = [dataclass_json(each) for each in found.damage]
        print_json({"ok": found.is_ok, **dataclass_json(found), "damage": damage})
    else:
        _print(found, t)
    if not found.is_ok:
        context.exit(1)


def _print(found: IntegrityReport, t: Translator) -> None:
    counts = {"owners": found.owners, "rows": found.rows}
    if not found.damage:
        print(t("integrity.ok", **counts))
    else:
        rows = [
            (each.owner, each.table, each.row, t(f"damage.{each.kind}"), _state(each, t))
            for each in found.damage[:SHOWN]
        ]
        print_table([t(heading) for heading in HEADINGS], rows)
        if len(found.damage) > SHOWN:
            print(t("integrity.more", count=len(found.damage) - SHOWN))
        repaired = sum(each.is_repaired for each in found.damage)
        print(t("integrity.found", **counts, damaged=len(found.damage), repaired=repaired))
    if found.skipped_index:
        print(t("integrity.skipped"))


def _state(damage: Damage, t: Translator) -> str:
    if damage.is_repaired:
        return t("integrity.repaired")
    return t("integrity.repairable" if damage.is_repairable else "integrity.lost")
