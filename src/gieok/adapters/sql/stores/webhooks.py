"""Webhooks in SQL. URL and secret are sealed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from gieok.adapters.sql.driver.database import Row, Tx, from_micros, to_micros
from gieok.adapters.sql.stores.events import SqlEventStore
from gieok.adapters.sql.stores.seals import SealedRow, SealPage
from gieok.errors import Conflict
from gieok.memory.events.webhooks import MAX_WEBHOOKS, NewWebhook, Webhook, consumer_name
from gieok.vault import OwnerKeys, Place


class SqlWebhookStore:
    """Webhooks of one owner inside one transaction. Each is a consumer of the owner's events."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys
        self._events = SqlEventStore(tx)

    def add(self, new: NewWebhook, at: datetime) -> None:
        """Add a webhook, which gets the events of all later commits. Conflict if there are too many."""
        webhook = new.webhook
        self._events.register(consumer_name(webhook.id), at, needs_backfill=False)
        if len(self._tx.all("list_webhooks")) >= MAX_WEBHOOKS:
            raise Conflict(f"there are {MAX_WEBHOOKS} webhooks already; remove one first")
        columns = (
            webhook.id.bytes,
            " ".join(webhook.events),
            int(webhook.include_content),
            b"",
            to_micros(webhook.created_at),
        )
        sealed = json.dumps({"url": webhook.url, "secret": new.secret}).encode()
        self._tx.run(
            "add_webhook",
            id=columns[0],
            kinds=columns[1],
            include_content=columns[2],
            content=self._keys.seal(_place(columns), sealed),
            created_at=columns[4],
        )

    def get(self, webhook_id: UUID) -> NewWebhook | None:
        """A webhook with its secret, or None."""
        row = self._tx.one("get_webhook", id=webhook_id.bytes)
        return self._open(row) if row else None

    def list(self) -> Sequence[Webhook]:
        """All webhooks, oldest first."""
        return [self._open(row).webhook for row in self._tx.all("list_webhooks")]

    def remove(self, webhook_id: UUID) -> bool:
        """Remove a webhook with its dead letters. False if there is none."""
        self._events.unregister(consumer_name(webhook_id))
        return bool(self._tx.run("remove_webhook", id=webhook_id.bytes))

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed values of the next rows, by id."""
        rows = self._tx.all("list_webhook_seals", after=after, limit=limit)
        sealed = [
            SealedRow("replace_webhook_seal", {"id": row[0]}, {"content": (_place(row), row[3])})
            for row in rows
        ]
        return SealPage(sealed, rows[-1][0] if len(rows) == limit else None)

    def _open(self, row: Row) -> NewWebhook:
        identity, kinds, include_content, content, created_at = row
        opened = json.loads(self._keys.open(_place(row), content))
        webhook = Webhook(
            id=UUID(bytes=identity),
            url=opened["url"],
            events=tuple(kinds.split()),
            include_content=bool(include_content),
            created_at=from_micros(created_at),
        )
        return NewWebhook(webhook=webhook, secret=opened["secret"])


def _place(row: Sequence[object]) -> Place:
    """Binds the seal to every column: nobody can widen what is sent to a webhook."""
    identity, kinds, include_content, _, created_at = row
    assert isinstance(identity, bytes)  # noqa: S101
    return Place("webhooks", "content", f"{identity.hex()} {kinds} {include_content} {created_at}")
