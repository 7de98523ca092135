"""The owner's own data: all of it out, all of it in, and all of it gone for good."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from pydantic.alias_generators import to_camel
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from gieok.interfaces.rest.body import ClientGone
from gieok.interfaces.rest.caller import Owner
from gieok.interfaces.rest.schema.common import failures
from gieok.interfaces.rest.schema.me import ErasedAnswer, ImportedAnswer

NDJSON = "application/x-ndjson"
_LINES = {"content": {NDJSON: {"schema": {"type": "string"}}}}

router = APIRouter(prefix="/me", tags=["me"])


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={**failures(), 200: {**_LINES, "description": "One record a line, each with its `kind`."}},
    summary="Take everything along",
)
async def export(caller: Owner) -> Response:
    """Everything the owner has, in clear, of one moment. The last line counts the records before it."""
    pieces = caller.user.data.export()
    return _Export(await anext(pieces), pieces)


@router.post(
    "/import",
    responses=failures(409),
    openapi_extra={"requestBody": {**_LINES, "required": True}},
    summary="Bring everything along",
)
async def import_(request: Request, caller: Owner) -> ImportedAnswer:
    """What an export gave, here or elsewhere: all of it, or nothing. Twice is the same as once."""
    taken = await caller.user.data.import_(_received(request))
    return ImportedAnswer(imported=taken.counts, unchanged=taken.unchanged)


@router.delete("", responses=failures(), summary="Erase everything, for good")
async def erase(caller: Owner) -> ErasedAnswer:
    """The key is destroyed first, then the rows. From then on every token of the owner is refused."""
    receipt = await caller.user.data.erase()
    erased = {to_camel(table): rows for table, rows in receipt.erased.items()}
    return ErasedAnswer(erased=erased, key_destroyed=receipt.key_destroyed, at=receipt.at)


class _Export(StreamingResponse):
    """A stream that lets go of its view of the database as soon as its reader has."""

    def __init__(self, first: bytes, rest: AsyncGenerator[bytes]) -> None:
        super().__init__(_joined(first, rest), media_type=NDJSON)
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._rest.aclose()


async def _joined(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece


async def _received(request: Request) -> AsyncIterator[bytes]:
    try:
        async for piece in request.stream():
            yield piece
    except ClientDisconnect:
        raise ClientGone from None
