"""How memories come about: of a session, of messages, or as someone wrote them."""

from __future__ import annotations

from fastapi import APIRouter

from gieok.app.chat import CHAT_PLAN
from gieok.interfaces.rest.caller import Caller, Writer
from gieok.interfaces.rest.routes.summaries import summary_answer
from gieok.interfaces.rest.schema.common import failures, to_chat_messages, to_messages
from gieok.interfaces.rest.schema.memory import (
    CreateMemory,
    KeptAnswer,
    SummarizeSession,
    SummaryAnswer,
    localised,
    memory_view,
    to_draft,
    to_outline,
)
from gieok.interfaces.rest.schema.params import IdempotencyKey, Now, request_key
from gieok.memory.companion.records import Kept

router = APIRouter()


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
