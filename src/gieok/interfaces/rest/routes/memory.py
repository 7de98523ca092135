"""Memories: load, search, list, summarise, create, edit, archive, delete."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from gieok import wire
from gieok.app.chat import CHAT_PLAN
from gieok.app.sessions import Summaries
from gieok.interfaces.rest.gateway.body import JsonRoute
from gieok.interfaces.rest.gateway.caller import Caller, Reader, Writer
from gieok.interfaces.rest.schema.common import (
    Done,
    MessageTime,
    failures,
    json_response,
    to_chat_messages,
    to_messages,
)
from gieok.interfaces.rest.schema.memory import (
    ArchivedAnswer,
    CreatedMemoriesAnswer,
    CreatedMemoryAnswer,
    CreateMemories,
    CreateMemory,
    DeletedMemoriesAnswer,
    EditMemory,
    HitsAnswer,
    MemoriesAnswer,
    MemoryAnswer,
    MemoryPageAnswer,
    MemoryVersionsAnswer,
    SummarizeSession,
    SummaryAnswer,
    found_item,
    localised,
    to_draft,
    to_drafts,
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
from gieok.memory.companion.filters import MemoryFilter
from gieok.memory.companion.hits import check_kinds
from gieok.memory.companion.records import EmotionName, Label, MemoryChanges, Origin, SavedMemory

router = APIRouter(prefix="/memory", tags=["memory"], route_class=JsonRoute)

LabelFilter = Annotated[Label | None, Query()]


@router.get(
    "/load",
    response_model=MemoriesAnswer,
    responses=failures(),
    summary="Load memories for a conversation",
)
async def load(caller: Reader, persona_id: PersonaQuery, limit: Limit = 5) -> Response:
    """Active memories with a persona, most important first. The plan `load_memories` allows at most five."""
    memories = await caller.user.companion.load(persona_id, limit=limit)
    return json_response(MemoriesAnswer(memories=tuple(memories)), caller.language)


@router.get(
    "/list", response_model=MemoryPageAnswer, responses=failures(), summary="List memories, newest first"
)
async def list_(  # noqa: PLR0913, PLR0917  FastAPI passes each parameter as an argument
    caller: Reader,
    persona_id: PersonaFilter = None,
    include_archived: Annotated[bool, Query(alias="includeArchived")] = False,
    tag: LabelFilter = None,
    topic: LabelFilter = None,
    emotion: Annotated[EmotionName | None, Query()] = None,
    origin: Origin | None = None,
    since: Annotated[MessageTime | None, Query(alias="from")] = None,
    until: Annotated[MessageTime | None, Query(alias="to")] = None,
    limit: Limit = 10,
    offset: Offset = 0,
) -> Response:
    """Of one persona, or of all personas without `personaId`. A memory must match all filters.

    It happened (`occurredAt`) at `from` or later, and before `to`. Labels match regardless of case and width.
    """
    status = "all" if include_archived else "active"
    wanted = MemoryFilter(tag=tag, topic=topic, emotion=emotion, origin=origin, since=since, until=until)
    page = await caller.user.companion.list(
        persona_id, status=status, wanted=wanted, limit=limit, offset=offset
    )
    return json_response(MemoryPageAnswer(**dict(page)), caller.language)


@router.get("/search", response_model=HitsAnswer, responses=failures(), summary="Search memories")
async def search(
    caller: Reader,
    persona_id: PersonaQuery,
    q: Annotated[str, Query(min_length=1, max_length=MAX_Q)],
    limit: Limit = 10,
    kinds: Annotated[
        str, Query(max_length=100, description="`memory`, `message`, `fact`, several with commas, or `all`.")
    ] = "memory",
    min_confidence: Annotated[
        float, Query(alias="minConfidence", ge=0, le=1, description="Leave out hits with less confidence.")
    ] = 0.0,
) -> Response:
    """Best first, archived memories included. `why` lists the matched words and the signals of the score.

    Memories, messages of all sessions with the persona, and facts are one ranking; each has its `kind`.
    `confidence` is comparable between queries, `score` only within one.
    """
    hits = await caller.user.companion.search(
        persona_id,
        q,
        kinds=check_kinds(kinds),
        limit=limit,
        min_confidence=min_confidence,
        account_plan=caller.account_plan,
    )
    answer = HitsAnswer(memories=tuple(map(found_item, hits)), degraded=hits.degraded)
    return json_response(answer, caller.language)


@router.post(
    "/summarize",
    response_model=SummaryAnswer,
    responses=failures(404, 409, 502),
    summary="Summarise a session now",
)
async def summarize(
    body: SummarizeSession, now: Now, caller: Writer, idempotency_key: IdempotencyKey = None
) -> Response:
    """Messages that the session does not have yet are saved first. An unknown session is started with them.

    `memory` is null if every message was summarised before.
    """
    summaries = await caller.user.sessions.summarize_messages(
        body.session_id,
        body.persona_id,
        to_chat_messages(body.messages, now),
        plan=CHAT_PLAN,
        account_plan=caller.account_plan,
        once=request_key(idempotency_key, body),
    )
    return await summary_answer(summaries, caller)


@router.post(
    "/create",
    status_code=201,
    response_model=CreatedMemoryAnswer,
    responses=failures(409, 502),
    summary="Create a memory",
)
async def create(body: CreateMemory, caller: Writer, idempotency_key: IdempotencyKey = None) -> Response:
    """From `manualSummary`, or from the model's summary of `messages`, which are not stored themselves.

    If the model does not answer, an excerpt stands in for the summary (`origin: "excerpt"`, `notices`). A job
    replaces it later; until then the messages are kept with it, sealed.

    The persona need not exist yet, so that history can be imported first. If the limit of active memories is
    reached, the least important one is archived and `notices` says so; with `autoArchive: false` the answer
    is 409 `MEMORY_LIMIT_REACHED`.
    """
    kept = await _create(body, caller, idempotency_key)
    notices = localised(kept.notices, caller.language)
    answer = CreatedMemoryAnswer(memory=kept.memory, archived=kept.archived, notices=notices)
    return json_response(answer, caller.language, status_code=201)


@router.post(
    "/batch",
    status_code=201,
    response_model=CreatedMemoriesAnswer,
    responses=failures(409),
    summary="Create many memories at once",
)
async def create_batch(
    body: CreateMemories, caller: Writer, idempotency_key: IdempotencyKey = None
) -> Response:
    """Up to 1,000 bodies of `create`, all of them or none. A body with `messages` and no text is refused.

    The limit of active memories is applied after the last one. `autoArchive: false` in one of the bodies
    holds for all.
    """
    saved = await caller.user.companion.create_many(
        to_drafts(body),
        account_plan=caller.account_plan,
        auto_archive=all(each.auto_archive for each in body.memories),
        once=request_key(idempotency_key, body),
    )
    created = tuple(wire.MemoryRef(id=memory_id) for memory_id in saved.created)
    notices = localised(saved.notices, caller.language)
    answer = CreatedMemoriesAnswer(created=created, archived=saved.archived, notices=notices)
    return json_response(answer, caller.language, status_code=201)


@router.get("/{id}", response_model=MemoryAnswer, responses=failures(404), summary="Get a memory")
async def get(memory_id: MemoryPath, caller: Reader) -> Response:
    """Send its `ETag` as `If-Match` with a later change."""
    memory = await caller.user.companion.get(memory_id)
    headers = {"ETag": etag(memory.version)}
    return json_response(MemoryAnswer(memory=memory), caller.language, headers=headers)


@router.get(
    "/{id}/history",
    response_model=MemoryVersionsAnswer,
    responses=failures(404),
    summary="List all versions of a memory",
)
async def history(memory_id: MemoryPath, caller: Reader) -> Response:
    """Oldest first. An edit makes a version; archiving and restoring do not."""
    versions = await caller.user.companion.history(memory_id)
    return json_response(MemoryVersionsAnswer(versions=tuple(versions)), caller.language)


@router.patch("/{id}", response_model=MemoryAnswer, responses=failures(404, 409), summary="Edit a memory")
async def edit(
    memory_id: MemoryPath,
    body: EditMemory,
    if_match: IfMatch,
    caller: Writer,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """409 `CONFLICT` if the memory is not at the version in `If-Match` or `version`."""
    changes = MemoryChanges(
        summary=body.summary,
        importance=body.importance,
        topics=None if body.topics is None else tuple(body.topics),
        emotion=body.emotion,
        tags=None if body.tags is None else tuple(body.tags),
    )
    version = expected_version(if_match, body.version, "version")
    once = request_key(idempotency_key, body, str(memory_id), str(version))
    memory = await caller.user.companion.edit(memory_id, changes, expected_version=version, once=once)
    headers = {"ETag": etag(memory.version)}
    return json_response(MemoryAnswer(memory=memory), caller.language, headers=headers)


@router.delete("", responses=failures(409), summary="Delete all memories")
async def delete_all(
    caller: Writer, persona_id: PersonaFilter = None, idempotency_key: IdempotencyKey = None
) -> DeletedMemoriesAnswer:
    """Permanently: of one persona, or of all personas without `personaId`. The account and the rest stay."""
    once = request_key(idempotency_key, None, persona_id or "")
    return DeletedMemoriesAnswer(deleted=await caller.user.companion.delete_all(persona_id, once=once))


@router.delete("/{id}", responses=failures(404, 409), summary="Delete a memory")
async def delete(memory_id: MemoryPath, caller: Writer, idempotency_key: IdempotencyKey = None) -> Done:
    """Permanently, with its moment and its index entries."""
    await caller.user.companion.delete(memory_id, once=request_key(idempotency_key, None, str(memory_id)))
    return Done()


@router.post(
    "/{id}/archive", response_model=ArchivedAnswer, responses=failures(404, 409), summary="Archive a memory"
)
async def archive(memory_id: MemoryPath, caller: Writer, idempotency_key: IdempotencyKey = None) -> Response:
    """It stays searchable, but is no longer loaded for new conversations."""
    once = request_key(idempotency_key, None, str(memory_id))
    memory = await caller.user.companion.archive(memory_id, once=once)
    answer = ArchivedAnswer(memory=memory, archived_at=memory.archived_at)
    return json_response(answer, caller.language)


@router.post(
    "/{id}/restore",
    response_model=MemoryAnswer,
    responses=failures(404, 409),
    summary="Restore an archived memory",
)
async def restore(memory_id: MemoryPath, caller: Writer, idempotency_key: IdempotencyKey = None) -> Response:
    """409 `MEMORY_LIMIT_REACHED` if the limit of active memories is reached."""
    once = request_key(idempotency_key, None, str(memory_id))
    memory = await caller.user.companion.restore(memory_id, account_plan=caller.account_plan, once=once)
    return json_response(MemoryAnswer(memory=memory), caller.language)


async def summary_answer(summaries: Summaries, caller: Caller) -> Response:
    """The memory of the newest messages, and the notices for the user."""
    memory = None if summaries.memory_id is None else await caller.user.companion.get(summaries.memory_id)
    answer = SummaryAnswer(memory=memory, notices=localised(summaries.notices, caller.language))
    return json_response(answer, caller.language)


async def _create(body: CreateMemory, caller: Caller, key: str | None) -> SavedMemory:
    companion, once = caller.user.companion, request_key(key, body)
    if (draft := to_draft(body)) is not None:
        return await companion.create(
            draft, account_plan=caller.account_plan, auto_archive=body.auto_archive, once=once
        )
    return await companion.create_of_messages(
        to_outline(body),
        to_messages(body.messages or ()),
        account_plan=caller.account_plan,
        auto_archive=body.auto_archive,
        once=once,
    )
