"""What is true by now between a user and a persona."""

from __future__ import annotations

from fastapi import APIRouter

from gieok.app.canon import MAX_PAGE
from gieok.interfaces.rest.body import JsonRoute
from gieok.interfaces.rest.caller import Reader, Writer
from gieok.interfaces.rest.schema.common import failures
from gieok.interfaces.rest.schema.params import AfterVersion, FactPath, Limit, PersonaPath, has_more
from gieok.interfaces.rest.schema.personas import (
    FactAnswer,
    FactVersionsAnswer,
    SetFact,
    StateAnswer,
)
from gieok.memory.canon.records import STATE

router = APIRouter(prefix="/{id}/state", route_class=JsonRoute)


@router.get("", responses=failures(404), summary="The current state")
async def get(persona_id: PersonaPath, caller: Reader) -> StateAnswer:
    """The facts that a prompt tells and the block by which it does; then the ordinary facts."""
    state = await caller.user.canon.state(persona_id)
    facts = await caller.user.canon.facts(persona_id, limit=MAX_PAGE)
    return StateAnswer(
        facts=tuple(fact for fact in facts if fact.category in STATE),
        block=state.block,
        chars=state.chars,
        ordinary=tuple(fact for fact in facts if fact.category not in STATE),
    )


@router.put("", responses=failures(404), summary="Set a fact by hand")
async def put(persona_id: PersonaPath, body: SetFact, caller: Writer) -> FactAnswer:
    """It supersedes the active one with that key, whose version stays in the history."""
    change = await caller.user.canon.set_fact(
        persona_id, body.category, body.key, body.value, importance=body.importance
    )
    return FactAnswer(**dict(change))


@router.get("/{rootId}/history", responses=failures(404), summary="Every version of a fact")
async def history(
    persona_id: PersonaPath,
    root_id: FactPath,
    caller: Reader,
    after: AfterVersion = 0,
    limit: Limit = MAX_PAGE,
) -> FactVersionsAnswer:
    """Oldest first. None is active where the fact was retired."""
    canon = caller.user.canon
    versions = await canon.history(persona_id, root_id, after=after, limit=limit)
    more = await has_more(
        versions, limit, lambda last: canon.history(persona_id, root_id, after=last.version, limit=1)
    )
    return FactVersionsAnswer(versions=tuple(versions), has_more=more)


@router.delete("/{rootId}", responses=failures(404), summary="Retire a fact")
async def retire(persona_id: PersonaPath, root_id: FactPath, caller: Writer) -> FactAnswer:
    """It holds no longer; its history stays."""
    return FactAnswer(**dict(await caller.user.canon.retire_fact(persona_id, root_id)))
