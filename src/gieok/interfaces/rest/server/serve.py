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
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from time import monotonic
from types import FrameType
from uuid import UUID

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from gieok.access import ALL_SCOPES, NewToken
from gieok.adapters.models.offline import OfflineModel
from gieok.app import Gieok
from gieok.app.background.worker import Worker
from gieok.engine import CycleRecord
from gieok.errors import NotFound, OwnerErased, SettingsInvalid, type_and_place
from gieok.interfaces.console.session import SIGN_IN, SignInCodes
from gieok.interfaces.rest.app import create_app
from gieok.interfaces.rest.gateway.limits import options_from
from gieok.interfaces.rest.gateway.logs import configure_logging
from gieok.interfaces.rest.gateway.metrics import SHARED_FOLDER, Metrics
from gieok.interfaces.rest.gateway.tracing import tracing_from
from gieok.interfaces.rest.server.connections import http_protocol
from gieok.interfaces.rest.server.processes import Supervisor, SupervisorOptions, stop_with_supervisor
from gieok.interfaces.rest.server.sockets import is_loopback, listen, url_of
from gieok.settings import Settings, load_settings

_log = logging.getLogger(__name__)

GRACE_SECONDS = 30.0
"""Time for running requests, streams and jobs to finish after the first stop signal."""
CONSOLE_TOKEN = timedelta(days=1)
"""How long the token of `gieok console` is valid if the process is killed."""
HEARTBEAT_TICKS = 10
"""Ticks of the server, a tenth of a second each, between two heartbeats to the supervisor."""


class Service:
    """The ASGI application of one process: opens Gieok and runs a worker from server start to shutdown."""

    def __init__(self, settings: Settings, sign_in_codes: SignInCodes | None = None) -> None:
        self._settings = settings
        self._sign_in_codes = sign_in_codes
        self._app: ASGIApp | None = None
        self._worker: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._stopped_at: float | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)

    def stop_jobs(self, *, now: bool) -> None:
        """Start no more jobs. `now` cancels the running ones: another worker claims them later."""
        if self._worker is None:
            return
        if self._stopped_at is None:
            self._stopped_at = monotonic()
        loop = self._worker.get_loop()
        loop.call_soon_threadsafe(self._stop.set)
        if now:
            loop.call_soon_threadsafe(self._worker.cancel)

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

        async with await Gieok.open(self._settings, observe=observe, background=False) as gieok:
            options = options_from(self._settings.service)
            self._app = create_app(gieok, options, metrics, tracing, self._sign_in_codes)
            _tune_garbage_collector()
            self._worker = asyncio.create_task(Worker(gieok, on_job=metrics.job).run(self._stop))
            self._worker.add_done_callback(_stop_if_worker_failed)
            try:
                yield
            finally:
                await self._finish_jobs(self._worker)
        if tracing is not None:
            await asyncio.to_thread(tracing.close)

    async def _finish_jobs(self, worker: asyncio.Task[None]) -> None:
        """Give running jobs what is left of the grace period, then cancel them."""
        self._stop.set()
        elapsed = monotonic() - (self._stopped_at or monotonic())
        await asyncio.wait([worker], timeout=max(0.0, GRACE_SECONDS - elapsed))
        worker.cancel()
        await asyncio.wait([worker])


def _tune_garbage_collector() -> None:
    """Exclude what was loaded at the start from garbage collection: scanning it again and again takes longer
    than answering a request."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def serve(settings: Settings, workers: int, announce: Callable[[str], None]) -> None:
    """Serve until a stop signal. `announce` is called with the URL once the socket is open.

    SettingsInvalid if the port is in use, or if other machines could reach a service that has no token.
    """
    asyncio.run(_check(settings))
    with listen(settings.service.host, settings.service.port) as listening:
        announce(url_of(listening))
        if workers == 1:
            configure_logging(sys.stderr)
            _Server(settings).run([listening])
        else:
            _serve_with_processes(workers, listening)


def serve_console(settings: Settings, owner: str, announce: Callable[[str], None]) -> None:
    """Serve the web console to the user of this machine until a stop signal.

    `announce` is called with a URL that signs in once, with a new token of this owner. The token is revoked
    at the end, and expires after a day. SettingsInvalid if the port is in use.
    """
    codes = SignInCodes()
    created = asyncio.run(_create_console_token(settings, owner))
    try:
        with listen(settings.service.host, settings.service.port) as listening:
            configure_logging(sys.stderr)
            logging.getLogger().setLevel(logging.WARNING)
            announce(f"{url_of(listening)}{SIGN_IN}?code={codes.create(created.token)}")
            _Server(settings, sign_in_codes=codes).run([listening])
    finally:
        asyncio.run(_revoke(settings, created.record.id))


async def _create_console_token(settings: Settings, owner: str) -> NewToken:
    async with await Gieok.open(settings, model=OfflineModel(), background=False) as gieok:
        return await gieok.tokens.create(
            owner, scopes=ALL_SCOPES, label="gieok console", expires_at=datetime.now(UTC) + CONSOLE_TOKEN
        )


async def _revoke(settings: Settings, token_id: UUID) -> None:
    async with await Gieok.open(settings, model=OfflineModel(), background=False) as gieok:
        with suppress(NotFound, OwnerErased):  # the user has erased all data, and the tokens with it
            await gieok.tokens.revoke(token_id)


async def _check(settings: Settings) -> None:
    """Open everything once, so that a wrong setting is reported in one line before the server starts."""
    async with await Gieok.open(settings, background=False) as gieok:
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
    configure_logging(sys.stderr)
    with tempfile.TemporaryDirectory(prefix="gieok-metrics-") as folder:
        os.environ[SHARED_FOLDER] = folder
        Supervisor(_run_process, listening, workers).run()


def _run_process(listening: socket.socket, supervisor: Connection) -> None:
    """One of several processes. Each of them reads the settings itself."""
    configure_logging(sys.stderr)
    stop_with_supervisor(supervisor, SupervisorOptions().stop)
    _Server(load_settings(), supervisor).run([listening])


class _Server(uvicorn.Server):
    """Shuts down gracefully after the first signal, and at once after the second.

    With a supervisor, only SIGTERM counts: Ctrl-C also reaches the supervisor, which sends SIGTERM.
    """

    def __init__(
        self,
        settings: Settings,
        supervisor: Connection | None = None,
        sign_in_codes: SignInCodes | None = None,
    ) -> None:
        self._service = Service(settings, sign_in_codes)
        self._supervisor = supervisor
        super().__init__(
            uvicorn.Config(
                self._service,
                lifespan="on",
                http=http_protocol(options_from(settings.service)),
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=int(GRACE_SECONDS),
            )
        )

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._supervisor is not None and sig == signal.SIGINT:
            return
        self.force_exit = self.should_exit
        self.should_exit = True
        self._service.stop_jobs(now=self.force_exit)

    async def on_tick(self, counter: int) -> bool:
        if self._supervisor is not None and counter % HEARTBEAT_TICKS == 0:
            with suppress(OSError):  # the supervisor has died, and this process is about to stop
                self._supervisor.send_bytes(b"alive")
        return await super().on_tick(counter)


def _stop_if_worker_failed(worker: asyncio.Task[None]) -> None:
    """Stop the process, so that its supervisor restarts it: it would look healthy and run no jobs."""
    error = None if worker.cancelled() else worker.exception()
    if error is not None:
        _log.error("the worker failed unexpectedly: %s", type_and_place(error))
        signal.raise_signal(signal.SIGTERM)
