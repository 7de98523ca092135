"""`gieok decision`: save decisions, read them, and see what a change affects."""

from __future__ import annotations

import click

from gieok.interfaces.cli.decision import impact, navigate, read, write


@click.group()
def decision() -> None:
    """Decisions, their relations, and the impact of a change.

    DECISION is an id, or the name or file name of an imported decision. The name has a prefix, as in
    wms:ADR-7, if the folder was imported with --domain wms or --name wms.
    """


for command in (
    impact.impact,
    navigate.compact,
    navigate.policy,
    navigate.walk,
    read.context,
    read.history,
    read.list_decisions,
    read.show,
    write.export,
    write.import_folder,
    write.relate,
    write.save,
):
    decision.add_command(command)
