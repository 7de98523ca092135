"""`gieok worker`: background work without the HTTP service."""

from __future__ import annotations

import click

from gieok.interfaces.cli.output import lang_option
from gieok.interfaces.cli.wording import Say


@click.command()
@lang_option
def worker(say: Say) -> None:
    """Do what is due in the background, without the HTTP service.

    That is summaries, sessions that ended by themselves, and erasures that were cut off. `gieok serve` does
    this too; start more where that is not enough. Ctrl-C or SIGTERM ends it when the jobs under way are done;
    a second one ends it at once.
    """
    import asyncio

    asyncio.run(_work(say))


async def _work(say: Say) -> None:
    import asyncio
    import signal

    from gieok.app import Gieok
    from gieok.app.worker import Worker

    stop = asyncio.Event()
    async with await Gieok.open() as gieok:
        working = asyncio.ensure_future(Worker(gieok).run(stop))

        def end() -> None:
            if stop.is_set():
                working.cancel()
            stop.set()

        loop = asyncio.get_running_loop()
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(each, end)
        print(say("worker.working"), flush=True)
        await asyncio.wait([working])
        if not working.cancelled():
            working.result()
