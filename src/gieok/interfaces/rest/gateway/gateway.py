"""ASGI middleware around all routes: every request and every response passes it.

The checks run in this order, so that an unauthenticated client costs little: path, token, rate limit, query
string, body, and a slot among the concurrent requests. Whatever fails inside is answered here in the error
format of the API.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable
from ipaddress import ip_address
from time import perf_counter
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gieok.access import Principal
from gieok.app import Gieok
from gieok.errors import InputRefused, NotFound, Unauthenticated
from gieok.interfaces.console.session import PUBLIC_PREFIXES, console_token, is_console
from gieok.interfaces.rest.gateway.body import (
    ClientGone,
    Headers,
    RequestBody,
    limit_stream,
    read_file,
    read_form,
    read_json,
)
from gieok.interfaces.rest.gateway.caller import PRINCIPAL
from gieok.interfaces.rest.gateway.errors import (
    ERROR_PAGE,
    NO_SUCH_ROUTE,
    REQUEST_ID,
    ErrorPage,
    Problem,
    log_problem,
    request_failed,
    respond,
)
from gieok.interfaces.rest.gateway.limits import (
    CARD_IMPORT,
    IMPORT,
    RateLimiter,
    RequestLimits,
    ServiceOptions,
    SharedRateLimiter,
)
from gieok.interfaces.rest.gateway.logs import FinishedRequest, RouteTemplates
from gieok.interfaces.rest.gateway.metrics import METRICS_PATH
from gieok.interfaces.rest.gateway.multipart import is_multipart

COMMON_HEADERS = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
"""Headers of every response that does not have them already."""
_NO_TOKEN_NEEDED = frozenset({"/healthz", "/readyz", "/docs", "/openapi.json", "/v1/openapi.json"})
_NO_TOKEN_PREFIXES = ("/docs/", *PUBLIC_PREFIXES)
_PLAIN_QUERY = re.compile(rb"[A-Za-z0-9._~=&+:,-]*")
_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_SAFE_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class Gateway:
    """The middleware. `on_finish` is called after each request; `error_page` shows errors of the console."""

    def __init__(
        self,
        app: ASGIApp,
        gieok: Gieok,
        options: ServiceOptions,
        templates: RouteTemplates,
        on_finish: Callable[[FinishedRequest], None],
        error_page: ErrorPage,
    ) -> None:
        self._app = app
        self._gieok = gieok
        self._options = options
        self._templates = templates
        self._on_finish = on_finish
        self._error_page = error_page
        rate, burst = options.rate_per_second, options.rate_burst
        self._rate = RateLimiter(rate, burst)
        self._shared_rate = SharedRateLimiter(gieok.cache, rate, burst) if gieok.cache else None
        self._limits = RequestLimits(options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        headers: Headers = dict(scope["headers"])
        body = RequestBody(headers, receive)
        response = ResponseSender(send, body, _request_id(headers), self._options)
        scope[REQUEST_ID] = response.request_id
        try:
            await self._handle(scope, headers, body, response)
        finally:
            principal: Principal | None = scope.get(PRINCIPAL)
            self._on_finish(
                FinishedRequest(
                    request_id=response.request_id,
                    method=scope["method"],
                    route=self._templates.of(scope),
                    status=response.status,
                    seconds=perf_counter() - started,
                    owner=principal.owner if principal else None,
                )
            )

    async def _handle(
        self, scope: Scope, headers: Headers, body: RequestBody, response: ResponseSender
    ) -> None:
        """Check the request, run its route, and answer any error."""
        try:
            async with asyncio.timeout(self._options.request_seconds) as response.timer:
                await self._check_and_run(scope, headers, body, response)
        except ClientGone:
            return
        except TimeoutError:
            await response.fail(scope, body, self._timed_out())
        except Exception as error:  # noqa: BLE001  the outermost handler: it answers and logs every error
            await response.fail(scope, body, log_problem(error, response.request_id))

    async def _check_and_run(
        self, scope: Scope, headers: Headers, body: RequestBody, response: ResponseSender
    ) -> None:
        is_page = is_console(scope["path"])
        if is_page:
            scope[ERROR_PAGE] = self._error_page
        _check_path(scope)
        if self._needs_no_token(scope):
            receive = (
                await read_form(scope, headers, body, self._options) if is_page and body.exists else body
            )
            await self._app(scope, receive, response)
            return
        token = console_token(headers) if is_page else _bearer_token(scope)
        principal = await self._gieok.tokens.authenticate(token)
        scope[PRINCIPAL] = principal
        self._rate.take(principal.owner)
        if self._shared_rate is not None:
            await self._shared_rate.take(principal.owner)
        _check_query(scope)
        receive: Receive = body
        request = (scope["method"], scope["path"])
        is_file = request == CARD_IMPORT and is_multipart(headers.get(b"content-type", b""))
        if body.exists and not is_file:
            if is_page:
                receive = await read_form(scope, headers, body, self._options)
            elif request == IMPORT:
                receive = limit_stream(headers, body, self._options.upload_bytes)
                response.allow_stream_time()
            else:
                receive = await read_json(scope, headers, body, self._options)
        async with self._limits.of(*request).slot(principal.owner):
            if is_file:  # large, so that it is read only within a slot
                receive = await read_file(headers, body, self._options)
            await self._app(scope, receive, response)

    def _needs_no_token(self, scope: Scope) -> bool:
        path: str = scope["path"]
        if path in _NO_TOKEN_NEEDED or path.startswith(_NO_TOKEN_PREFIXES):
            return True
        return path == METRICS_PATH and self._options.metrics_open and _is_local(scope)

    def _timed_out(self) -> Problem:
        return request_failed(
            f"this took longer than {self._options.request_seconds:g} s and was cancelled; it was stored "
            "completely or not at all, so check before you retry"
        )


class ResponseSender:
    """The ASGI `send` of one request. Adds the common headers and gives a stream its own time limit.

    An answer that comes before the whole body closes the connection, after discarding the rest of the body.
    """

    def __init__(self, send: Send, body: RequestBody, request_id: str, options: ServiceOptions) -> None:
        self.request_id = request_id
        self.status = 0
        """0 until the response has started."""
        self.timer: asyncio.Timeout | None = None
        """The time limit of the request; None once the request has failed."""
        self._send = send
        self._body = body
        self._is_early = False
        """Whether the answer began before the whole body had arrived."""
        self._options = options

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message.get("headers", ())]
            is_stream = all(name != b"content-length" for name, _ in headers)
            if is_stream:
                self.allow_stream_time()
            request_id = (b"x-request-id", self.request_id.encode("ascii"))
            given = {name for name, _ in headers}
            common = [each for each in COMMON_HEADERS if each[0] not in given]
            message["headers"] = [*headers, *common, request_id]
            self._is_early = self._body.has_more
            if self._is_early:
                message["headers"].append((b"connection", b"close"))
        elif self._is_early and not message.get("more_body", False):
            await self._send({**message, "more_body": True})
            await self._body.discard(self._options.discard_bytes, self._options.discard_seconds)
            message = {"type": "http.response.body", "body": b""}
        await self._send(message)

    def allow_stream_time(self) -> None:
        """Give the request the time limit of a stream from now on."""
        if self.timer is not None:
            self.timer.reschedule(asyncio.get_running_loop().time() + self._options.stream_seconds)

    async def fail(self, scope: Scope, receive: Receive, problem: Problem) -> None:
        """Send an error. A response that has started cannot be changed: the server closes the connection."""
        self.timer = None
        if not self.status:
            await respond(problem, scope)(scope, receive, self)


def _request_id(headers: Headers) -> str:
    """The client's X-Request-Id if it is safe to log, else a new id."""
    given = headers.get(b"x-request-id", b"")
    return given.decode("ascii") if _SAFE_ID.fullmatch(given) else os.urandom(16).hex()


