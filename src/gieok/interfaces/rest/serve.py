"""`gieok serve`: the API and a worker in one process, or in several that share a socket."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from types import FrameType

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.supervisors import Multiprocess

from gieok.app import Gieok
from gieok.app.worker import Worker
from gieok.engine import CycleRecord
from gieok.errors import SettingsInvalid, type_and_place
from gieok.interfaces.rest.app import create_app
from gieok.interfaces.rest.connection import Connection
from gieok.interfaces.rest.listening import is_loopback, listen, url_of
from gieok.interfaces.rest.logs import configure_logging
from gieok.interfaces.rest.metrics import SHARED_FOLDER, Metrics
from gieok.interfaces.rest.options import options_from
from gieok.interfaces.rest.telemetry import tracing_from
from gieok.settings import Settings, load_settings

_log = logging.getLogger(__name__)

GRACE_SECONDS = 30
"""For how long requests under way may go on when the service is told to stop."""
START_SECONDS = 60
"""For how long one of several processes may be silent, as at a start on a busy machine; then it is killed."""


class Service:
    """The ASGI application of one process: open from the server's start to its end, with a worker beside."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._app: ASGIApp | None = None
        self._working: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)

    def hurry(self) -> None:
        """Give up the jobs under way; another worker takes them up later."""
        if self._working is not None:
            self._working.get_loop().call_soon_threadsafe(self._working.cancel)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with self._open():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    @asynccontextmanager
    async def _open(self) -> AsyncGenerator[None]:
        metrics, tracing = Metrics(), tracing_from(os.environ)

        def observe(record: CycleRecord) -> None:
            metrics.cycle(record)
            if tracing is not None:
                tracing.cycle(record)

        async with await Gieok.open(self._settings, observe=observe) as gieok:
            self._app = create_app(gieok, options_from(self._settings.service), metrics, tracing)
            _spare_the_collector()
            stop = asyncio.Event()
            self._working = asyncio.create_task(Worker(gieok, on_job=metrics.job).run(stop))
            self._working.add_done_callback(_end_with_worker)
            try:
                yield
            finally:
                stop.set()
                await asyncio.wait([self._working])
        if tracing is not None:
            await asyncio.to_thread(tracing.close)


def _spare_the_collector() -> None:
    """What is there by now stays: to look through it for rubbish, again and again, would take longer than to
    answer a request."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def service() -> Service:
    """What each of several processes serves; they read the settings themselves."""
    configure_logging(sys.stderr)
    return Service(load_settings())


def serve(settings: Settings, workers: int, announce: Callable[[str], None]) -> None:
    """Serve until told to stop. `announce` hears the URL when the socket is open.

    SettingsInvalid where the port is taken, or where everybody could reach a service that has no token.
    """
    asyncio.run(_check(settings))
    with listen(settings.service.host, settings.service.port) as listening:
        announce(url_of(listening))
        if workers == 1:
            configure_logging(sys.stderr)
            _serve_here(Service(settings), listening)
        else:
            _serve_together(workers, listening)


async def _check(settings: Settings) -> None:
    """Open everything once, so that what is wrong with it is told in one line, before anybody is served."""
    async with await Gieok.open(settings) as gieok:
        host = settings.service.host
        if is_loopback(host) or settings.jwt is not None:
            return
        now = datetime.now(UTC)
        if not any(token.is_in_force(now) for token in await gieok.tokens.list()):
            raise SettingsInvalid(
                f"others could reach {host}, and there is no token yet that a caller must show; make one "
                "with `gieok token create --user NAME`, then start again"
            )


def _serve_here(app: Service, listening: socket.socket) -> None:
    _Server(app).run([listening])


def _serve_together(workers: int, listening: socket.socket) -> None:
    with tempfile.TemporaryDirectory(prefix="gieok-metrics-") as folder:
        os.environ[SHARED_FOLDER] = folder
        config = _config("gieok.interfaces.rest.serve:service", factory=True, workers=workers)
        _Supervisor(config, [listening]).run()


def _config(app: Service | str, *, factory: bool = False, workers: int = 1) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=factory,
        workers=workers,
        lifespan="on",
        http=Connection,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_worker_healthcheck=START_SECONDS,
    )


class _Server(uvicorn.Server):
    """Ends well after the first signal, and at once after the second."""

    def __init__(self, app: Service) -> None:
        super().__init__(_config(app))
        self._service = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            self.force_exit = True
            self._service.hurry()
        self.should_exit = True


class _Supervisor(Multiprocess):
    """Starts processes, starts anew those that die, and ends all of them. The second signal kills them."""

    def join_all(self) -> None:
        for each in self.processes:
            while each.process.is_alive():
                each.process.join(0.1)
                if self.signal_queue:
                    for every in self.processes:
                        every.process.kill()


def _end_with_worker(working: asyncio.Task[None]) -> None:
    """A service whose jobs are never done must not look well: it ends, and is started anew by its keeper."""
    error = None if working.cancelled() else working.exception()
    if error is not None:
        _log.error("the worker failed unexpectedly: %s", type_and_place(error))
        signal.raise_signal(signal.SIGTERM)
