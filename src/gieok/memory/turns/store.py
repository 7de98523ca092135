"""The store of turn memory, as its steps see it. Synchronous; made for one owner inside one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gieok.memory.turns.records import MemoryItem, RecalledMemory


class MemoryStore(Protocol):
    """Passive: it keeps and finds what it is given, and decides nothing."""

    def save(self, item: MemoryItem) -> None:
        """Keep an item. Conflict where its id exists; InputRefused for anything but a MemoryItem."""
        ...

    def search(self, session_ref: str, query: str, top_k: int) -> Sequence[RecalledMemory]:
        """At most `top_k` items of this session that share words with the query.

        Items with a keyword that shares a whole word with the query come first, then items with a keyword
        that only begins like a word of the query; in each rank the number of such keywords decides, then the
        newest. A damaged row is an error: there is no partial result.
        """
        ...


class TurnView(Protocol):
    """Whatever holds turn memory among its rooms."""

    @property
    def turns(self) -> MemoryStore:
        """Turn memory of the owner at hand."""
        ...
