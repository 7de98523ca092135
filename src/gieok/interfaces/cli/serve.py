"""`gieok serve`, the HTTP service; `gieok console`, its web console; `gieok worker`, jobs without it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from gieok.interfaces.cli.options import lang_option, user_option
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from gieok.settings import Settings

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
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    default=0,
    help="Listen on this port of this machine. Default: any free port.",
)
@click.option("--no-browser", is_flag=True, help="Print the URL, and open no browser.")
@user_option("Sign in as this user.")
@lang_option
def console(port: int, no_browser: bool, owner: str, t: Translator) -> None:
    """Open the web console in the browser.

    It shows what is remembered and why, so that a user can correct and delete it.
    It uses the database of the settings, on this machine only, with a token of its own that ends with the
    command. `gieok serve` offers the same pages at /console. Ctrl-C stops it.
    """
    from gieok.settings import load_settings

    settings = load_settings()
    service = replace(settings.service, host="127.0.0.1", port=port)
    open_console(replace(settings, service=service), owner, t, browser=not no_browser)


def open_console(settings: Settings, owner: str, t: Translator, *, browser: bool = True) -> None:
    """Serve the web console until Ctrl-C, and open the browser."""
    from gieok.interfaces.rest.server.serve import serve_console

    def announce(url: str) -> None:
        print(t("console.open", url=url), flush=True)
        if browser:
            _open_browser(url)

    serve_console(settings, owner, announce)


def _open_browser(url: str) -> None:
    """Open the browser in a thread: some browsers return only when they are closed."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


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
