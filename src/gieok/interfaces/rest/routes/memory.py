"""Memories: made, loaded, listed, found, changed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from gieok.app.chat import CHAT_PLAN
from gieok.app.sessions import Summaries
from gieok.interfaces.rest.body import JsonRoute
from gieok.interfaces.rest.caller import Caller, Reader, Writer
from gieok.interfaces.rest.schema.common import Done, failures, to_chat_messages, to_messages
from gieok.interfaces.rest.schema.memory import (
    ArchivedAnswer,
    CreateMemory,
    EditMemory,
    HitsAnswer,
    KeptAnswer,
    MemoriesAnswer,
    MemoryAnswer,
    MemoryPageAnswer,
    SummarizeSession,
    SummaryAnswer,
    hit_view,
    localised,
    memory_view,
    memory_views,
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


@router.get("/load", responses=failures(), summary="What a conversation begins with")
async def load(caller: Reader, persona_id: PersonaQuery, limit: Limit = 5) -> MemoriesAnswer:
    """Active memories with a persona, the most important first: at most five, by the plan `load_memories`."""
    memories = await caller.user.companion.load(persona_id, limit=limit)
    return MemoriesAnswer.trusted(success=True, memories=memory_views(memories, korean=caller.korean))


@router.get("/list", responses=failures(), summary="Memories, newest first")
async def list_(
    caller: Reader,
    persona_id: PersonaFilter = None,
    include_archived: Annotated[bool, Query(alias="includeArchived")] = False,
    limit: Limit = 10,
    offset: Offset = 0,
) -> MemoryPageAnswer:
    """Of one persona, or without `personaId` of all."""
    shelf = "all" if include_archived else "active"
    page = await caller.user.companion.list(persona_id, shelf=shelf, limit=limit, offset=offset)
    return MemoryPageAnswer(
        memories=memory_views(page.memories, korean=caller.korean), total=page.total, has_more=page.has_more
    )


@router.get("/search", responses=failures(), summary="What answers a query, and why")
async def search(
    caller: Reader,
    persona_id: PersonaQuery,
    q: Annotated[str, Query(min_length=1, max_length=MAX_Q)],
    limit: Limit = 10,
) -> HitsAnswer:
    """Best first, archived ones too. `why` says which words matched and which signals speak for it."""
    hits = await caller.user.companion.search(persona_id, q, limit=limit)
    return HitsAnswer.trusted(
        success=True, memories=tuple(hit_view(hit, korean=caller.korean) for hit in hits)
    )


@router.post("/summarize", responses=failures(404, 409, 502), summary="Summarise a session now")
async def summarize(body: SummarizeSession, now: Now, caller: Writer) -> SummaryAnswer:
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


@router.post("/create", status_code=201, responses=failures(409, 502), summary="Keep a memory")
async def create(body: CreateMemory, caller: Writer, idempotency_key: IdempotencyKey = None) -> KeptAnswer:
    """As `manualSummary` says, or else as the model summarises `messages`, which are not kept themselves.

    The persona need not exist yet, so that history can be brought along. Where no place is free, the least
    important memory is archived and `notices` says so; with `autoArchive: false` it is 409
    `MEMORY_LIMIT_REACHED`.
    """
    kept = await _keep(body, caller, idempotency_key)
    return KeptAnswer(
        memory=memory_view(kept.memory, korean=caller.korean),
        archived=kept.archived,
        notices=localised(kept.notices, korean=caller.korean),
    )


@router.get("/{id}", responses=failures(404), summary="One memory")
async def get(memory_id: MemoryPath, caller: Reader, response: Response) -> MemoryAnswer:
    """Its `ETag` is for a later change with `If-Match`."""
    memory = await caller.user.companion.get(memory_id)
    response.headers["ETag"] = etag(memory.version)
    return MemoryAnswer(memory=memory_view(memory, korean=caller.korean))


@router.patch("/{id}", responses=failures(404, 409), summary="Change a memory by hand")
async def edit(
    memory_id: MemoryPath, body: EditMemory, if_match: IfMatch, caller: Writer, response: Response
) -> MemoryAnswer:
    """409 `CONFLICT` where the memory is not in the version that `If-Match` or `version` names."""
    changes = MemoryChanges(
        summary=body.summary,
        importance=body.importance,
        tags=None if body.tags is None else tuple(body.tags),
    )
    version = expected_version(if_match, body.version, "version")
    memory = await caller.user.companion.edit(memory_id, changes, expected_version=version)
    response.headers["ETag"] = etag(memory.version)
    return MemoryAnswer(memory=memory_view(memory, korean=caller.korean))


@router.delete("/{id}", responses=failures(404), summary="Remove a memory for good")
async def delete(memory_id: MemoryPath, caller: Writer) -> Done:
    """With its moment and its words in the index."""
    await caller.user.companion.delete(memory_id)
    return Done()


@router.post("/{id}/archive", responses=failures(404), summary="Archive a memory")
async def archive(memory_id: MemoryPath, caller: Writer) -> ArchivedAnswer:
    """It is kept and found, and no conversation begins with it any more."""
    memory = await caller.user.companion.archive(memory_id)
    return ArchivedAnswer(memory=memory_view(memory, korean=caller.korean), archived_at=memory.archived_at)


@router.post("/{id}/restore", responses=failures(404, 409), summary="Take a memory from the archive")
async def restore(memory_id: MemoryPath, caller: Writer) -> MemoryAnswer:
    """409 `MEMORY_LIMIT_REACHED` where no place is free among the active ones."""
    memory = await caller.user.companion.restore(memory_id, account_plan=caller.account_plan)
    return MemoryAnswer(memory=memory_view(memory, korean=caller.korean))


async def summary_answer(made: Summaries, caller: Caller) -> SummaryAnswer:
    """The memory of the newest messages, and what the user is to be told of it."""
    memory = None if made.memory_id is None else await caller.user.companion.get(made.memory_id)
    return SummaryAnswer(
        memory=memory_view(memory, korean=caller.korean) if memory else None,
        notices=localised(made.notices, korean=caller.korean),
    )


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
