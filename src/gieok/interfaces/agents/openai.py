"""`GieokSession`: a session of the OpenAI Agents SDK, stored as documents. It imports nothing of the SDK."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol
from uuid import uuid4

from gieok.app import User
from gieok.app.cycles import validated
from gieok.app.documents import put_operation
from gieok.memory.documents.records import MAX_LIST, MAX_OPERATIONS, DeleteDocument, FoundDocument

ROOT = "openai-agents"
SEARCHED = ("content", "output")
"""The fields of an item whose text is searchable."""
PAGE = 200


class SessionLimit(Protocol):
    """The part of the SDK's `SessionSettings` that a session uses."""

    @property
    def limit(self) -> int | None: ...


class GieokSession:
    """The items of one conversation of an agent (`Session` of the SDK): encrypted, kept until cleared.

    Items are stored as the SDK gives them, one document each, in the namespace
    `("openai-agents", session_id)`; `user.documents.search` finds them by words. Items of one call are
    stored together or not at all. An item may have up to 256 KiB.
    """

    def __init__(self, user: User, session_id: str, *, session_settings: SessionLimit | None = None) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        """`limit` is how many of the latest items an agent gets."""
        self._documents = user.documents
        self._namespace = (ROOT, session_id)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The items, oldest first; with a limit, the latest ones."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        found: list[FoundDocument] = []
        while limit is None or len(found) < limit:
            size = PAGE if limit is None else min(MAX_LIST, limit - len(found))
            page = await self._latest(size, offset=len(found))
            found += page
            if len(page) < size:
                break
        return [document.value["item"] for document in reversed(found)]

    async def add_items(self, items: Sequence[Any]) -> None:
        """Add items at the end. More than 1,000 are stored in several commits."""
        for start in range(0, len(items), MAX_OPERATIONS):
            await self._documents.batch(
                [
                    put_operation(
                        self._namespace,
                        str(uuid4()),
                        {"item": item},
                        index=[f"item.{field}" for field in SEARCHED],
                    )
                    for item in items[start : start + MAX_OPERATIONS]
                ]
            )

    async def pop_item(self) -> Any | None:
        """Remove the latest item and return it; None if there is none."""
        while page := await self._latest(1):
            if await self._documents.delete(self._namespace, page[0].key):
                return page[0].value["item"]
        return None

    async def clear_session(self) -> None:
        """Delete all items, with their history."""
        while page := await self._latest(PAGE):
            await self._documents.batch(
                [validated(DeleteDocument, namespace=self._namespace, key=each.key) for each in page]
            )

    async def _latest(self, count: int, offset: int = 0) -> Sequence[FoundDocument]:
        return await self._documents.search(self._namespace, limit=count, offset=offset)
