"""Bodies and answers of the routes of webhooks."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from gieok.interfaces.rest.schema.common import Answer, RequestBody, example
from gieok.memory.events.records import DeadLetter
from gieok.memory.events.webhooks import MAX_URL_CHARS, EventKinds, Webhook

_ID = "0d9b7a52-7a0f-4f3e-8a55-7f3c1b2d4e5f"
_WEBHOOK: dict[str, Any] = {
    "id": _ID,
    "url": "https://example.com/gieok",
    "events": ["memory.created"],
    "includeContent": False,
    "createdAt": "2025-10-27T12:00:00Z",
}
_EVENT: dict[str, Any] = {
    "number": 7,
    "kind": "memory.created",
    "subject": "5f8a3c1e-2b7d-4e9a-9c41-6d2f8b7a1c30",
    "sessionId": None,
    "personaId": "hana",
    "seq": None,
    "version": 1,
    "at": "2025-10-27T12:00:00Z",
}


class AddWebhook(RequestBody):
    """A webhook to add. Without `events`, all kinds are sent."""

    model_config = example(url="https://example.com/gieok", events=["memory.created"], includeContent=False)

    url: Annotated[str, Field(min_length=1, max_length=MAX_URL_CHARS)]
    events: EventKinds = ()
    include_content: bool = False


class RetryDeadLetters(RequestBody):
    """Which dead letter to send again; all of the webhook without `number`."""

    model_config = example(number=7)

    number: Annotated[int, Field(ge=1, le=2**53)] | None = None


class NewWebhookAnswer(Answer):
    """The webhook, and the secret that its requests are signed with. The secret is not shown again."""

    model_config = example(success=True, webhook=_WEBHOOK, secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")  # noqa: S106

    webhook: Webhook
    secret: str


class WebhooksAnswer(Answer):
    model_config = example(success=True, webhooks=[_WEBHOOK])

    webhooks: tuple[Webhook, ...]


class DeadLettersAnswer(Answer):
    """Events that could not be delivered. `nextCursor` is null on the last page."""

    model_config = example(
        success=True,
        deadLetters=[
            {
                "consumer": f"webhook:{_ID}",
                "event": _EVENT,
                "attempts": 7,
                "error": "HTTP_500",
                "failedAt": "2025-10-28T07:00:00Z",
                "isRetried": False,
            }
        ],
        nextCursor=None,
    )

    dead_letters: tuple[DeadLetter, ...]
    next_cursor: str | None


class RetriedAnswer(Answer):
    model_config = example(success=True, retried=1)

    retried: int
