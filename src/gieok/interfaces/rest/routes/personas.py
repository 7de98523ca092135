"""Personas, and the facts (canon state) between a user and a persona."""

from __future__ import annotations

from dataclasses import asdict
from hashlib import sha256
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from gieok import wire
from gieok.app.canon import MAX_PAGE
from gieok.interfaces.rest.gateway.body import JsonRoute, StrictRoute
from gieok.interfaces.rest.gateway.caller import Reader, Writer
from gieok.interfaces.rest.schema.common import MessageTime, Ref, failures, json_response
from gieok.interfaces.rest.schema.params import (
    AfterVersion,
    FactPath,
    IdempotencyKey,
    IfMatch,
    Limit,
    PersonaPath,
    etag,
    expected_version,
    has_more,
    request_key,
)
from gieok.interfaces.rest.schema.personas import (
    ConfigAnswer,
    ConfigureMemories,
    CreatePersona,
    DeletedPersonaAnswer,
    EditPersona,
    FactAnswer,
    FactVersionsAnswer,
    ImportedPersonaAnswer,
    MomentsAnswer,
    PersonaAnswer,
    PersonasAnswer,
    PersonaVersionsAnswer,
    SetFact,
    StateAnswer,
    state_view,
    to_persona_draft,
)
from gieok.memory.requests import RequestKey

AsOf = Annotated[
    MessageTime | None, Query(alias="asOf", description="A moment, such as 2025-10-27T12:00:00Z.")
]

router = APIRouter(prefix="/personas", tags=["personas"], route_class=JsonRoute)
file_router = APIRouter(prefix="/personas", tags=["personas"], route_class=StrictRoute)
_CARD = {
    "multipart/form-data": {
        "schema": {
            "type": "object",
            "required": ["file"],
            "properties": {"file": {"type": "string", "format": "binary"}},
        }
    },
    "application/json": {"schema": {"type": "object"}},
}

Page = Annotated[int, Query(ge=1, le=MAX_PAGE, description="The maximum number.")]


@router.post("", status_code=201, responses=failures(409), summary="Create a persona")
async def create(
    body: CreatePersona, caller: Writer, idempotency_key: IdempotencyKey = None
) -> PersonaAnswer:
    """With a generated id or the given one. 409 `CONFLICT` if the id is in use."""
    card = await caller.user.personas.create(
        to_persona_draft(body), persona_id=body.id, once=request_key(idempotency_key, body)
    )
    return PersonaAnswer(persona=card)


@file_router.post(
    "/import",
    status_code=201,
    responses=failures(404, 409),
    openapi_extra={"requestBody": {"required": True, "content": _CARD}},
    summary="Import a character card or a lorebook",
)
async def import_(
    request: Request,
    caller: Writer,
    persona_id: Annotated[
        Ref | None, Query(alias="personaId", description="The persona that gets the file as a new version.")
    ] = None,
    dry_run: Annotated[bool, Query(alias="dryRun", description="Store nothing.")] = False,
    idempotency_key: IdempotencyKey = None,
) -> ImportedPersonaAnswer:
    """A card V2 or V3: a PNG, JSON or CHARX as the part `file`, or the JSON itself. Makes a new persona.

    A lorebook (World Info, `lorebook_v3`) needs `personaId`, and is added to that persona. `kept` are fields
    that Gieok does not use and an export gives back; `leftOut` are parts that are not kept, such as pictures.
    With `dryRun` it answers the persona as it would be stored, a new one with the id `preview`.
    """
    content = await request.body()
    key = None
    if idempotency_key is not None and not dry_run:
        target = (persona_id or "").encode()
        key = RequestKey(key=idempotency_key, body=sha256(content).digest() + target)
    done = await caller.user.personas.import_file(content, persona_id=persona_id, dry_run=dry_run, once=key)
    return ImportedPersonaAnswer(
        persona=done.persona,
        lorebook=wire.LorebookSize(entries=done.entries),
        kept=done.kept,
        left_out=done.left_out,
    )


@router.get("", responses=failures(404), summary="List personas")
async def list_(
    caller: Reader,
    after: Annotated[Ref | None, Query()] = None,
    limit: Page = MAX_PAGE,
) -> PersonasAnswer:
    """In order of creation. `after` is the id of the last persona of the previous page."""
    personas = caller.user.personas
    cards = await personas.list(after=after, limit=limit)
    more = await has_more(cards, limit, lambda last: personas.list(after=last.id, limit=1))
    return PersonasAnswer(personas=tuple(cards), has_more=more)


@router.get("/{id}", responses=failures(404), summary="Get a persona")
async def get(persona_id: PersonaPath, caller: Reader, response: Response) -> PersonaAnswer:
    """The newest version. Send its `ETag` as `If-Match` with a later edit."""
    card = await caller.user.personas.get(persona_id)
    response.headers["ETag"] = etag(card.version)
    return PersonaAnswer(persona=card)


