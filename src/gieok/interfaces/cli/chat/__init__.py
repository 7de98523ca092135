"""`gieok chat`: a conversation with a persona, in the terminal or through a pipe."""

from __future__ import annotations

import click

from gieok.interfaces.cli.options import lang_option, user_option
from gieok.interfaces.cli.texts import Translator


@click.command()
@click.option(
    "--persona",
    metavar="ID|NAME",
    help="Persona to talk to. Default: the only one, or a new simple one if there is none.",
)
@user_option("User who talks.")
@click.option("--json", "as_json", is_flag=True, help="Print each turn as one line of JSON, for programs.")
@lang_option
def chat(persona: str | None, owner: str, as_json: bool, t: Translator) -> None:
    """Talk to a persona that remembers. Needs no server.

    /help lists the commands that show recalled memories, current facts and stored memories. Ctrl-D ends the
    session and stores a memory of it; Ctrl-C does the same, or cancels a reply that is being written. From a
    pipe, each line is a message, and replies are printed as they arrive.
    """
    from gieok.interfaces.cli.chat.conversation import chat_loop
    from gieok.interfaces.cli.chat.screen import Screen

    chat_loop(owner, persona, Screen(t, as_json=as_json))
