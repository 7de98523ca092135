"""`gieok chat`: a conversation with a persona, in the terminal or through a pipe."""

from __future__ import annotations

import click

from gieok.interfaces.cli.asking import owner_option
from gieok.interfaces.cli.output import lang_option
from gieok.interfaces.cli.wording import Say


@click.command()
@click.option(
    "--persona", metavar="ID|NAME", help="Talk with this one. Default: the only one, or a new small one."
)
@owner_option("Who talks.")
@click.option("--json", "as_json", is_flag=True, help="Print each turn as one line of JSON, for programs.")
@lang_option
def chat(persona: str | None, owner: str, as_json: bool, say: Say) -> None:
    """Talk with a persona that remembers. No server is needed.

    /help lists what you can ask for besides: what was recalled and why, what is true by now, what is
    remembered. Ctrl-D ends the session and keeps what matters; Ctrl-C does too, or gives up a reply under
    way. From a pipe each line is one message, and each reply is printed as it comes.
    """
    from gieok.interfaces.cli.chat.screen import Screen
    from gieok.interfaces.cli.chat.talking import talk

    talk(owner, persona, Screen(say, as_json=as_json))
