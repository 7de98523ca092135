"""Evidence and anchors."""

from __future__ import annotations

from fastapi import APIRouter, Response

from gieok.interfaces.rest.body import JsonRoute
from gieok.interfaces.rest.caller import Reader, Writer
from gieok.interfaces.rest.schema.common import failures
from gieok.interfaces.rest.schema.decisions import (
    AddAnchor,
    AnchorAnswer,
    AnchorsAnswer,
    EvidenceAnswer,
    EvidenceCardAnswer,
    KeepEvidence,
)
from gieok.interfaces.rest.schema.params import MAX_PAGE, EvidencePath, Limit, SessionFilter
from gieok.memory.decisions.records import Target

router = APIRouter(tags=["decisions"], route_class=JsonRoute)


@router.post(
    "/evidence",
    status_code=201,
    responses={**failures(), 200: {"model": EvidenceCardAnswer, "description": "It was kept before."}},
    summary="Keep a snapshot of a source",
)
async def keep(body: KeepEvidence, caller: Writer, response: Response) -> EvidenceCardAnswer:
    """The same content is kept once, under the title that it had first: then this answers 200."""
    known = await caller.user.decisions.find_evidence(body.content)
    if known is not None:
        response.status_code = 200
        return EvidenceCardAnswer(evidence=known)
    card = await caller.user.decisions.keep_evidence(body.title, body.content, body.source)
    return EvidenceCardAnswer(evidence=card)


@router.get("/evidence/{id}", responses=failures(404), summary="Evidence, word for word")
async def get(evidence_id: EvidencePath, caller: Reader) -> EvidenceAnswer:
    """With its content."""
    return EvidenceAnswer(evidence=await caller.user.decisions.evidence(evidence_id))


@router.post("/anchors", status_code=201, responses=failures(404), summary="Set up a signpost")
async def add_anchor(body: AddAnchor, caller: Writer) -> AnchorAnswer:
    """From what was said in a session to the evidence and the decisions behind it."""
    targets = [Target(kind=each.kind, id=each.id) for each in body.targets]
    anchor = await caller.user.decisions.add_anchor(body.session_id, body.hint, targets)
    return AnchorAnswer(anchor=anchor)


@router.get("/anchors", responses=failures(), summary="Anchors, newest first")
async def anchors(caller: Reader, session_id: SessionFilter = None, limit: Limit = MAX_PAGE) -> AnchorsAnswer:
    """Of one session, or without `sessionId` of all."""
    found = await caller.user.decisions.anchors(session_id, limit)
    return AnchorsAnswer(anchors=tuple(found))
