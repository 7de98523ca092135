"""The facade of webhooks, `user.webhooks`, and the consumer of events behind each of them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from gieok.adapters.sql.scope import SqlView
from gieok.app.cycles import Cycles, run_idempotent, validated
from gieok.engine import Data
from gieok.errors import DeliveryFailed, InputRefused, NotFound
from gieok.memory.events.records import DeadLetter, Event, EventKind
from gieok.memory.events.webhooks import (
    SECRET_BYTES,
    NewWebhook,
    Webhook,
    body_of,
    check_url,
    consumer_name,
    make_secret,
    message_id,
    signed_headers,
)
from gieok.memory.requests import RequestKey
from gieok.memory.sessions.records import MessageRange

if TYPE_CHECKING:
    from gieok.app import Gieok

MAX_LETTERS = 1_000


class Webhooks:
    """One owner's webhooks: URLs to which their events are sent."""

    def __init__(self, gieok: Gieok, cycles: Cycles) -> None:
        self._gieok = gieok
        self._cycles = cycles

    async def add(
        self,
        url: str,
        *,
        events: Sequence[EventKind] = (),
        include_content: bool = False,
        once: RequestKey | None = None,
    ) -> NewWebhook:
        """Send later events to a URL, of these kinds or of all. The secret is returned only here.

        `include_content` sends the content of messages, memories, facts, decisions, personas and documents
        too. InputRefused for a URL that is not https or not public, unless GIEOK_WEBHOOK_ALLOW_PRIVATE is
        set. Conflict if there are too many webhooks. `once` is an idempotency key.
        """
        check_url(url, allow_private=self._gieok.webhook_sender.allow_private)
        now, cycles = self._cycles.now, self._cycles
        webhook = validated(
            Webhook,
            id=uuid4(),
            url=url,
            events=tuple(dict.fromkeys(events)),
            include_content=include_content,
            created_at=now,
        )
        new = NewWebhook(webhook=webhook, secret=make_secret(secrets.token_bytes(SECRET_BYTES)))

        async def add(request: RequestKey | None) -> NewWebhook:
            def work(view: SqlView) -> NewWebhook:
                view.webhooks.add(new, now)
                view.audit.add("webhook.added", str(webhook.id), now)
                if request is not None:
                    cycles.save_result(view, request, new.model_dump_json())
                return new

            return await cycles.scope.write(work)

        async def replay(stored: str) -> NewWebhook:
            return NewWebhook.model_validate_json(stored)

        return await run_idempotent(cycles, once, "add_webhook", add, replay)

    async def list(self) -> Sequence[Webhook]:
        """All webhooks, oldest first, without their secrets."""
        return await self._cycles.scope.read(lambda view: view.webhooks.list())

    async def remove(self, webhook_id: UUID, *, once: RequestKey | None = None) -> None:
        """Remove a webhook with its dead letters. Nothing more is sent to it. Raises NotFound."""

        def work(view: SqlView) -> None:
            if not view.webhooks.remove(webhook_id):
                raise _no_webhook()
            view.audit.add("webhook.removed", str(webhook_id), self._cycles.now)

        await self._once(once, "remove_webhook", work, None)

    async def dead_letters(
        self, webhook_id: UUID, *, limit: int = 50, after: int = 0
    ) -> Sequence[DeadLetter]:
        """Events that could not be delivered to a webhook, in order, after the event with this number.

        Raises NotFound.
        """
        if not 1 <= limit <= MAX_LETTERS:
            raise InputRefused(f"must be 1 to {MAX_LETTERS}", at="limit")
        name = consumer_name(webhook_id)

        def read(view: SqlView) -> Sequence[DeadLetter]:
            if view.webhooks.get(webhook_id) is None:
                raise _no_webhook()
            return view.events.dead_letters(consumer=name, after=(name, after), limit=limit)

        return await self._cycles.scope.read(read)

    async def retry(
        self, webhook_id: UUID, *, number: int | None = None, once: RequestKey | None = None
    ) -> int:
        """Send a dead letter again, or all of a webhook: one attempt each. Returns how many. Raises NotFound.

        A retried event arrives after events that happened later.
        """
        counts: list[int] = []

        def work(view: SqlView) -> None:
            if view.webhooks.get(webhook_id) is None:
                raise _no_webhook()
            counts[:] = [view.events.retry(consumer_name(webhook_id), number, self._cycles.now)]
            if number is not None and not counts[0]:
                raise NotFound(f"there is no dead letter {number}")

        stored = await self._once(once, "retry_webhook", work, lambda: str(counts[0]))
        self._gieok.job_queued.set()
        return int(stored)

    async def _once(
        self,
        once: RequestKey | None,
        operation: str,
        work: Callable[[SqlView], None],
        result: Callable[[], str] | None,
    ) -> str:
        """Run a write at most once per idempotency key."""

        async def create(request: RequestKey | None) -> str:
            def write(view: SqlView) -> str:
                work(view)
                answer = result() if result else ""
                if request is not None:
                    self._cycles.save_result(view, request, answer)
                return answer

            return await self._cycles.scope.write(write)

        async def replay(stored: str) -> str:
            return stored

        return await run_idempotent(self._cycles, once, operation, create, replay)


