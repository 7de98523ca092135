"""The protocol of the turn memory store: for one owner, inside one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gieok.memory.turns.records import MemoryItem, RecalledMemory


class MemoryStore(Protocol):
    """Saves and searches turn memories."""

    def save(self, item: MemoryItem, *, message_id: str | None = None) -> None:
        """Save an item of the exchange that ends with this message. Raises Conflict if its id exists,
        InputRefused for anything but a MemoryItem."""
        ...

    def search(self, session_ref: str, query: str, top_k: int) -> Sequence[RecalledMemory]:
        """At most `top_k` items of this session that share words with the query.

        Items with a keyword that shares a whole word with the query rank first, then items with a keyword of
        which a query word is only a prefix. Within each group, more such keywords rank first, then newer
        items. A damaged row raises an error: there is no partial result.
        """
        ...

    def delete(self, session_ref: str, message_ids: Sequence[str] | None = None) -> int:
        """Delete the items of a session, or of its exchanges with these messages. Returns how many."""
        ...


class TurnView(Protocol):
    """A transaction's view with turn memory."""

    @property
    def turns(self) -> MemoryStore: ...