def _bearer_token(scope: Scope) -> str:
    """The token of the only Authorization header. Proxies and services disagree on which of two counts."""
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
    if scheme.lower() != b"bearer":
        raise Unauthenticated
    return token.strip().decode("latin-1")


def _check_path(scope: Scope) -> None:
    """NotFound for a path that contains a NUL or is not UTF-8: no route has one."""
    path: str = scope["path"]
    if "\x00" in path or "\ufffd" in path:
        raise NotFound(NO_SUCH_ROUTE)


def _check_query(scope: Scope) -> None:
    """InputRefused for a query string that is malformed or ambiguous."""
    query: bytes = scope["query_string"]
    if _PLAIN_QUERY.fullmatch(query):
        return
    if _BROKEN_ESCAPE.search(query):
        raise InputRefused(
            "the query string has a % without two hexadecimal digits after it; write a plain % as %25"
        )
    try:
        text = unquote_to_bytes(query).decode("utf-8")
    except UnicodeDecodeError:
        raise InputRefused("the query string is not UTF-8") from None
    if "\x00" in text:
        raise InputRefused("the query string contains a NUL")


def _is_local(scope: Scope) -> bool:
    client = scope.get("client")
    try:
        return client is not None and ip_address(client[0]).is_loopback
    except ValueError:
        return False
