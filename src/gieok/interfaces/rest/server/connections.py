"""HTTP/1.1 connections, and the limits on clients that are not authenticated yet.

A client that sends nothing, an endless header or a thousand half requests costs one process no more than the
limits of `ServiceOptions`. Each refusal is logged with the client's address, at most one line a second for
each reason.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from ipaddress import IPv6Address, IPv6Network, ip_address
from time import monotonic
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from gieok.errors import GieokError, HeadersTooLarge, InputRefused, RateLimited
from gieok.interfaces.rest.gateway.errors import problem_of, respond
from gieok.interfaces.rest.gateway.gateway import COMMON_HEADERS
from gieok.interfaces.rest.gateway.limits import ServiceOptions

_log = logging.getLogger(__name__)

RESERVED_FILES = 256
"""File descriptors of a process that are not for connections: databases, logs, spooled imports, models."""
LOG_SECONDS = 1.0
"""Time between two log lines with the same reason."""
_MALFORMED = "this is not a valid HTTP/1.1 request; the connection is closed"


def http_protocol(options: ServiceOptions) -> type[HttpProtocol]:
    """The protocol class of one server, with its limits and its count of connections."""

    class LimitedHttpProtocol(HttpProtocol):
        limits = ConnectionLimits(options)

    return LimitedHttpProtocol


class ConnectionLimits:
    """The open connections of one server, in total and by address, and the log of refusals."""

    def __init__(self, options: ServiceOptions, clock: Callable[[], float] = monotonic) -> None:
        self.options = options
        self.max_connections = min(options.connections, _available_files())
        self._clock = clock
        self._total = 0
        self._open: Counter[str] = Counter()
        self._refusals: Counter[str] = Counter()
        self._logged_at: dict[str, float] = {}

    def add(self, address: str) -> None:
        """Count a new connection. RateLimited where there are too many, in total or from this address."""
        if self._total >= self.max_connections:
            self.log("too many connections", address)
            raise RateLimited("the service has too many open connections; retry in a moment", LOG_SECONDS)
        if self._open[address] >= self.options.connections_per_address:
            self.log("too many connections from one address", address)
            raise RateLimited(
                "too many open connections from this address; close some, or use them for several requests",
                LOG_SECONDS,
            )
        self._total += 1
        self._open[address] += 1

    def remove(self, address: str) -> None:
        """Count a connection that was added and has closed."""
        self._total -= 1
        self._open[address] -= 1
        if not self._open[address]:
            del self._open[address]

    def log(self, reason: str, address: str) -> None:
        """Log a refusal, with the number of those since the last line."""
        self._refusals[reason] += 1
        now = self._clock()
        if now - self._logged_at.get(reason, float("-inf")) >= LOG_SECONDS:
            _log.warning("connection refused: %s (%s, %d times)", reason, address, self._refusals.pop(reason))
            self._logged_at[reason] = now


class HttpProtocol(HttpToolsProtocol):
    """Uvicorn's protocol with limits. Requests that it refuses are answered in the error format of the API.

    The bytes of a header that has not ended yet are counted as they arrive, because the parser reports a
    header only when it is complete. The same count covers chunk extensions and trailers of a body.
    """

    limits: ClassVar[ConnectionLimits]
    _address: str
    _is_counted = False
    _error: GieokError | None = None
    """Why a parser callback has refused the request."""
    _header_bytes = 0
    _header_lines = 0
    _bytes_since_body = 0
    """Bytes received since the start of the request or the last byte of its body."""
    _expects_headers = True
    _timer: asyncio.TimerHandle | None = None
    """Time limit of the headers, or of what is discarded after a refusal."""
    _bytes_to_discard: int | None = None
    """Set once the request was refused."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._address = _network_of(self.client[0]) if self.client else "local"
        try:
            self.limits.add(self._address)
        except RateLimited as refused:
            self._answer(refused)
            transport.close()
            return
        self._is_counted = True
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._is_counted:
            self.limits.remove(self._address)
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._bytes_to_discard is not None:
            self._bytes_to_discard -= len(data)
            if self._bytes_to_discard < 0:
                self.transport.abort()
            return
        if self._expects_headers and self._timer is None:
            self._start_timer()
        self._bytes_since_body += len(data)
        super().data_received(data)
        if self._bytes_since_body > self.limits.options.header_bytes and self._bytes_to_discard is None:
            self._refuse(self._headers_too_large())

    def send_400_response(self, msg: str) -> None:
        """Called by uvicorn for input that cannot be parsed, or that a callback below has refused."""
        self._refuse(self._error or InputRefused(_MALFORMED))

    # Callbacks of the parser.

    def on_message_begin(self) -> None:
        self._header_bytes = self._header_lines = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count_header(len(url), lines=0)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count_header(len(name) + len(value) + len(b": \r\n"), lines=1)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._expects_headers = False
        self._stop_timer()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._bytes_since_body = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._bytes_since_body = 0
        self._expects_headers = True
        super().on_message_complete()

    def _count_header(self, size: int, lines: int) -> None:
        options = self.limits.options
        self._header_bytes += size
        self._header_lines += lines
        if self._header_bytes > options.header_bytes or self._header_lines > options.header_lines:
            self._error = self._headers_too_large()
            raise self._error

    def _headers_too_large(self) -> HeadersTooLarge:
        self.limits.log("headers too large", self._address)
        options = self.limits.options
        return HeadersTooLarge(
            f"the request line and headers may have at most {options.header_bytes} bytes and "
            f"{options.header_lines} headers; send a shorter URL, token or cookie"
        )

    # Refusals.

    def _refuse(self, error: GieokError) -> None:
        """Answer and close. Reads on for a while, because a client that is still sending reads no answer."""
        self._stop_timer()
        self._bytes_to_discard = self.limits.options.discard_bytes
        if self.cycle and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.close()
            return
        self._answer(error)
        with suppress(OSError, RuntimeError):
            self.transport.write_eof()
        self._timer = self.loop.call_later(self.limits.options.discard_seconds, self.transport.abort)

    def _answer(self, error: GieokError) -> None:
        answer = respond(problem_of(error))
        headers = [
            *self.server_state.default_headers,
            *answer.raw_headers,
            *COMMON_HEADERS,
            (b"connection", b"close"),
        ]
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        self.transport.write(STATUS_LINE[answer.status_code] + lines + b"\r\n" + bytes(answer.body))

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self.limits.options.header_seconds, self._on_timeout)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_timeout(self) -> None:
        if self.cycle and not self.cycle.response_complete:
            self._start_timer()  # the next request waits for the response to this one
            return
        self.limits.log("headers not received in time", self._address)
        self.transport.abort()


def _network_of(address: str) -> str:
    """The address that is counted: an IPv4 address, or a /64 of IPv6, which one client has as a whole."""
    try:
        ip = ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, IPv6Address):
        return str(ip.ipv4_mapped or IPv6Network((int(ip) >> 64 << 64, 64)))
    return str(ip)


def _available_files() -> int:
    """How many connections the process may open. Raises its soft limit of open files to the hard limit."""
    try:
        import resource  # noqa: PLC0415  not on Windows
    except ImportError:
        return 1 << 20
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
    return 1 << 20 if soft == resource.RLIM_INFINITY else max(soft - RESERVED_FILES, soft // 2)
