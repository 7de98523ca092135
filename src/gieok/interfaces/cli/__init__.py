"""The `gieok` program. Importing it loads only click: each command imports what it needs when it runs."""

from __future__ import annotations

import click

from gieok import __version__
from gieok.interfaces.cli import (
    activity,
    archive,
    backup,
    chat,
    check,
    context,
    database,
    decision,
    demo,
    doctor,
    document,
    jobs,
    keys,
    mcp,
    memory,
    persona,
    plan,
    serve,
    session,
    token,
    webhook,
)
from gieok.interfaces.cli.program import Program


@click.group("gieok", cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gieok", message="%(prog)s %(version)s")
def main() -> None:
    """Gieok: long-term memory for AI characters and agents.

    Settings are read from GIEOK_* variables and gieok.toml; `gieok doctor` shows them.
    """


COMMANDS = (
    activity.audit,
    activity.usage,
    archive.archive,
    backup.backup,
    backup.restore,
    chat.chat,
    check.check,
    context.context,
    database.db,
    decision.decision,
    demo.demo,
    doctor.doctor,
    document.document,
    jobs.jobs,
    keys.keys,
    mcp.mcp,
    memory.memory,
    persona.fact,
    persona.persona,
    plan.plan,
    serve.console,
    serve.serve,
    serve.worker,
    session.session,
    token.token,
    webhook.webhook,
)

for command in COMMANDS:
    main.add_command(command)
