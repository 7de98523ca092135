"""`client.webhooks`."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

from gieok.client.transport import Call, Transport
from gieok.memory.events.records import DeadLetter, EventKind
from gieok.memory.events.webhooks import NewWebhook, Webhook


class Webhooks:
    """The webhooks of one owner."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def add(
        self,
        url: str,
        *,
        events: Sequence[EventKind] = (),
        include_content: bool = False,
        idempotency_key: str | None = None,
    ) -> NewWebhook:
        """Send later events to a URL, of these kinds or of all. The secret is returned only here."""
        body = {"url": url, "events": list(events), "includeContent": include_content}
        call = Call("POST", "/webhooks", body=body, idempotency_key=idempotency_key or str(uuid4()))
        return await self._transport.request(call, NewWebhook)

    async def list(self) -> tuple[Webhook, ...]:
        """All webhooks, oldest first, without their secrets."""
        return await self._transport.request(Call("GET", "/webhooks"), tuple[Webhook, ...], field="webhooks")

    async def remove(self, webhook_id: UUID, *, idempotency_key: str | None = None) -> None:
        """Remove a webhook with its dead letters. Raises NotFound."""
        call = Call("DELETE", f"/webhooks/{webhook_id}", idempotency_key=idempotency_key or str(uuid4()))
        await self._transport.content(call)

    async def dead_letters(
        self, webhook_id: UUID, *, limit: int | None = None, after: int = 0
    ) -> tuple[DeadLetter, ...]:
        """Events that could not be delivered, in order, after the event with this number."""
        call = Call("GET", f"/webhooks/{webhook_id}/dead-letters", {"limit": limit, "cursor": after})
        return await self._transport.request(call, tuple[DeadLetter, ...], field="deadLetters")

    async def retry(
        self, webhook_id: UUID, *, number: int | None = None, idempotency_key: str | None = None
    ) -> int:
        """Send a dead letter again, or all of a webhook. Returns how many. Raises NotFound."""
        call = Call(
            "POST",
            f"/webhooks/{webhook_id}/retry",
            body={"number": number},
            idempotency_key=idempotency_key or str(uuid4()),
        )
        return await self._transport.request(call, int, field="retried")
