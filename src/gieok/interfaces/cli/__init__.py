"""The command line. Importing it loads click and nothing heavy: each command imports what it needs."""

from __future__ import annotations

import click

from gieok import __version__
from gieok.interfaces.cli import (
    audit,
    backup,
    chat,
    db,
    decision,
    demo,
    doctor,
    keys,
    memory,
    plan,
    serve,
    token,
    usage,
    worker,
)
from gieok.interfaces.cli.program import Program


@click.group("gieok", cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gieok", message="%(prog)s %(version)s")
def main() -> None:
    """Gieok: long-term memory for AI characters and agents.

    Settings come from GIEOK_* variables and from gieok.toml; `gieok doctor` shows them.
    """


COMMANDS = (
    audit.audit,
    backup.backup,
    chat.chat,
    db.db,
    decision.decision,
    demo.demo,
    doctor.doctor,
    keys.keys,
    memory.memory,
    plan.plan,
    backup.restore,
    serve.serve,
    token.token,
    usage.usage,
    worker.worker,
)

for command in COMMANDS:
    main.add_command(command)
