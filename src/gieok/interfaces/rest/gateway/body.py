"""The request body: its size, the time it takes to arrive, and strict JSON. Checked before any route runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, get_origin

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.types import Message, Receive, Scope

from gieok.engine.strict_json import JsonRefused, parse_json
from gieok.errors import InputRefused, PayloadTooLarge
from gieok.interfaces.rest.gateway.limits import ServiceOptions
from gieok.interfaces.rest.gateway.multipart import file_part, is_multipart, parse_form

Headers = Mapping[bytes, bytes]

JSON_DEPTH = 65
"""Levels of nesting in a body."""
JSON_ITEMS = 50_000
"""Members of all objects and lists of a body together."""
IDEMPOTENCY_KEY = "idempotency-key"
PARSED_BODY = "gieok.body"
"""Key of the ASGI scope under which the parsed JSON body is passed to the route."""

_SPLIT_IT = "send it in parts"
_SMALLER_FILE = "make the picture smaller, or import the card with `gieok persona import`"
_USE_THE_COMMAND = "the operator of this Gieok can import a larger file with `gieok memory import`"


class ClientGone(Exception):
    """The client disconnected before it had sent the whole body, so nobody waits for an answer."""


class BodyTimeout(InputRefused):
    """The body did not arrive in time. The connection is closed without reading the rest."""


class StrictRoute(APIRoute):
    """A FastAPI route that refuses query parameters, and an Idempotency-Key, that it does not have, and a
    repeated query parameter unless it is a list.

    A client that relies on a key which is ignored would repeat its request and do everything twice.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        known, lists = _query_names(self.dependant), _query_names(self.dependant, only_lists=True)
        takes_key = any(each.alias.lower() == IDEMPOTENCY_KEY for each in self.dependant.header_params)
        allowed = f"it has {', '.join(sorted(known))}" if known else "it has none"

        async def handle_strictly(request: Request) -> Response:
            names = [name for name, _ in request.query_params.multi_items()]
            for name in names:
                if name not in known:
                    raise InputRefused(f"is not a query parameter of this call; {allowed}", at=name[:100])
                if name not in lists and names.count(name) > 1:
                    raise InputRefused("is given more than once; send it once", at=name)
            if not takes_key and IDEMPOTENCY_KEY in request.headers:
                raise InputRefused("is not supported by this call; leave it out", at="Idempotency-Key")
            return await handle(request)

        return handle_strictly


def _query_names(dependant: Dependant, *, only_lists: bool = False) -> set[str]:
    """The query parameters of a route and of its dependencies; of these, those that are lists."""
    own = {
        field.alias
        for field in dependant.query_params
        if not only_lists or get_origin(field.field_info.annotation) in (list, tuple)
    }
    return own.union(*(_query_names(each, only_lists=only_lists) for each in dependant.dependencies))


class JsonRoute(StrictRoute):
    """A route that takes the JSON body as the gateway parsed it, so that it is parsed only once."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_parsed(request: Request) -> Response:
            return await handle(_ParsedRequest(request.scope, request.receive))

        return handle_parsed


class _ParsedRequest(Request):
    async def json(self) -> Any:
        return self.scope[PARSED_BODY]


class RequestBody:
    """The ASGI `receive` of one request, which knows whether more of the body is to come."""

    def __init__(self, headers: Headers, receive: Receive) -> None:
        self.exists = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
        self.has_more = self.exists
        self._receive = receive

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            self.has_more = False
        return message

    async def discard(self, max_bytes: int, seconds: float) -> None:
        """Read the rest of a body that was refused, up to these limits.

        A client that sends its whole body before it reads would get a connection reset instead of the answer.
        """
        discarded = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.has_more and discarded <= max_bytes:
                    discarded += len((await self()).get("body", b""))


async def read_json(scope: Scope, headers: Headers, receive: RequestBody, options: ServiceOptions) -> Receive:
    """Read and parse a JSON body. Puts the value into the scope and returns the `receive` for the route.

    PayloadTooLarge for too many bytes. InputRefused for invalid or ambiguous JSON, and for a body that does
    not arrive in time.
    """
    _check_headers(headers, options)
    body = await _read_in_time(receive, options.body_bytes, options.body_seconds)
    if body:
        try:
            scope[PARSED_BODY] = parse_json(body, depth=JSON_DEPTH, items=JSON_ITEMS)
        except JsonRefused as refused:
            raise InputRefused(str(refused) if refused.at else f"the body: {refused}", refused.at) from None
    return _replay(body, receive)


async def read_form(scope: Scope, headers: Headers, receive: RequestBody, options: ServiceOptions) -> Receive:
    """Read the body of an HTML form. Puts a `Form` into the scope and returns the `receive` for the route.

    A form with files may be as large as a card. PayloadTooLarge, or InputRefused for a malformed body.
    """
    content_type = headers.get(b"content-type", b"")
    limit = options.card_bytes if is_multipart(content_type) else options.body_bytes
    _check_length(headers, limit, _SPLIT_IT)
    body = await _read_in_time(receive, limit, options.body_seconds)
    scope[PARSED_BODY] = parse_form(content_type, body)
    return _replay(b"", receive)


async def read_file(headers: Headers, receive: RequestBody, options: ServiceOptions) -> Receive:
    """Read a multipart body with one file. Returns a `receive` for the route that gives the file only."""
    _check_length(headers, options.card_bytes, _SMALLER_FILE)
    body = await _read_in_time(receive, options.card_bytes, options.body_seconds)
    return _replay(file_part(headers[b"content-type"], body), receive)


async def _read_in_time(receive: RequestBody, limit: int, seconds: float) -> bytes:
    try:
        async with asyncio.timeout(seconds):
            return await _read(receive, limit)
    except TimeoutError:
        receive.has_more = False  # nothing more of it is read
        raise BodyTimeout(f"the body did not arrive within {seconds:g} s") from None


def limit_stream(headers: Headers, receive: Receive, limit: int) -> Receive:
    """A `receive` for a route that reads its body as a stream. PayloadTooLarge after `limit` bytes."""
    _check_length(headers, limit, _USE_THE_COMMAND)
    received = 0

    async def receive_limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise _too_large(limit, _USE_THE_COMMAND)
        return message

    return receive_limited


def _check_headers(headers: Headers, options: ServiceOptions) -> None:
    _check_length(headers, options.body_bytes, _SPLIT_IT)
    media_type, _, parameters = headers.get(b"content-type", b"").partition(b";")
    if media_type.strip().lower() != b"application/json":
        raise InputRefused("must be application/json, and the body JSON", at="Content-Type")
    charset = parameters.strip().lower().replace(b'"', b"")
    if charset not in (b"", b"charset=utf-8", b"charset=utf8"):
        raise InputRefused("must not name a charset other than UTF-8", at="Content-Type")
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise InputRefused("must be omitted: the body may not be compressed", at="Content-Encoding")


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
            raise _too_large(limit, _SPLIT_IT)
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """The whole body as one message, then the messages of the server, such as a disconnect."""
    is_replayed = False

    async def receive_replayed() -> Message:
        nonlocal is_replayed
        if is_replayed:
            return await receive()
        is_replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_replayed


def _too_large(limit: int, remedy: str) -> PayloadTooLarge:
    return PayloadTooLarge(f"the body may have at most {limit} bytes here; {remedy}")