def _no_webhook() -> NotFound:
    return NotFound("no such webhook")


class WebhookConsumer:
    """Sends the events of an owner to one of their webhooks."""

    batch = 20
    retry_seconds = (5, 300, 1_800, 7_200, 18_000, 36_000)
    """About 19 hours in all."""
    gives_up = True

    def __init__(self, gieok: Gieok, name: str, webhook_id: UUID) -> None:
        self._gieok = gieok
        self.name = name
        self._webhook_id = webhook_id

    async def deliver(self, owner: str, events: Sequence[Event]) -> None:
        """Send events one by one. DeliveryFailed says how many the receiver has accepted."""
        scope, sender = self._gieok.scope(owner), self._gieok.webhook_sender
        found = await scope.read(lambda view: view.webhooks.get(self._webhook_id))
        if found is None:
            return
        webhook, wanted = found.webhook, found.webhook.events
        chosen = [place for place, event in enumerate(events) if not wanted or event.kind in wanted]
        if not chosen:
            return
        done = 0
        try:
            async with sender.receiver(webhook.url) as post:
                for place in chosen:
                    done, event = place, events[place]
                    content = await self._content(owner, event) if webhook.include_content else None
                    body = body_of(event, content, include_content=webhook.include_content)
                    identity, now = message_id(webhook.id, event), self._gieok.engine.clock()
                    await post(signed_headers(found.secret, identity, now, body), body)
        except DeliveryFailed as error:
            raise DeliveryFailed(str(error), done, reason=error.reason) from None

    async def backfill(self, owner: str, cursor: str | None) -> None:
        """A webhook gets what happens from now on."""

    async def erase(self, owner: str) -> None:
        """The receiver is not asked to delete anything: what was sent is theirs."""

    async def _content(self, owner: str, event: Event) -> Mapping[str, Any] | None:
        """The subject of an event as it is now. None if it was deleted, or has no content."""
        read = _CONTENT.get(event.kind.partition(".")[0])
        if read is None:
            return None
        found = await self._gieok.scope(owner).read(lambda view: read(view, event))
        return None if found is None else found.model_dump(mode="json", by_alias=True)


def _message(view: SqlView, event: Event) -> Data | None:
    if event.session_ref is None or event.seq is None:
        return None
    found = view.messages.between(event.session_ref, MessageRange(first=event.seq, last=event.seq))
    return found[0] if found and found[0].withdrawn_at is None else None


def _fact(view: SqlView, event: Event) -> Data | None:
    if event.persona_id is None or event.version is None:
        return None
    root_id, before = UUID(event.subject), event.version - 1
    return next(iter(view.facts.history(event.persona_id, root_id, after=before, limit=1)), None)


def _decision(view: SqlView, event: Event) -> Data | None:
    return next(iter(view.decisions.active([UUID(event.subject)])), None)


_CONTENT: Mapping[str, Callable[[SqlView, Event], Data | None]] = {
    "message": _message,
    "memory": lambda view, event: view.companion.get(UUID(event.subject)),
    "fact": _fact,
    "decision": _decision,
    "persona": lambda view, event: view.personas.get(event.subject),
    "document": lambda view, event: view.documents.open([UUID(event.subject)], event.at).get(
        UUID(event.subject)
    ),
}
"""How the content of an event's subject is read, by the first part of its kind."""
