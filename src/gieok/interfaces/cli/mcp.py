"""`gieok mcp`: an MCP server on standard input and output, without a service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gieok.interfaces.cli.options import lang_option, run_with_gieok, user_option
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from gieok.app import Gieok


@click.command()
@click.option(
    "--persona",
    metavar="ID",
    help="Persona of calls that name none. Default: the only one, or a new simple one if there is none.",
)
@click.option("--read-only", is_flag=True, help="Offer no tools that change something.")
@user_option("User whose memory is served.")
@lang_option
def mcp(persona: str | None, read_only: bool, owner: str, t: Translator) -> None:
    """Serve memory to an MCP client, such as Claude Code.

    The client starts this command itself and talks to it over standard input and output: see the how-to page
    `mcp`. Needs `pip install 'gieok[mcp]'`.
    """
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise click.ClickException("MCP needs a package that is not installed: pip install 'gieok[mcp]'")
    run_with_gieok(lambda gieok: _serve(gieok, owner, persona, read_only, t), needs_model=False)


async def _serve(gieok: Gieok, owner: str, persona: str | None, read_only: bool, t: Translator) -> None:
    import signal

    from mcp.server.stdio import stdio_server

    from gieok.access import OWNER_SCOPES
    from gieok.interfaces.cli.chat.conversation import SIMPLE_PERSONAS
    from gieok.interfaces.mcp.server import create_server
    from gieok.interfaces.mcp.tools import Client

    user = gieok.user(owner)
    if persona is not None:
        await user.personas.get(persona)
    elif not await user.personas.list(limit=1):
        await user.personas.create(SIMPLE_PERSONAS[t.lang])
    client = Client(
        user=user,
        scopes=frozenset({"read"}) if read_only else OWNER_SCOPES,
        account_plan=None,
        language=t.lang,
        persona_id=persona,
    )
    server = create_server(lambda _ctx: client)
    # A thread that waits for input cannot be cancelled, so Ctrl-C ends the process as SIGTERM does.
    # Each call is stored completely or not at all.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())
