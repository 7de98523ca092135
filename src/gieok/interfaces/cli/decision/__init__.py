"""`gieok decision`: what was decided, what a change would reach, and the folder that a team keeps it in."""

from __future__ import annotations

import click

from gieok.interfaces.cli.decision import context, folder, impact, reading, saving


@click.group()
def decision() -> None:
    """Decisions that keep applying, and what a change would reach.

    A DECISION is named by its id, or by the name or file that it was imported under: wms:ADR-7 where the
    folder was imported with --domain wms or --name wms, ADR-7 where it was with neither.
    """


for command in (
    context.context,
    folder.export,
    folder.import_folder,
    impact.impact,
    reading.history,
    reading.list_decisions,
    reading.show,
    saving.relate,
    saving.save,
):
    decision.add_command(command)
