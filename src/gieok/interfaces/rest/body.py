"""What a client sends, checked before a route sees it: its size, its speed, its form."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.types import Message, Receive, Scope

from gieok.engine.strict_json import JsonRefused, parse_json
from gieok.errors import InputRefused, PayloadTooLarge
from gieok.interfaces.rest.options import ServiceOptions

Headers = Mapping[bytes, bytes]

JSON_DEPTH = 65
"""Levels of nesting in a body."""
JSON_ITEMS = 50_000
"""Members of all objects and lists of a body together."""
PARSED = "gieok.json"
"""Key of the ASGI scope under which the parsed JSON body is passed to the route."""

_IN_PARTS = "send it in parts"
_BY_COMMAND = "whoever runs this Gieok can take in a larger one with `gieok memory import`"


class ClientGone(Exception):
    """The client went away before it had sent everything; there is nobody to answer."""


class BodyLate(InputRefused):
    """The body did not arrive in time. What is left of it is not waited for."""


def has_body(headers: Headers) -> bool:
    return headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers


class JsonRoute(APIRoute):
    """A FastAPI route that uses the JSON body as the gateway parsed it, so that it is parsed only once."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_parsed(request: Request) -> Response:
            return await handle(_ParsedRequest(request.scope, request.receive))

        return handle_parsed


class _ParsedRequest(Request):
    async def json(self) -> Any:
        return self.scope[PARSED]


async def read_json(scope: Scope, headers: Headers, receive: Receive, options: ServiceOptions) -> Receive:
    """Read and parse a JSON body. Returns the `receive` for the route and puts the value into the scope.

    PayloadTooLarge for too many bytes. InputRefused for invalid or ambiguous JSON, and for a body that does
    not arrive in time.
    """
    _check_headers(headers, options)
    try:
        async with asyncio.timeout(options.body_seconds):
            body = await _read(receive, options.body_bytes)
    except TimeoutError:
        raise BodyLate(f"the body did not arrive within {options.body_seconds:g} s") from None
    if body:
        try:
            scope[PARSED] = parse_json(body, depth=JSON_DEPTH, items=JSON_ITEMS)
        except JsonRefused as refused:
            raise InputRefused(str(refused) if refused.at else f"the body: {refused}", refused.at) from None
    return _again(body, receive)


def bounded(headers: Headers, receive: Receive, limit: int) -> Receive:
    """Let a stream through to its route, up to a number of bytes; then PayloadTooLarge."""
    _check_length(headers, limit, _BY_COMMAND)
    taken = 0

    async def receive_some() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > limit:
            raise _too_large(limit, _BY_COMMAND)
        return message

    return receive_some


def _check_headers(headers: Headers, options: ServiceOptions) -> None:
    _check_length(headers, options.body_bytes, _IN_PARTS)
    kind = headers.get(b"content-type", b"").partition(b";")
    if kind[0].strip().lower() != b"application/json":
        raise InputRefused("must be application/json, and the body JSON", at="Content-Type")
    charset = kind[2].strip().lower().replace(b'"', b"")
    if charset not in (b"", b"charset=utf-8", b"charset=utf8"):
        raise InputRefused("must name no other charset than UTF-8", at="Content-Type")
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise InputRefused("must be left out: the body may not be compressed", at="Content-Encoding")


def _check_length(headers: Headers, limit: int, remedy: str) -> None:
    length = headers.get(b"content-length", b"0")
    if not length.isdigit():
        raise InputRefused("must be a number", at="Content-Length")
    if len(length) > 18 or int(length) > limit:
        raise _too_large(limit, remedy)


async def _read(receive: Receive, limit: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise _too_large(limit, _IN_PARTS)
        if not message.get("more_body", False):
            return b"".join((*parts, part)) if parts else part
        parts.append(part)


def _again(body: bytes, receive: Receive) -> Receive:
    """The body at once, then whatever comes after it: that the client went away."""
    waiting = True

    async def receive_again() -> Message:
        nonlocal waiting
        if not waiting:
            return await receive()
        waiting = False
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def _too_large(limit: int, remedy: str) -> PayloadTooLarge:
    return PayloadTooLarge(f"a body may have at most {limit} bytes here; {remedy}")
