"""`gieok memory`: what is remembered of a user, and all of their data: out, in, and gone for good."""

from __future__ import annotations

import click

from gieok.interfaces.cli.memory import carrying, erasing, reading


@click.group()
def memory() -> None:
    """What is remembered of a user: read it, carry it, erase it."""


for command in (
    carrying.export,
    carrying.import_file,
    erasing.erase,
    reading.list_memories,
    reading.search,
    reading.show,
):
    memory.add_command(command)
