"""`gieok serve`: the API and a worker in one process, or in several processes that share a socket."""

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
from gieok.app.background.worker import Worker
from gieok.engine import CycleRecord
from gieok.errors import SettingsInvalid, type_and_place
from gieok.interfaces.rest.app import create_app
from gieok.interfaces.rest.gateway.limits import options_from
from gieok.interfaces.rest.gateway.logs import configure_logging
from gieok.interfaces.rest.gateway.metrics import SHARED_FOLDER, Metrics
from gieok.interfaces.rest.gateway.tracing import tracing_from
from gieok.interfaces.rest.server.sockets import HttpProtocol, is_loopback, listen, url_of
from gieok.settings import Settings, load_settings

_log = logging.getLogger(__name__)

GRACE_SECONDS = 30
"""Time for running requests to finish after the first stop signal."""
START_SECONDS = 60
"""Time after which one of several processes is killed if it does not respond, such as at a slow start."""


class Service:
    """The ASGI application of one process: opens Gieok and runs a worker from server start to shutdown."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._app: ASGIApp | None = None
        self._worker: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)

    def cancel_jobs(self) -> None:
        """Cancel the running jobs. Another worker claims them when their leases expire."""
        if self._worker is not None:
            self._worker.get_loop().call_soon_threadsafe(self._worker.cancel)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
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
            _tune_garbage_collector()
            stop = asyncio.Event()
            self._worker = asyncio.create_task(Worker(gieok, on_job=metrics.job).run(stop))
            self._worker.add_done_callback(_stop_if_worker_failed)
            try:
                yield
            finally:
                stop.set()
                await asyncio.wait([self._worker])
        if tracing is not None:
            await asyncio.to_thread(tracing.close)


def _tune_garbage_collector() -> None:
    """Exclude what was loaded at the start from garbage collection: scanning it again and again takes longer
    than answering a request."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def service() -> Service:
    """Application factory for several processes. Each of them reads the settings itself."""
    configure_logging(sys.stderr)
    return Service(load_settings())


def serve(settings: Settings, workers: int, announce: Callable[[str], None]) -> None:
    """Serve until a stop signal. `announce` is called with the URL once the socket is open.

    SettingsInvalid if the port is in use, or if other machines could reach a service that has no token.
    """
    asyncio.run(_check(settings))
    with listen(settings.service.host, settings.service.port) as listening:
        announce(url_of(listening))
        if workers == 1:
            configure_logging(sys.stderr)
            _Server(Service(settings)).run([listening])
        else:
            _serve_with_processes(workers, listening)


async def _check(settings: Settings) -> None:
    """Open everything once, so that a wrong setting is reported in one line before the server starts."""
    async with await Gieok.open(settings) as gieok:
        host = settings.service.host
        if is_loopback(host) or settings.jwt is not None:
            return
        now = datetime.now(UTC)
        if not any(token.is_valid(now) for token in await gieok.tokens.list()):
            raise SettingsInvalid(
                f"other machines could reach {host}, and there is no token yet; create one with "
                "`gieok token create --user NAME`, then start again"
            )


def _serve_with_processes(workers: int, listening: socket.socket) -> None:
    with tempfile.TemporaryDirectory(prefix="gieok-metrics-") as folder:
        os.environ[SHARED_FOLDER] = folder
        config = _config("gieok.interfaces.rest.server.serve:service", factory=True, workers=workers)
        _Supervisor(config, [listening]).run()


def _config(app: Service | str, *, factory: bool = False, workers: int = 1) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=factory,
        workers=workers,
        lifespan="on",
        http=HttpProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_worker_healthcheck=START_SECONDS,
    )


class _Server(uvicorn.Server):
    """Shuts down gracefully after the first signal, and at once after the second."""

    def __init__(self, app: Service) -> None:
        super().__init__(_config(app))
        self._service = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            self.force_exit = True
            self._service.cancel_jobs()
        self.should_exit = True


class _Supervisor(Multiprocess):
    """Starts the processes and restarts those that die. Kills all of them after the second signal."""

    def join_all(self) -> None:
        for each in self.processes:
            while each.process.is_alive():
                each.process.join(0.1)
                if self.signal_queue:
                    for every in self.processes:
                        every.process.kill()


def _stop_if_worker_failed(worker: asyncio.Task[None]) -> None:
    """Stop the process, so that its supervisor restarts it: it would look healthy and run no jobs."""
    error = None if worker.cancelled() else worker.exception()
    if error is not None:
        _log.error("the worker failed unexpectedly: %s", type_and_place(error))
        signal.raise_signal(signal.SIGTERM)
