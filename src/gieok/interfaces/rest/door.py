"""The one door of the service: every request passes it, and every answer.

In this order, so that a stranger costs little: who calls, how often they called, what they ask for and send,
and a place among the requests at once. Whatever goes wrong inside is answered here, as the contract has it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter

from starlette.types import ASGIApp, Receive, Scope, Send

from gieok.access import Principal
from gieok.app import Gieok
from gieok.errors import Unauthenticated
from gieok.interfaces.rest.body import ClientGone, Headers, bounded, has_body, read_json
from gieok.interfaces.rest.caller import PRINCIPAL
from gieok.interfaces.rest.errors import REQUEST_ID, Problem, failed_outside_steps, told
from gieok.interfaces.rest.limits import Places, Rate
from gieok.interfaces.rest.options import ServiceOptions
from gieok.interfaces.rest.outgoing import Outgoing, request_id
from gieok.interfaces.rest.served import Served, Templates
from gieok.interfaces.rest.target import check_path, check_query, is_open

STREAMED = ("POST", "/api/v1/me/import")
"""The one call whose body is read as a stream, by its route, and is no JSON document."""


class Door:
    """ASGI middleware around all routes. `watch` hears of each request when it is over."""

    def __init__(
        self,
        app: ASGIApp,
        gieok: Gieok,
        options: ServiceOptions,
        templates: Templates,
        watch: Callable[[Served], None],
    ) -> None:
        self._app = app
        self._gieok = gieok
        self._options = options
        self._templates = templates
        self._watch = watch
        self._rate = Rate(options.rate_per_second, options.rate_burst)
        self._places = Places(options.requests_at_once, options.requests_waiting, options.wait_seconds)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        headers: Headers = dict(scope["headers"])
        answer = Outgoing(send, request_id(headers), self._options.stream_seconds)
        scope[REQUEST_ID] = answer.request_id
        try:
            await self._serve(scope, headers, receive, answer)
        finally:
            principal: Principal | None = scope.get(PRINCIPAL)
            self._watch(
                Served(
                    answer.request_id,
                    scope["method"],
                    self._templates.of(scope),
                    answer.status,
                    perf_counter() - started,
                    principal.owner if principal else None,
                )
            )

    async def _serve(self, scope: Scope, headers: Headers, receive: Receive, answer: Outgoing) -> None:
        """Pass a request on, and answer whatever comes of it."""
        try:
            async with asyncio.timeout(self._options.request_seconds) as answer.timer:
                await self._pass(scope, headers, receive, answer)
        except ClientGone:
            return
        except TimeoutError:
            await answer.fail(scope, receive, self._too_late())
        except Exception as error:  # noqa: BLE001  the last place: the answer says so, and the log
            await answer.fail(scope, receive, told(error, answer.request_id))

    async def _pass(self, scope: Scope, headers: Headers, receive: Receive, answer: Outgoing) -> None:
        check_path(scope)
        if is_open(scope, self._options):
            await self._app(scope, receive, answer)
            return
        principal = await self._gieok.tokens.authenticate(_bearer(headers))
        scope[PRINCIPAL] = principal
        self._rate.take(principal.owner)
        check_query(scope)
        if has_body(headers):
            if (scope["method"], scope["path"]) == STREAMED:
                receive = bounded(headers, receive, self._options.upload_bytes)
            else:
                receive = await read_json(scope, headers, receive, self._options)
        await self._places.enter()
        try:
            await self._app(scope, receive, answer)
        finally:
            self._places.leave()

    def _too_late(self) -> Problem:
        message = (
            f"this took longer than {self._options.request_seconds:g} s and was given up; what it was to "
            "store is stored whole or not at all, so look before you try again"
        )
        return failed_outside_steps(message)


def _bearer(headers: Headers) -> str:
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    if scheme.lower() != b"bearer":
        raise Unauthenticated
    return token.strip().decode("latin-1")
