"""`gieok serve`: the HTTP service."""

from __future__ import annotations

from dataclasses import replace

import click

from gieok.interfaces.cli.output import lang_option
from gieok.interfaces.cli.wording import Say

MOST_WORKERS = 64


@click.command()
@click.option("--host", metavar="ADDRESS", help="Listen on this address. Default: GIEOK_HOST, or 127.0.0.1.")
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    help="Listen on this port; 0 takes any that is free. Default: GIEOK_PORT, or 8377.",
)
@click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(1, MOST_WORKERS),
    default=1,
    help="Serve with N processes that share the port. Default: 1.",
)
@lang_option
def serve(host: str | None, port: int | None, workers: int, say: Say) -> None:
    """Serve the HTTP API, and do what is due in the background.

    Ctrl-C or SIGTERM ends it when the requests and jobs under way are done; a second one ends it at once.
    """
    from gieok.interfaces.rest.serve import serve as run
    from gieok.settings import load_settings

    settings = load_settings()
    service = replace(
        settings.service,
        host=settings.service.host if host is None else host,
        port=settings.service.port if port is None else port,
    )
    run(
        replace(settings, service=service),
        workers,
        lambda url: print(say("serve.listening", url=url), flush=True),
    )
