"""`gieok memory erase`: a user's keys and rows, gone for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gieok.errors import NotFound
from gieok.interfaces.cli.asking import ask
from gieok.interfaces.cli.output import camel, json_option, lang_option, print_json, wire
from gieok.interfaces.cli.wording import Say

if TYPE_CHECKING:
    from gieok.app import User
    from gieok.app.owner_data import ErasureReceipt


@click.command()
@click.option("--user", "owner", metavar="NAME", required=True, help="Whose data.")
@click.option("--yes", is_flag=True, help="Do not ask for the name again.")
@json_option
@lang_option
def erase(owner: str, yes: bool, as_json: bool, say: Say) -> None:
    """Destroy everything of a user for good. First the keys go, so that nobody can read it, then the rows.

    There is no way back, and the name cannot be used again. Old backups: see docs/howto/backup.md.
    """

    async def check(user: User) -> bool:
        return await user.data.exists()

    if not ask(owner, check):
        raise NotFound(f"there is no user '{owner}'")
    if not yes:
        typed = click.prompt(say("memory.type_name", user=owner), err=True)
        if typed != owner:
            raise click.UsageError(say("memory.not_erased"))

    async def destroy(user: User) -> ErasureReceipt:
        return await user.erase()

    receipt = ask(owner, destroy)
    if as_json:
        print_json(wire(receipt) | {"erased": {camel(table): rows for table, rows in receipt.erased.items()}})
    else:
        print(say("memory.erased", user=owner, rows=sum(receipt.erased.values())))