@router.put("/{id}", responses=failures(404, 409), summary="Edit a persona")
async def edit(
    persona_id: PersonaPath,
    body: EditPersona,
    if_match: IfMatch,
    caller: Writer,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> PersonaAnswer:
    """Replaces the whole persona. Creates a new version if anything differs."""
    version = expected_version(if_match, body.expected_version, "expectedVersion")
    card = await caller.user.personas.edit(
        persona_id,
        to_persona_draft(body),
        expected_version=version,
        once=request_key(idempotency_key, body, persona_id, str(version)),
    )
    response.headers["ETag"] = etag(card.version)
    return PersonaAnswer(persona=card)


@router.delete("/{id}", responses=failures(404, 409), summary="Delete a persona")
async def delete(
    persona_id: PersonaPath, caller: Writer, idempotency_key: IdempotencyKey = None
) -> DeletedPersonaAnswer:
    """Permanently, with everything that belongs to it: facts, memories, sessions and their messages."""
    once = request_key(idempotency_key, None, persona_id)
    deleted = await caller.user.personas.delete(persona_id, once=once)
    return DeletedPersonaAnswer(deleted=wire.DeletedPersona(**asdict(deleted)))


@router.get("/{id}/versions", responses=failures(404), summary="List all versions of a persona")
async def versions(
    persona_id: PersonaPath, caller: Reader, after: AfterVersion = 0, limit: Page = MAX_PAGE
) -> PersonaVersionsAnswer:
    """Oldest first."""
    personas = caller.user.personas
    cards = await personas.versions(persona_id, after=after, limit=limit)
    more = await has_more(
        cards, limit, lambda last: personas.versions(persona_id, after=last.version, limit=1)
    )
    return PersonaVersionsAnswer(versions=tuple(cards), has_more=more)


@router.get(
    "/{id}/moments", response_model=MomentsAnswer, responses=failures(404), summary="List emotional moments"
)
async def moments(
    persona_id: PersonaPath, caller: Reader, limit: Limit = 10, cursor: str | None = None
) -> Response:
    """Newest first. `cursor` is the `nextCursor` of the previous page."""
    await caller.user.personas.get(persona_id)
    page = await caller.user.companion.moments(persona_id, limit=limit, cursor=cursor)
    return json_response(MomentsAnswer(**dict(page)), caller.language)


@router.get("/{id}/memory-config", responses=failures(404), summary="Get the memory settings of a persona")
async def config(persona_id: PersonaPath, caller: Reader) -> ConfigAnswer:
    """With the counts of active and archived memories."""
    await caller.user.personas.get(persona_id)
    companion = caller.user.companion
    return ConfigAnswer(config=await companion.config(persona_id), counts=await companion.counts(persona_id))


@router.put(
    "/{id}/memory-config", responses=failures(404, 409), summary="Change the memory settings of a persona"
)
async def configure(
    persona_id: PersonaPath,
    body: ConfigureMemories,
    caller: Writer,
    idempotency_key: IdempotencyKey = None,
) -> ConfigAnswer:
    """`recall: false` keeps memories out of prompts. They are still stored and listed."""
    await caller.user.personas.get(persona_id)
    companion = caller.user.companion
    before = await companion.config(persona_id)
    config = before.model_copy(update={name: getattr(body, name) for name in body.model_fields_set})
    once = request_key(idempotency_key, body, persona_id, *sorted(body.model_fields_set))
    config = await companion.configure(persona_id, config, once=once)
    return ConfigAnswer(config=config, counts=await companion.counts(persona_id))


@router.get("/{id}/state", responses=failures(404), summary="Get the current state")
async def get_state(persona_id: PersonaPath, caller: Reader, as_of: AsOf = None) -> StateAnswer:
    """The facts that go into prompts, the block that states them there, and the ordinary facts.

    With `asOf` what was recorded by that moment and current then.
    """
    return StateAnswer(**dict(state_view(await caller.user.canon.state(persona_id, as_of=as_of))))


@router.put("/{id}/state", responses=failures(404, 409), summary="Set a fact")
async def set_fact(
    persona_id: PersonaPath, body: SetFact, caller: Writer, idempotency_key: IdempotencyKey = None
) -> FactAnswer:
    """Supersedes the active fact with that key, or else the one in the same slot. The history stays."""
    change = await caller.user.canon.set_fact(
        persona_id,
        body.category,
        body.key,
        body.value,
        importance=body.importance,
        subject=body.subject,
        when=body.when,
        until=body.until,
        once=request_key(idempotency_key, body, persona_id),
    )
    return FactAnswer(**dict(change))


@router.get("/{id}/state/{rootId}/history", responses=failures(404), summary="List all versions of a fact")
async def fact_history(
    persona_id: PersonaPath,
    root_id: FactPath,
    caller: Reader,
    after: AfterVersion = 0,
    limit: Limit = MAX_PAGE,
) -> FactVersionsAnswer:
    """Oldest first. No version is active if the fact was retired."""
    canon = caller.user.canon
    versions = await canon.history(persona_id, root_id, after=after, limit=limit)
    more = await has_more(
        versions, limit, lambda last: canon.history(persona_id, root_id, after=last.version, limit=1)
    )
    return FactVersionsAnswer(versions=tuple(versions), has_more=more)


@router.delete("/{id}/state/{rootId}", responses=failures(404, 409), summary="Retire a fact")
async def retire_fact(
    persona_id: PersonaPath, root_id: FactPath, caller: Writer, idempotency_key: IdempotencyKey = None
) -> FactAnswer:
    """It no longer applies. Its history stays."""
    once = request_key(idempotency_key, None, persona_id, str(root_id))
    return FactAnswer(**dict(await caller.user.canon.retire_fact(persona_id, root_id, once=once)))
