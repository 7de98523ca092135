"""`gieok memory`: read and change memories, and export, import or erase all data of a user."""

from __future__ import annotations

import click

from gieok.interfaces.cli.memory import change, data, read


@click.group()
def memory() -> None:
    """Memories of a user: read, change, delete, export, import, erase."""


for command in (
    change.archive,
    change.delete,
    change.edit,
    change.history,
    change.restore,
    change.tag,
    data.erase,
    data.export,
    data.import_file,
    read.list_memories,
    read.search,
    read.show,
):
    memory.add_command(command)
