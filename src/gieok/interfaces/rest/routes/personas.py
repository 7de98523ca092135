"""Personas: written by their author, and changed by nothing else."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from gieok.app.canon import MAX_PAGE
from gieok.interfaces.rest.body import JsonRoute
from gieok.interfaces.rest.caller import Reader, Writer
from gieok.interfaces.rest.routes import state
from gieok.interfaces.rest.schema.common import Ref, failures
from gieok.interfaces.rest.schema.params import (
    AfterVersion,
    IdempotencyKey,
    IfMatch,
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
    EditPersona,
    PersonaAnswer,
    PersonasAnswer,
    PersonaVersionsAnswer,
    to_persona_draft,
)

router = APIRouter(prefix="/personas", tags=["personas"], route_class=JsonRoute)
router.include_router(state.router)

Page = Annotated[int, Query(ge=1, le=MAX_PAGE, description="How many at most.")]


@router.post("", status_code=201, responses=failures(409), summary="Create a persona")
async def create(
    body: CreatePersona, caller: Writer, idempotency_key: IdempotencyKey = None
) -> PersonaAnswer:
    """Under an id of its own, or the given one; 409 `CONFLICT` where that is taken."""
    card = await caller.user.personas.create(
        to_persona_draft(body), persona_id=body.id, once=request_key(idempotency_key, body)
    )
    return PersonaAnswer(persona=card)


@router.get("", responses=failures(404), summary="All personas")
async def list_(
    caller: Reader,
    after: Annotated[Ref | None, Query()] = None,
    limit: Page = MAX_PAGE,
) -> PersonasAnswer:
    """In the order of their creation; `after` is the id of the last one seen."""
    personas = caller.user.personas
    cards = await personas.list(after=after, limit=limit)
    more = await has_more(cards, limit, lambda last: personas.list(after=last.id, limit=1))
    return PersonasAnswer(personas=tuple(cards), has_more=more)


@router.get("/{id}", responses=failures(404), summary="One persona")
async def get(persona_id: PersonaPath, caller: Reader, response: Response) -> PersonaAnswer:
    """As its author last wrote it. Its `ETag` is for a later edit with `If-Match`."""
    card = await caller.user.personas.get(persona_id)
    response.headers["ETag"] = etag(card.version)
    return PersonaAnswer(persona=card)


@router.put("/{id}", responses=failures(404, 409), summary="Edit a persona")
async def edit(
    persona_id: PersonaPath, body: EditPersona, if_match: IfMatch, caller: Writer, response: Response
) -> PersonaAnswer:
    """The whole persona as it is to be; a new version where anything is different."""
    version = expected_version(if_match, body.expected_version, "expectedVersion")
    card = await caller.user.personas.edit(persona_id, to_persona_draft(body), expected_version=version)
    response.headers["ETag"] = etag(card.version)
    return PersonaAnswer(persona=card)


@router.get("/{id}/versions", responses=failures(404), summary="Every version of a persona")
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


@router.get("/{id}/memory-config", responses=failures(404), summary="What is set for a persona's memories")
async def config(persona_id: PersonaPath, caller: Reader) -> ConfigAnswer:
    """With the numbers of active and archived memories."""
    await caller.user.personas.get(persona_id)
    companion = caller.user.companion
    return ConfigAnswer(config=await companion.config(persona_id), counts=await companion.counts(persona_id))


@router.put("/{id}/memory-config", responses=failures(404), summary="Set how a persona remembers")
async def configure(persona_id: PersonaPath, body: ConfigureMemories, caller: Writer) -> ConfigAnswer:
    """`recall: false` keeps memories out of prompts; they are kept and listed as before."""
    await caller.user.personas.get(persona_id)
    companion = caller.user.companion
    before = await companion.config(persona_id)
    config = before.model_copy(update={name: getattr(body, name) for name in body.model_fields_set})
    await companion.configure(persona_id, config)
    return ConfigAnswer(config=config, counts=await companion.counts(persona_id))
