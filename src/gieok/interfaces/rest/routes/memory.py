"""Memories: made, loaded, listed, found, changed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from gieok.app.chat import CHAT_PLAN
from gieok.app.sessions import Summaries
from gieok.interfaces.rest.body import JsonRoute
from gieok.interfaces.rest.caller import Caller, Reader, Writer
from gieok.interfaces.rest.schema.common import Done, failures, json_response, to_chat_messages, to_messages
from gieok.interfaces.rest.schema.memory import (
    ArchivedAnswer,
    CreatedMemoryAnswer,
    CreateMemory,
    EditMemory,
    HitsAnswer,
    MemoriesAnswer,
    MemoryAnswer,
    MemoryPageAnswer,
    SummarizeSession,
    SummaryAnswer,
    found_memory,
    localised,
    to_draft,
    to_outline,
)
from gieok.interfaces.rest.schema.params import (
    MAX_Q,
    IdempotencyKey,
    IfMatch,
    Limit,
    MemoryPath,
    Now,
    Offset,
    PersonaFilter,
    PersonaQuery,
    etag,
    expected_version,
    request_key,
)
from gieok.memory.companion.records import Kept, MemoryChanges

router = APIRouter(prefix="/memory", tags=["memory"], route_class=JsonRoute)


@router.get(
    "/load", response_model=MemoriesAnswer, responses=failures(), summary="What a conversation begins with"
)
async def load(caller: Reader, persona_id: PersonaQuery, limit: Limit = 5) -> Response:
    """Active memories with a persona, the most important first: at most five, by the plan `load_memories`."""
    memories = await caller.user.companion.load(persona_id, limit=limit)
    return json_response(MemoriesAnswer(memories=tuple(memories)), caller.language)


@router.get("/list", response_model=MemoryPageAnswer, responses=failures(), summary="Memories, newest first")
async def list_(
    caller: Reader,
    persona_id: PersonaFilter = None,
    include_archived: Annotated[bool, Query(alias="includeArchived")] = False,
    limit: Limit = 10,
    offset: Offset = 0,
) -> Response:
    """Of one persona, or without `personaId` of all."""
    shelf = "all" if include_archived else "active"
    page = await caller.user.companion.list(persona_id, shelf=shelf, limit=limit, offset=offset)
    return json_response(MemoryPageAnswer(**dict(page)), caller.language)


@router.get(
    "/search", response_model=HitsAnswer, responses=failures(), summary="What answers a query, and why"
)
async def search(
    caller: Reader,
    persona_id: PersonaQuery,
    q: Annotated[str, Query(min_length=1, max_length=MAX_Q)],
    limit: Limit = 10,
) -> Response:
    """Best first, archived ones too. `why` says which words matched and which signals speak for it."""
    hits = await caller.user.companion.search(persona_id, q, limit=limit)
    return json_response(HitsAnswer(memories=tuple(map(found_memory, hits))), caller.language)


@router.post(
    "/summarize",
    response_model=SummaryAnswer,
    responses=failures(404, 409, 502),
    summary="Summarise a session now",
)
async def summarize(body: SummarizeSession, now: Now, caller: Writer) -> Response:
    """Messages that the session does not have yet are saved first; an unknown session begins with them.

    `memory` is null where every message was summarised before.
    """
    made = await caller.user.sessions.summarize_messages(
        body.session_id,
        body.persona_id,
        to_chat_messages(body.messages, now),
        plan=CHAT_PLAN,
        account_plan=caller.account_plan,
    )
    return await summary_answer(made, caller)


@router.post(
    "/create",
    status_code=201,
    response_model=CreatedMemoryAnswer,
    responses=failures(409, 502),
    summary="Keep a memory",
)
async def create(body: CreateMemory, caller: Writer, idempotency_key: IdempotencyKey = None) -> Response:
    """As `manualSummary` says, or else as the model summarises `messages`, which are not kept themselves.

    The persona need not exist yet, so that history can be brought along. Where no place is free, the least
    important memory is archived and `notices` says so; with `autoArchive: false` it is 409
    `MEMORY_LIMIT_REACHED`.
    """
    kept = await _keep(body, caller, idempotency_key)
    notices = localised(kept.notices, caller.language)
    answer = CreatedMemoryAnswer(memory=kept.memory, archived=kept.archived, notices=notices)
    return json_response(answer, caller.language, status_code=201)


@router.get("/{id}", response_model=MemoryAnswer, responses=failures(404), summary="One memory")
async def get(memory_id: MemoryPath, caller: Reader) -> Response:
    """Its `ETag` is for a later change with `If-Match`."""
    memory = await caller.user.companion.get(memory_id)
    headers = {"ETag": etag(memory.version)}
    return json_response(MemoryAnswer(memory=memory), caller.language, headers=headers)


@router.patch(
    "/{id}", response_model=MemoryAnswer, responses=failures(404, 409), summary="Change a memory by hand"
)
async def edit(memory_id: MemoryPath, body: EditMemory, if_match: IfMatch, caller: Writer) -> Response:
    """409 `CONFLICT` where the memory is not in the version that `If-Match` or `version` names."""
    changes = MemoryChanges(
        summary=body.summary,
        importance=body.importance,
        tags=None if body.tags is None else tuple(body.tags),
    )
    version = expected_version(if_match, body.version, "version")
    memory = await caller.user.companion.edit(memory_id, changes, expected_version=version)
    headers = {"ETag": etag(memory.version)}
    return json_response(MemoryAnswer(memory=memory), caller.language, headers=headers)


@router.delete("/{id}", responses=failures(404), summary="Remove a memory for good")
async def delete(memory_id: MemoryPath, caller: Writer) -> Done:
    """With its moment and its words in the index."""
    await caller.user.companion.delete(memory_id)
    return Done()


@router.post(
    "/{id}/archive", response_model=ArchivedAnswer, responses=failures(404), summary="Archive a memory"
)
async def archive(memory_id: MemoryPath, caller: Writer) -> Response:
    """It is kept and found, and no conversation begins with it any more."""
    memory = await caller.user.companion.archive(memory_id)
    answer = ArchivedAnswer(memory=memory, archived_at=memory.archived_at)
    return json_response(answer, caller.language)


@router.post(
    "/{id}/restore",
    response_model=MemoryAnswer,
    responses=failures(404, 409),
    summary="Take a memory from the archive",
)
async def restore(memory_id: MemoryPath, caller: Writer) -> Response:
    """409 `MEMORY_LIMIT_REACHED` where no place is free among the active ones."""
    memory = await caller.user.companion.restore(memory_id, account_plan=caller.account_plan)
    return json_response(MemoryAnswer(memory=memory), caller.language)


async def summary_answer(made: Summaries, caller: Caller) -> Response:
    """The memory of the newest messages, and what the user is to be told of it."""
    memory = None if made.memory_id is None else await caller.user.companion.get(made.memory_id)
    answer = SummaryAnswer(memory=memory, notices=localised(made.notices, caller.language))
    return json_response(answer, caller.language)


async def _keep(body: CreateMemory, caller: Caller, key: str | None) -> Kept:
    companion, request = caller.user.companion, request_key(key, body)
    if (draft := to_draft(body)) is not None:
        return await companion.create(
            draft, account_plan=caller.account_plan, auto_archive=body.auto_archive, once=request
        )
    return await companion.create_of_messages(
        to_outline(body),
        to_messages(body.messages or ()),
        account_plan=caller.account_plan,
        auto_archive=body.auto_archive,
        once=request,
    )
