"""Your own store for a room, verified by the contract suite of Gieok.

    python examples/custom_store.py    run Gieok's engine and steps on it
    pytest examples/custom_store.py    run the contract suite (needs pytest-asyncio and hypothesis)

Turn memory needs a store with `save`, `search` and `delete` (gieok.memory.turns.store.MemoryStore). This one
is a list in memory: nothing is encrypted or persistent.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar
from uuid import UUID, uuid4

import pytest

from gieok.engine import Engine, Registry, make_plan
from gieok.errors import Conflict, InputRefused
from gieok.memory.turns.records import MemoryItem, RecalledMemory
from gieok.memory.turns.rules import check_search, matches_part, matches_whole
from gieok.memory.turns.steps import RetrieveMemory
from gieok.refs import check_ref
from gieok.testing.contracts.turns import MemoryStoreContract, ScopeOf

T = TypeVar("T")


class ListStore:
    """Turn memory of one owner."""

    def __init__(self, items: list[MemoryItem], messages: dict[UUID, str | None]) -> None:
        self._items = items
        self._messages = messages  # the last message of the exchange of each item

    def save(self, item: MemoryItem, *, message_id: str | None = None) -> None:
        if type(item) is not MemoryItem:  # a subclass could have more fields
            raise InputRefused("turn memory stores a MemoryItem and nothing else", at="item")
        if any(kept.id == item.id for kept in self._items):
            raise Conflict(f"the memory {item.id} exists already")
        self._items.append(item)
        self._messages[item.id] = message_id

    def delete(self, session_ref: str, message_ids: Sequence[str] | None = None) -> int:
        kept = [
            item
            for item in self._items
            if item.session_ref != session_ref
            or (message_ids is not None and self._messages[item.id] not in message_ids)
        ]
        deleted = len(self._items) - len(kept)
        self._items[:] = kept
        return deleted

    def search(self, session_ref: str, query: str, top_k: int) -> Sequence[RecalledMemory]:
        check_ref(session_ref, "sessionRef")
        check_search(query, top_k)
        ranked = [(rank, item) for item in self._items if (rank := _rank(item, session_ref, query))]
        ranked.sort(key=lambda each: (each[0], -each[1].timestamp.timestamp(), each[1].id.bytes))
        return [
            RecalledMemory(id=item.id, summary=item.summary, timestamp=item.timestamp)
            for _, item in ranked[:top_k]
        ]


def _rank(item: MemoryItem, session_ref: str, query: str) -> tuple[int, int] | None:
    """Rank whole words before parts of words, then more keywords before fewer. None if nothing matches."""
    if item.session_ref != session_ref:
        return None
    whole = sum(matches_whole(keyword, query) for keyword in item.keywords)
    part = sum(matches_part(keyword, query) for keyword in item.keywords)
    return (1, -whole) if whole else (2, -part) if part else None


@dataclass
class ListScope:
    """The data of one owner. A write takes effect completely or not at all."""

    items: list[MemoryItem] = field(default_factory=list[MemoryItem])
    messages: dict[UUID, str | None] = field(default_factory=dict[UUID, str | None])

    @property
    def turns(self) -> ListStore:
        return ListStore(self.items, self.messages)

    async def read(self, work: Callable[[ListScope], T], *, heavy: bool = False) -> T:
        return work(self)

    async def write(self, work: Callable[[ListScope], T]) -> T:
        draft = ListScope(list(self.items), self.messages)
        done = work(draft)
        self.items[:] = draft.items  # all writes have succeeded
        return done


class TestListStore(MemoryStoreContract):
    """The contract of a store for turn memory."""

    @pytest.fixture
    def scope_of(self) -> ScopeOf:
        owners: defaultdict[str, ListScope] = defaultdict(ListScope)
        return owners.__getitem__


PLAN = make_plan(
    {
        "name": "find",
        "version": 1,
        "request": ["sessionRef", "query"],
        "steps": [
            {
                "id": "find",
                "type": "RetrieveMemory",
                "stage": "ContextSelect",
                "inputs": {"sessionRef": "request.sessionRef", "query": "request.query"},
                "metadata": {"topK": 3},
            },
        ],
    }
)


async def main() -> None:
    registry = Registry([RetrieveMemory()])
    engine, plan, minsu = Engine(registry), registry.check(PLAN), ListScope()
    item = MemoryItem(
        id=uuid4(),
        session_ref="s",
        timestamp=datetime.now(UTC),
        summary="사용자가 내일 면접을 앞두고 있음.",
        keywords=("면접",),
    )
    await minsu.write(lambda view: view.turns.save(item))  # in a chat plan, PersistMemory does this
    query = "면접에서는 뭘 물어볼까?"
    result = await engine.run(plan, minsu, {"sessionRef": "s", "query": query})
    found = result.output_of(RetrieveMemory)
    print(f"{query} →", *(memory.summary for memory in found.memories) if found else ())


if __name__ == "__main__":
    asyncio.run(main())
