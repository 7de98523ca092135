"""Webhooks: add, list, remove, dead letters and their retry."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from gieok.interfaces.rest.gateway.body import JsonRoute
from gieok.interfaces.rest.gateway.caller import Owner
from gieok.interfaces.rest.schema.common import Done, failures
from gieok.interfaces.rest.schema.params import IdempotencyKey, Limit, WebhookPath, request_key
from gieok.interfaces.rest.schema.webhooks import (
    AddWebhook,
    DeadLettersAnswer,
    NewWebhookAnswer,
    RetriedAnswer,
    RetryDeadLetters,
    WebhooksAnswer,
)

router = APIRouter(prefix="/webhooks", tags=["webhooks"], route_class=JsonRoute)


@router.post("", status_code=201, responses=failures(409), summary="Add a webhook")
async def add(body: AddWebhook, caller: Owner, idempotency_key: IdempotencyKey = None) -> NewWebhookAnswer:
    """Later events are sent to the URL. The answer is the only place that has the secret."""
    new = await caller.user.webhooks.add(
        body.url,
        events=body.events,
        include_content=body.include_content,
        once=request_key(idempotency_key, body),
    )
    return NewWebhookAnswer(webhook=new.webhook, secret=new.secret)


@router.get("", responses=failures(), summary="List webhooks")
async def list_webhooks(caller: Owner) -> WebhooksAnswer:
    """Oldest first."""
    return WebhooksAnswer(webhooks=tuple(await caller.user.webhooks.list()))


@router.delete("/{id}", responses=failures(404, 409), summary="Remove a webhook")
async def remove(webhook_id: WebhookPath, caller: Owner, idempotency_key: IdempotencyKey = None) -> Done:
    """With its dead letters. Nothing more is sent to it."""
    await caller.user.webhooks.remove(webhook_id, once=request_key(idempotency_key, None, str(webhook_id)))
    return Done()


@router.get("/{id}/dead-letters", responses=failures(404), summary="List events that could not be delivered")
async def dead_letters(
    webhook_id: WebhookPath,
    caller: Owner,
    limit: Limit = 50,
    cursor: Annotated[int, Query(ge=0, le=2**53, description="The last event already read.")] = 0,
) -> DeadLettersAnswer:
    """In the order of their events. `cursor` is the `nextCursor` of the previous page."""
    found = await caller.user.webhooks.dead_letters(webhook_id, limit=limit + 1, after=cursor)
    page = tuple(found[:limit])
    last = str(page[-1].event.number) if len(found) > limit else None
    return DeadLettersAnswer(dead_letters=page, next_cursor=last)


@router.post("/{id}/retry", status_code=202, responses=failures(404, 409), summary="Send dead letters again")
async def retry(
    webhook_id: WebhookPath,
    caller: Owner,
    body: RetryDeadLetters | None = None,
    idempotency_key: IdempotencyKey = None,
) -> RetriedAnswer:
    """One attempt each. A retried event arrives after later ones."""
    chosen = body or RetryDeadLetters()
    once = request_key(idempotency_key, chosen, str(webhook_id))
    retried = await caller.user.webhooks.retry(webhook_id, number=chosen.number, once=once)
    return RetriedAnswer(retried=retried)
