"""Relations between decisions."""

from __future__ import annotations

from fastapi import APIRouter

from gieok.errors import NotFound
from gieok.interfaces.rest.body import JsonRoute
from gieok.interfaces.rest.caller import Reader, Writer
from gieok.interfaces.rest.schema.common import failures
from gieok.interfaces.rest.schema.decisions import RelationAnswer, RelationIn, RelationsAnswer
from gieok.interfaces.rest.schema.params import DecisionPath, RelationPath

router = APIRouter(prefix="/{rootId}/relations", route_class=JsonRoute)


@router.post("", status_code=201, responses=failures(404), summary="Relate a decision to another")
async def relate(root_id: DecisionPath, body: RelationIn, caller: Writer) -> RelationAnswer:
    """`target` is the root of the other decision. Declaring it again gives back the first."""
    return RelationAnswer(relation=await caller.user.decisions.relate(root_id, body.type, body.target))


@router.get("", responses=failures(404), summary="The relations of a decision")
async def list_(root_id: DecisionPath, caller: Reader) -> RelationsAnswer:
    """Those that begin at it and those that end at it."""
    await caller.user.decisions.get(root_id)
    return RelationsAnswer(relations=tuple(await caller.user.decisions.relations(root_id)))


@router.delete("/{id}", responses=failures(404), summary="Take a relation back")
async def unrelate(root_id: DecisionPath, relation_id: RelationPath, caller: Writer) -> RelationAnswer:
    """Answers what it was."""
    known = await caller.user.decisions.relations(root_id)
    if relation_id not in {relation.id for relation in known}:
        raise NotFound(f"there is no relation {relation_id}")
    return RelationAnswer(relation=await caller.user.decisions.unrelate(relation_id))
