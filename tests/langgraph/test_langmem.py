"""LangMem's tools on `GieokStore`, with the real package."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gieok import Gieok
from gieok.interfaces.langgraph import GieokStore

langmem: Any = pytest.importorskip("langmem", reason="langmem is not installed: make adapters")

CONFIG: dict[str, Any] = {"configurable": {"user": "mina"}}
NAMESPACE = ("memories", "{user}")


@pytest.mark.req("INT-3")
async def test_the_tools_create_search_update_and_delete(gieok: Gieok) -> None:
    store = GieokStore(gieok.user("team"))
    manage = langmem.create_manage_memory_tool(namespace=NAMESPACE, store=store)
    search = langmem.create_search_memory_tool(namespace=NAMESPACE, store=store)

    async def found(query: str) -> list[dict[str, Any]]:
        return json.loads(await search.ainvoke({"query": query}, CONFIG))

    await manage.ainvoke({"content": "The user makes kimchi with an aunt", "action": "create"}, CONFIG)
    await manage.ainvoke({"content": "The user runs every morning", "action": "create"}, CONFIG)
    (kimchi,) = await found("김치")
    assert kimchi["namespace"] == ["memories", "mina"]
    assert kimchi["why"]["matchedWords"] == ["김치"]
    changed = {"id": kimchi["key"], "content": "The user buys kimchi", "action": "update"}
    await manage.ainvoke(changed, CONFIG)
    (kimchi,) = await found("kimchi")
    assert kimchi["value"] == {"content": "The user buys kimchi"}
    await manage.ainvoke({"id": kimchi["key"], "action": "delete"}, CONFIG)
    assert await found("kimchi") == []
    assert [item["value"]["content"] for item in await found("running")] == ["The user runs every morning"]
