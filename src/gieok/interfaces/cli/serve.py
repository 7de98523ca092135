"""`gieok serve`, the HTTP service, and `gieok worker`, background jobs without it."""

from __future__ import annotations

from dataclasses import replace

import click

from gieok.interfaces.cli.options import lang_option
from gieok.interfaces.cli.texts import Translator

MAX_PROCESSES = 64


@click.command()
@click.option("--host", metavar="ADDRESS", help="Listen on this address. Default: GIEOK_HOST, or 127.0.0.1.")
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    help="Listen on this port; 0 takes any free port. Default: GIEOK_PORT, or 8377.",
)
@click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(1, MAX_PROCESSES),
    default=1,
    help="Run N processes that share the port. Default: 1.",
)
@lang_option
def serve(host: str | None, port: int | None, workers: int, t: Translator) -> None:
    """Serve the HTTP API and run background jobs.

    Ctrl-C or SIGTERM stops it after running requests and jobs have finished; a second one stops it at once.
    """
    from gieok.interfaces.rest.server.serve import serve as run
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
        lambda url: print(t("serve.listening", url=url), flush=True),
    )


@click.command()
@lang_option
def worker(t: Translator) -> None:
    """Run background jobs without the HTTP service.

    Jobs are summaries, closing inactive sessions, deep walks, embedding, re-indexing and unfinished erasures.
    `gieok serve` runs them too; start workers if it falls behind. Ctrl-C or SIGTERM stops the worker after
    running jobs have finished; a second one stops it at once.
    """
    import asyncio

    asyncio.run(_run_worker(t))


async def _run_worker(t: Translator) -> None:
    import asyncio
    import signal

    from gieok.app import Gieok
    from gieok.app.background.worker import Worker

    stop = asyncio.Event()
    async with await Gieok.open(background=False) as gieok:
        running = asyncio.ensure_future(Worker(gieok).run(stop))

        def end() -> None:
            if stop.is_set():
                running.cancel()
            stop.set()

        loop = asyncio.get_running_loop()
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(each, end)
        print(t("worker.started"), flush=True)
        await asyncio.wait([running])
        if not running.cancelled():
            running.result()
