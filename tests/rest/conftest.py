"""A service on a real socket, in a thread of this process, and clients for it."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from gieok import Gieok, Settings
from gieok.engine import CycleRecord
from gieok.interfaces.console.session import SignInCodes
from gieok.interfaces.rest.app import create_app
from gieok.interfaces.rest.gateway.limits import ServiceOptions
from gieok.interfaces.rest.gateway.metrics import Metrics
from gieok.interfaces.rest.gateway.tracing import Tracing
from gieok.interfaces.rest.server.connections import http_protocol
from gieok.memory.fields import AccountPlan
from gieok.testing.settings import settings_for

T = TypeVar("T")
Extend = Callable[[FastAPI], None]


GENEROUS = ServiceOptions(rate_per_second=1e6, rate_burst=1_000_000)
"""Without a rate limit."""


def _no_extension(_app: FastAPI) -> None:
    """Add nothing to the application."""


class Server:
    """A running service."""

    def __init__(
        self,
        settings: Settings,
        options: ServiceOptions,
        extend: Extend = _no_extension,
        tracing: Tracing | None = None,
        **gieok_options: Any,
    ) -> None:
        self.gieok: Gieok
        self.metrics = Metrics()
        self.codes = SignInCodes()
        """One-time codes of the web console."""
        self.settings = settings
        self._options = options
        self._extend = extend
        self._tracing = tracing
        self._gieok_options = gieok_options
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # asyncio does not for this one
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="service")
        self._thread.start()
        assert self._started.wait(30)
        if self._failure:
            raise self._failure

    @property
    def port(self) -> int:
        return self._socket.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def token(self, user: str = "ana", plan: AccountPlan = "free", **options: Any) -> str:
        """Create a token for a user."""
        made = self.run(self.gieok.tokens.create(user, account_plan=plan, **options))
        return made.token

    def client(self, user: str | None = "ana", plan: AccountPlan = "free", **options: Any) -> httpx.Client:
        """A client with a token of this user, or without a token.

        It does not load certificates, because that takes longer than a test.
        """
        headers = {"Authorization": f"Bearer {self.token(user, plan, **options)}"} if user else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30, verify=False)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the event loop of the service and wait for its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def close(self) -> None:
        """Stop gracefully."""
        self._server.should_exit = True
        self._thread.join(30)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001  raised again in the constructor
            self._failure = error
        finally:
            self._started.set()

    def _observe(self, record: CycleRecord) -> None:
        self.metrics.cycle(record)
        if self._tracing is not None:
            self._tracing.cycle(record)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        async with await Gieok.open(
            self.settings, observe=self._observe, **self._gieok_options
        ) as self.gieok:
            app = create_app(self.gieok, self._options, self.metrics, self._tracing, self.codes)
            self._extend(app)
            config = uvicorn.Config(
                app,
                http=http_protocol(self._options),
                log_config=None,
                access_log=False,
                server_header=False,
                ws="none",
            )
            self._server = _Server(config, self._started)
            await self._server.serve(sockets=[self._socket])


class _Server(uvicorn.Server):
    """Sets an event when it has started."""

    def __init__(self, config: uvicorn.Config, started: threading.Event) -> None:
        super().__init__(config)
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._started.set()


@contextmanager
def serving(settings: Settings, options: ServiceOptions | None = None, **more: Any) -> Generator[Server]:
    """A service for the block. `extend` adds routes; other options, such as a clock, go to `Gieok.open`."""
    server = Server(settings, options or ServiceOptions(), **more)
    try:
        yield server
    finally:
        server.close()


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings for SQLite, for modules whose tests do not depend on the database."""
    folder = tmp_path_factory.mktemp("service")
    return settings_for(f"sqlite:///{folder / 'data' / 'gieok.db'}", folder / "config" / "root.key")


@pytest.fixture
def server(settings: Settings) -> Iterator[Server]:
    """The service, on each kind of database."""
    with serving(settings, GENEROUS) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    """A client of the user ana, on the free plan."""
    with server.client() as made:
        yield made
