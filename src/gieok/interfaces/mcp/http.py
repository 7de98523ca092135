"""`/mcp` in the service: Streamable HTTP without sessions, for 2026-07-28 and for 2025-11-25 and before.

The gateway has authenticated the request and applied its limits. A request is answered with JSON, never with
a stream, so that any process of the service can answer it.
"""

from __future__ import annotations

import asyncio
from functools import cache
from importlib.util import find_spec
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gieok.access import Principal
from gieok.app import Gieok
from gieok.errors import Forbidden, NotFound
from gieok.interfaces.rest.gateway.caller import PRINCIPAL, language_of
from gieok.interfaces.rest.gateway.errors import Problem, problem_of, respond

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

    from gieok.interfaces.mcp.tools import Client

PATH = "/mcp"
PERSONA = "x-gieok-persona"
"""Header with the persona of calls that name none."""


def add_mcp(app: FastAPI) -> None:
    """Add `/mcp`, if the package `mcp` is installed. It is loaded by the first request: it takes a while."""
    if find_spec("mcp") is not None:
        methods = ["POST", "GET", "DELETE"]
        app.router.routes.append(Route(PATH, McpEndpoint(), methods=methods, include_in_schema=False))


class McpEndpoint:
    """The ASGI application at `/mcp`."""

    def __init__(self) -> None:
        self._server: Server[Any] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if problem := _check(scope):
            await respond(problem)(scope, receive, send)
            return
        if self._server is None:
            self._server = await asyncio.to_thread(_load)
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415

        # One for each request: its tasks end with the request, whatever happens.
        manager = StreamableHTTPSessionManager(self._server, stateless=True, json_response=True)
        async with manager.run():
            await manager.handle_request({**scope, "headers": _stripped(scope)}, receive, send)


def _check(scope: Scope) -> Problem | None:
    """Refuse requests for a stream (GET) or about a session (DELETE), and requests from web pages.

    A web page on another site could otherwise reach a service on the user's own machine (DNS rebinding).
    """
    if scope["method"] != "POST":
        other = problem_of(NotFound("this is an MCP endpoint without streams and sessions: send POST"))
        return Problem(405, other.code, other.message, other.details, {"Allow": "POST"})
    origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
    if not all(map(_is_local, origins)):
        return problem_of(Forbidden("MCP is not for web pages; call it without the header Origin"))
    return None


def _stripped(scope: Scope) -> list[tuple[bytes, bytes]]:
    """The headers without the whitespace around their values, which the server's parser leaves there."""
    return [(name, value.strip(b" \t")) for name, value in scope["headers"]]


def _is_local(origin: str) -> bool:
    try:
        host = urlsplit(origin).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


@cache
def _load() -> Server[Any]:
    from gieok.interfaces.mcp.server import create_server  # noqa: PLC0415  loads the package mcp

    return create_server(_client_of)


def _client_of(ctx: ServerRequestContext[Any, Any]) -> Client:
    from gieok.interfaces.mcp.tools import Client  # noqa: PLC0415  as above

    request = cast(Request, ctx.request)
    principal = cast(Principal, request.scope[PRINCIPAL])
    return Client(
        user=cast(Gieok, request.app.state.gieok).user(principal.owner),
        scopes=principal.scopes,
        account_plan=principal.account_plan,
        language=language_of(request.headers.get("accept-language")),
        persona_id=request.headers.get(PERSONA) or None,
    )
