"""Contract suite for LangGraph stores (`BaseStore`). Subclass it and define the fixture `store`.

class TestMyStore(BaseStoreContract):
    @pytest.fixture
    def store(self): ...   # an empty BaseStore

LangGraph's own InMemoryStore passes it. What a store may leave out (times to live, scores) is skipped for a
store that does not say that it has it.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchItem,
    SearchOp,
)

BOOKS = ("books", "mina")


async def keys(store: BaseStore, *prefix: str, **asked: Any) -> list[str]:
    """The keys that a search finds, sorted."""
    return sorted(item.key for item in await store.asearch(prefix, **asked))


class BaseStoreContract:
    """Run against every LangGraph store."""

    async def test_a_value_is_read_back_as_it_was_put(self, store: BaseStore) -> None:
        value: dict[str, Any] = {
            "text": "면접",
            "n": 1,
            "x": 2.5,
            "none": None,
            "list": [True, {"a": []}],
            "": "empty key",
        }
        await store.aput(BOOKS, "a", value)
        item = await store.aget(BOOKS, "a")
        assert item is not None
        assert type(item) is Item
        assert (item.namespace, item.key, item.value) == (BOOKS, "a", value)
        assert isinstance(item.created_at, datetime)
        assert item.created_at.tzinfo is not None
        assert await store.aget(BOOKS, "b") is None
        assert await store.aget(("books",), "a") is None

    async def test_a_second_put_replaces_the_value(self, store: BaseStore) -> None:
        await store.aput(BOOKS, "a", {"n": 1, "old": True})
        first = await store.aget(BOOKS, "a")
        await store.aput(BOOKS, "a", {"n": 2})
        second = await store.aget(BOOKS, "a")
        assert first is not None
        assert second is not None
        assert second.value == {"n": 2}
        assert second.updated_at > first.updated_at
        assert await keys(store) == ["a"]

    async def test_a_deleted_item_is_gone(self, store: BaseStore) -> None:
        await store.aput(BOOKS, "a", {"n": 1})
        await store.adelete(BOOKS, "a")
        await store.adelete(BOOKS, "never there")
        assert await store.aget(BOOKS, "a") is None
        assert await keys(store) == []

    async def test_synchronous_calls_work_from_another_thread(self, store: BaseStore) -> None:
        await asyncio.to_thread(store.put, BOOKS, "a", {"n": 1})
        item = await asyncio.to_thread(store.get, BOOKS, "a")
        assert item is not None
        assert item.value == {"n": 1}
        found = await asyncio.to_thread(store.search, ("books",))
        assert [each.key for each in found] == ["a"]
        assert await asyncio.to_thread(store.list_namespaces) == [BOOKS]
        await asyncio.to_thread(store.delete, BOOKS, "a")
        assert await store.aget(BOOKS, "a") is None

    @pytest.mark.parametrize("namespace", [(), ("a.b",), ("a", ""), ("langgraph", "a")])
    async def test_an_invalid_namespace_is_refused(
        self, store: BaseStore, namespace: tuple[str, ...]
    ) -> None:
        with pytest.raises(InvalidNamespaceError):
            await store.aput(namespace, "a", {})
        assert await keys(store) == []

    async def test_a_batch_gives_its_results_in_order(self, store: BaseStore) -> None:
        await store.aput(BOOKS, "a", {"n": 1})
        results = await store.abatch(
            [
                PutOp(BOOKS, "b", {"n": 2}),
                GetOp(BOOKS, "a"),
                SearchOp(("books",), filter={"n": 1}),
                ListNamespacesOp(),
                GetOp(BOOKS, "missing"),
                PutOp(BOOKS, "missing", None),
            ]
        )
        put, got, found, namespaces, missing, deleted = results
        assert (put, missing, deleted) == (None, None, None)
        assert isinstance(got, Item)
        assert got.value == {"n": 1}
        assert isinstance(found, list)
        assert [isinstance(each, SearchItem) for each in found] == [True]
        assert namespaces == [BOOKS]
        assert await store.abatch([]) == []

    async def test_reads_of_a_batch_see_the_state_before_it(self, store: BaseStore) -> None:
        await store.aput(BOOKS, "a", {"n": 1})
        put, got = await store.abatch([PutOp(BOOKS, "a", {"n": 2}), GetOp(BOOKS, "a")])
        assert put is None
        assert isinstance(got, Item)
        assert got.value == {"n": 1}

    async def test_the_last_put_of_an_item_in_a_batch_counts(self, store: BaseStore) -> None:
        await store.abatch(
            [
                PutOp(BOOKS, "a", {"n": 1}),
                PutOp(BOOKS, "b", {"n": 1}),
                PutOp(BOOKS, "a", {"n": 2}),
                PutOp(BOOKS, "b", None),
            ]
        )
        item = await store.aget(BOOKS, "a")
        assert item is not None
        assert item.value == {"n": 2}
        assert await store.aget(BOOKS, "b") is None

    async def test_a_search_stays_below_its_prefix(self, store: BaseStore) -> None:
        for namespace in (("a",), ("a", "b"), ("ab",), ("a%",), ("A",), ("a", "b", "c")):
            await store.aput(namespace, "-".join(namespace), {"n": 1})
        assert await keys(store, "a") == ["a", "a-b", "a-b-c"]
        assert await keys(store, "a", "b") == ["a-b", "a-b-c"]
        assert await keys(store, "a%") == ["a%"]
        assert await keys(store, "b") == []
        assert len(await keys(store)) == 6

    async def test_pages_cover_everything_once(self, store: BaseStore) -> None:
        for number in range(7):
            await store.aput(BOOKS, str(number), {"n": number})
        pages = [await store.asearch(("books",), limit=3, offset=offset) for offset in (0, 3, 6, 9)]
        assert [len(page) for page in pages] == [3, 3, 1, 0]
        assert sorted(item.key for page in pages for item in page) == [str(number) for number in range(7)]

    @pytest.mark.parametrize(
        ("wanted", "expected"),
        [
            ({"kind": "novel"}, ["a", "c"]),
            ({"kind": "novel", "year": 1990}, ["a"]),
            ({"kind": {"$eq": "novel"}}, ["a", "c"]),
            ({"kind": {"$ne": "novel"}}, ["b"]),
            ({"year": {"$gt": 1990}}, ["b", "c"]),
            ({"year": {"$gte": 1990, "$lt": 2020}}, ["a", "b"]),
            ({"year": {"$lte": 1990}}, ["a"]),
            ({"author": {"name": "Han"}}, ["c"]),
            ({"tags": ["x", "y"]}, ["b"]),
            ({"missing": "x"}, []),
            ({}, ["a", "b", "c"]),
        ],
    )
    async def test_filters_compare_values_and_apply_operators(
        self, store: BaseStore, wanted: dict[str, Any], expected: list[str]
    ) -> None:
        author = {"name": "Han", "born": 1970}
        await store.aput(BOOKS, "a", {"kind": "novel", "year": 1990})
        await store.aput(BOOKS, "b", {"kind": "poem", "year": 2005.5, "tags": ["x", "y"]})
        await store.aput(BOOKS, "c", {"kind": "novel", "year": 2020, "author": author})
        assert await keys(store, "books", filter=wanted) == expected

    @pytest.mark.parametrize(
        ("asked", "expected"),
        [
            ({}, ["a", "a/b", "a/b/c", "a/x/c", "d/b"]),
            ({"prefix": ("a",)}, ["a", "a/b", "a/b/c", "a/x/c"]),
            ({"prefix": ("a", "*", "c")}, ["a/b/c", "a/x/c"]),
            ({"suffix": ("b",)}, ["a/b", "d/b"]),
            ({"suffix": ("*", "c")}, ["a/b/c", "a/x/c"]),
            ({"prefix": ("a",), "suffix": ("c",)}, ["a/b/c", "a/x/c"]),
            ({"max_depth": 1}, ["a", "d"]),
            ({"prefix": ("a",), "max_depth": 2}, ["a", "a/b", "a/x"]),
            ({"limit": 2, "offset": 1}, ["a/b", "a/b/c"]),
            ({"prefix": ("nowhere",)}, []),
        ],
    )
    async def test_namespaces_are_listed_by_prefix_suffix_and_depth(
        self, store: BaseStore, asked: dict[str, Any], expected: list[str]
    ) -> None:
        for namespace in (("a",), ("a", "b"), ("a", "b", "c"), ("a", "x", "c"), ("d", "b")):
            await store.aput(namespace, "k", {})
        assert ["/".join(each) for each in await store.alist_namespaces(**asked)] == expected

    async def test_conditions_on_namespaces_must_all_hold(self, store: BaseStore) -> None:
        for namespace in (("a", "b"), ("a", "c")):
            await store.aput(namespace, "k", {})
        conditions = (MatchCondition("prefix", ("a",)), MatchCondition("suffix", ("c",)))
        (found,) = await store.abatch([ListNamespacesOp(match_conditions=conditions)])
        assert found == [("a", "c")]

    async def test_scores_fall(self, store: BaseStore) -> None:
        await store.aput(BOOKS, "one", {"text": "the cat sat on the mat"})
        await store.aput(BOOKS, "two", {"text": "the cat and another cat met a cat"})
        found = await store.asearch(("books",), query="cat")
        scores = [item.score for item in found]
        if None in scores:
            pytest.skip("this store does not rank")
        assert len(found) == 2
        assert scores == sorted(scores, key=lambda score: -(score or 0))

    async def test_a_time_to_live_is_taken(self, store: BaseStore) -> None:
        if not store.supports_ttl:
            with pytest.raises(NotImplementedError):
                await store.aput(BOOKS, "a", {}, ttl=1)
            return
        await store.aput(BOOKS, "a", {"n": 1}, ttl=10)
        item = await store.aget(BOOKS, "a", refresh_ttl=False)
        assert item is not None
        assert await keys(store, "books", refresh_ttl=True) == ["a"]
