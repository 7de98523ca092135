"""`gieok audit` and `gieok usage`: what was done with a user's data, and how many model tokens it used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gieok.interfaces.cli.options import json_option, lang_option, run_for_user, user_option
from gieok.interfaces.cli.output import dataclass_json, model_json, print_json, print_table, printable
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from uuid import UUID

MAX_ENTRIES = 1_000


@click.command()
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, MAX_ENTRIES), default=50, help="At most N entries."
)
@click.option("--before", metavar="ID", type=click.UUID, help="Only entries older than the one with this id.")
@click.option("--verify", is_flag=True, help="Check that no entry was removed or altered.")
@user_option("User whose audit trail is shown.")
@json_option
@lang_option
def audit(limit: int, before: UUID | None, verify: bool, owner: str, as_json: bool, t: Translator) -> None:
    """Audit trail of a user, newest first.

    It lists tokens, failed logins, exports, imports, key rotations and plan changes. Entries hold no content.
    Failed logins with unknown tokens are in the trail of the user gieok:operator.
    """
    if verify:
        count = run_for_user(owner, lambda user: user.audit.verify())
        if as_json:
            print_json({"verified": count})
        else:
            print(t("audit.verified", count=count))
        return
    entries = run_for_user(owner, lambda user: user.audit.list(limit, before))
    if as_json:
        print_json({"entries": [{**dataclass_json(each), "id": str(each.id)} for each in entries]})
    elif not entries:
        print(t("audit.none"))
    else:
        print_table(
            [t("audit.when"), t("audit.action"), t("audit.subject"), t("audit.id")],
            [
                [f"{each.at:%Y-%m-%d %H:%M:%S}", each.action, printable(each.subject or "-"), str(each.id)]
                for each in entries
            ],
        )


@click.command()
@click.option(
    "--days", metavar="N", type=int, default=30, help="The last N days, including today. Default: 30."
)
@user_option("User whose usage is shown.")
@json_option
@lang_option
def usage(days: int, owner: str, as_json: bool, t: Translator) -> None:
    """Calls and tokens of language models per day (UTC), newest first.

    The tokensPerDay budget of a plan is compared with these numbers. Days without use are omitted.
    """
    used = run_for_user(owner, lambda user: user.usage(days))
    if as_json:
        print_json({"days": [model_json(day) for day in used]})
    elif not used:
        print(t("usage.none"))
    else:
        headings = ("usage.day", "usage.calls", "usage.input", "usage.output", "usage.tokens")
        print_table(
            [t(heading) for heading in headings],
            [
                [
                    str(day.day),
                    *(f"{n:,}" for n in (day.calls, day.input_tokens, day.output_tokens, day.tokens)),
                ]
                for day in used
            ],
        )
