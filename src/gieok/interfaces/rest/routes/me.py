"""All data of an owner: export, import and erasure."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic.alias_generators import to_camel
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from gieok.interfaces.rest.gateway.body import ClientGone, JsonRoute, StrictRoute
from gieok.interfaces.rest.gateway.caller import Owner, Reader, Writer
from gieok.interfaces.rest.schema.common import failures
from gieok.interfaces.rest.schema.me import ErasedAnswer, ImportedAnswer, ProfileAnswer, SetProfile
from gieok.interfaces.rest.schema.params import IdempotencyKey, request_key

NDJSON = "application/x-ndjson"
_LINES = {"content": {NDJSON: {"schema": {"type": "string"}}}}

router = APIRouter(prefix="/me", tags=["me"], route_class=StrictRoute)
json_router = APIRouter(prefix="/me", tags=["me"], route_class=JsonRoute)


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={**failures(), 200: {**_LINES, "description": "One record per line, each with its `kind`."}},
    summary="Export all data",
)
async def export(caller: Owner) -> Response:
    """A decrypted snapshot of everything the owner has. The last line has the number of records."""
    chunks = caller.user.data.export()
    return ExportResponse(await anext(chunks), chunks)


@router.post(
    "/import",
    responses=failures(409),
    openapi_extra={"requestBody": {**_LINES, "required": True}},
    summary="Import exported data",
)
async def import_(
    request: Request,
    caller: Owner,
    dry_run: Annotated[bool, Query(alias="dryRun", description="Store nothing.")] = False,
    idempotency_key: IdempotencyKey = None,
) -> ImportedAnswer:
    """Everything is imported, or nothing. Importing the same data again changes nothing.

    With an Idempotency-Key, a repeated request gets the same answer instead of counts of unchanged records.
    With `dryRun` it answers what would be imported.
    """
    data = caller.user.data
    if dry_run:
        imported = await data.preview_import(_body_chunks(request))
    else:
        imported = await data.import_(_body_chunks(request), once=idempotency_key)
    return ImportedAnswer(imported=imported.counts, unchanged=imported.unchanged)


@router.delete("", responses=failures(), summary="Erase all data permanently")
async def erase(caller: Owner) -> ErasedAnswer:
    """Destroys the owner's key, then deletes the rows. Every token of the owner is refused from then on."""
    receipt = await caller.user.data.erase()
    erased = {to_camel(table): rows for table, rows in receipt.erased.items()}
    return ErasedAnswer(erased=erased, key_destroyed=receipt.key_destroyed, at=receipt.at)


@json_router.get("/profile", responses=failures(), summary="Get the profile")
async def get_profile(caller: Reader) -> ProfileAnswer:
    """Display name, timezone and language: what every persona may know of the user."""
    return ProfileAnswer(**dict(await caller.user.profile.get()))


@json_router.put("/profile", responses=failures(409), summary="Change the profile")
async def set_profile(
    body: SetProfile, caller: Writer, idempotency_key: IdempotencyKey = None
) -> ProfileAnswer:
    """`timezone` says whose days are meant. Without it they are those of the service."""
    given = {name: getattr(body, name) for name in body.model_fields_set}
    once = request_key(idempotency_key, body, *given)
    return ProfileAnswer(**dict(await caller.user.profile.set(once=once, **given)))


class ExportResponse(StreamingResponse):
    """A stream that ends its read transaction when the client disconnects."""

    def __init__(self, first: bytes, rest: AsyncGenerator[bytes]) -> None:
        super().__init__(_join(first, rest), media_type=NDJSON)
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._rest.aclose()


async def _join(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk


async def _body_chunks(request: Request) -> AsyncIterator[bytes]:
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect:
        raise ClientGone from None
