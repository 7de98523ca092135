"""`gieok audit`: what was done to a user's memory as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gieok.interfaces.cli.asking import ask, owner_option
from gieok.interfaces.cli.harmless import printable
from gieok.interfaces.cli.output import json_option, lang_option, print_json, print_table, wire
from gieok.interfaces.cli.wording import Say

if TYPE_CHECKING:
    from uuid import UUID

    from gieok.memory.audit.records import AuditEntry

MOST = 1_000


@click.command()
@click.option("--limit", metavar="N", type=click.IntRange(1, MOST), default=50, help="At most N entries.")
@click.option("--before", metavar="ID", type=click.UUID, help="Only what came before the entry with this id.")
@owner_option("Whose memory.")
@json_option
@lang_option
def audit(limit: int, before: UUID | None, owner: str, as_json: bool, say: Say) -> None:
    """What was done to a user as a whole, the newest first.

    Tokens, exports, imports, keys and moves between plans. Entries hold no content.
    """
    entries = ask(owner, lambda user: user.audit.list(limit, before))
    if as_json:
        print_json({"entries": [_document(each) for each in entries]})
    elif not entries:
        print(say("audit.none"))
    else:
        print_table(
            [say("audit.when"), say("audit.action"), say("audit.subject"), say("audit.id")],
            [
                [f"{each.at:%Y-%m-%d %H:%M:%S}", each.action, printable(each.subject or "-"), str(each.id)]
                for each in entries
            ],
        )


def _document(entry: AuditEntry) -> dict[str, Any]:
    return {**wire(entry), "id": str(entry.id)}
