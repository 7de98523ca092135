"""Contract suite for document stores. Subclass it and define the fixture `scope_of`.

class TestMyStore(DocumentStoreContract):
    @pytest.fixture
    def scope_of(self): ...   # returns a function: owner → a scope with async `read(work)` and `write(work)`
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeVar

import pytest

from gieok.memory.documents.records import (
    DeleteDocument,
    Document,
    DocumentHead,
    DocumentName,
    PutDocument,
    SearchDocuments,
)
from gieok.memory.documents.search import DocumentSearchPolicy, SearchWeights, search_documents
from gieok.memory.documents.store import DocumentView

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
POLICY = DocumentSearchPolicy(
    k1=0.9, b=0.75, half_life_days=30.0, weights=SearchWeights(bm25=1.0, recency=0.05)
)
NOTES = ("notes", "minsu")
T = TypeVar("T")


class DocumentScope(Protocol):
    """Runs work on one owner's documents, with one transaction per call."""

    async def read(self, work: Callable[[DocumentView], T]) -> T: ...
    async def write(self, work: Callable[[DocumentView], T]) -> T: ...


ScopeOf = Callable[[str], DocumentScope]


async def put(
    scope: DocumentScope,
    key: str,
    value: dict[str, Any],
    *,
    namespace: tuple[str, ...] = NOTES,
    at: datetime = START,
    ttl: float | None = None,
    index: tuple[str, ...] | None = None,
) -> DocumentHead:
    """Write a document."""
    change = PutDocument(namespace=namespace, key=key, value=value, ttl_seconds=ttl, index=index)
    (result,) = await scope.write(lambda view: view.documents.change([change], at))
    assert result.saved is not None
    return result.saved


async def get(
    scope: DocumentScope, key: str, *, namespace: tuple[str, ...] = NOTES, at: datetime = START
) -> Document | None:
    """Read a document."""
    name = DocumentName(namespace=namespace, key=key)
    return (await scope.read(lambda view: view.documents.get([name], at))).get(name)


async def delete(scope: DocumentScope, key: str, *, at: datetime = START) -> bool | None:
    """Delete a document."""
    change = DeleteDocument(namespace=NOTES, key=key)
    (result,) = await scope.write(lambda view: view.documents.change([change], at))
    return result.deleted


async def found(
    scope: DocumentScope, query: str | None = None, *, at: datetime = START, **asked: Any
) -> list[str]:
    """The keys that a search finds, in order."""
    search = SearchDocuments(query=query, **asked)
    hits = await scope.read(lambda view: search_documents(view.documents, search, POLICY, at))
    return [hit.key for hit in hits]


async def namespaces(scope: DocumentScope, at: datetime = START) -> list[tuple[str, ...]]:
    """The namespaces, sorted."""
    return sorted(await scope.read(lambda view: view.documents.namespaces(at)))


class DocumentStoreContract:
    """Run against every document store."""

    async def test_a_put_makes_a_version_and_the_newest_is_read(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        first = await put(scope, "a", {"text": "one", "list": [1, 2.5, None, True, {"deep": "값"}]})
        second = await put(scope, "a", {"text": "two"}, at=START + MINUTE)
        assert (first.version, second.version) == (1, 2)
        document = await get(scope, "a")
        assert document is not None
        assert document.value == {"text": "two"}
        assert (document.created_at, document.updated_at) == (START, START + MINUTE)
        name = DocumentName(namespace=NOTES, key="a")
        history = await scope.read(lambda view: view.documents.history(name, START))
        assert [each.value for each in history] == [
            {"text": "one", "list": [1, 2.5, None, True, {"deep": "값"}]},
            {"text": "two"},
        ]

    async def test_names_are_namespace_and_key_together(self, scope_of: ScopeOf) -> None:
        """Labels are never joined: ("a", "b") with key "c" is not ("a",) with key "b", nor ("a.b",)."""
        scope = scope_of("minsu")
        await put(scope, "c", {"n": 1}, namespace=("a", "b"))
        await put(scope, "b", {"n": 2}, namespace=("a",))
        await put(scope, "c", {"n": 3}, namespace=("a.b",))
        assert await get(scope, "b", namespace=("a", "c")) is None
        assert await namespaces(scope) == [("a",), ("a", "b"), ("a.b",)]
        assert await found(scope, namespace=("a",)) == ["b", "c"]
        assert await found(scope, namespace=("a", "b")) == ["c"]

    async def test_a_deleted_document_is_gone_with_its_history(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await put(scope, "a", {"text": "interview"})
        await put(scope, "b", {"text": "interview"})
        assert await delete(scope, "a") is True
        assert await delete(scope, "a") is False
        assert await get(scope, "a") is None
        assert await found(scope, "interview") == ["b"]
        assert (await put(scope, "a", {"text": "again"})).version == 1

    async def test_changes_are_stored_together_or_not_at_all(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")

        def fail(view: DocumentView) -> None:
            view.documents.change([PutDocument(namespace=NOTES, key="a", value={})], START)
            raise RuntimeError

        with pytest.raises(RuntimeError):
            await scope.write(fail)
        assert await get(scope, "a") is None
        assert await found(scope) == []

    async def test_words_find_documents_in_korean_and_english(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await put(scope, "ko", {"text": "내일 회사 면접이 있다"})
        await put(scope, "en", {"nested": {"list": ["She is running in the park"]}})
        await put(scope, "food", {"text": "김치를 담갔다"})
        assert await found(scope, "면접에서는") == ["ko"]
        assert await found(scope, "runs") == ["en"]
        assert await found(scope, "kimchi") == ["food"]
        assert await found(scope, "자전거") == []

    async def test_a_new_version_is_found_by_its_own_words_only(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await put(scope, "a", {"text": "interview"})
        assert await found(scope, "interview") == ["a"]
        await put(scope, "a", {"text": "holiday"})
        assert await found(scope, "interview") == []
        assert await found(scope, "holiday") == ["a"]

    async def test_only_the_indexed_paths_are_searched(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        value = {"title": "apples", "parts": [{"text": "pears"}, {"text": "plums"}], "secret": "cherries"}
        await put(scope, "a", value, index=("title", "parts[*].text"))
        await put(scope, "b", value, index=())
        await put(scope, "c", value, index=("parts[-1]",))
        assert await found(scope, "apples") == ["a"]
        assert sorted(await found(scope, "plums")) == ["a", "c"]
        assert await found(scope, "pears") == ["a"]
        assert await found(scope, "cherries") == []
        assert len(await found(scope)) == 3

    async def test_without_a_query_the_last_updated_is_first(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        for number, key in enumerate("abcd"):
            await put(scope, key, {"n": number}, at=START + number * MINUTE)
        await put(scope, "a", {"n": 9}, at=START + 9 * MINUTE)
        assert await found(scope) == ["a", "d", "c", "b"]
        assert await found(scope, limit=2, offset=1) == ["d", "c"]
        assert await found(scope, filter={"n": {"$gte": 2}}, limit=2, offset=1) == ["d", "c"]

    async def test_an_expired_document_does_not_exist(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await put(scope, "short", {"text": "interview"}, ttl=60.0)
        await put(scope, "long", {"text": "interview"}, ttl=600.0)
        later = START + MINUTE
        assert await get(scope, "short", at=later - timedelta(seconds=1)) is not None
        assert await get(scope, "short", at=later) is None
        assert await found(scope, "interview", at=later) == ["long"]
        assert await found(scope, at=later) == ["long"]
        again = await put(scope, "short", {"text": "new"}, at=later)
        assert (again.version, again.created_at, again.expires_at) == (1, later, None)

    async def test_a_refresh_begins_the_time_to_live_again(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await put(scope, "a", {"n": 1}, ttl=60.0)
        await put(scope, "b", {"n": 1})
        names = [DocumentName(namespace=NOTES, key=key) for key in "abc"]
        await scope.write(lambda view: view.documents.refresh(names, START + MINUTE / 2))
        assert await get(scope, "a", at=START + MINUTE) is not None
        assert await get(scope, "a", at=START + 2 * MINUTE) is None
        assert await get(scope, "b", at=START + 2 * MINUTE) is not None

    async def test_a_sweep_deletes_what_has_expired(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        for key in "abc":
            await put(scope, key, {"n": 1}, ttl=60.0, namespace=("short", key))
        await put(scope, "d", {"n": 1}, namespace=("kept",))

        async def sweep(limit: int) -> int:
            return await scope.write(lambda view: view.documents.delete_expired(START + MINUTE, limit))

        assert [await sweep(2), await sweep(2), await sweep(2)] == [2, 1, 0]
        assert await namespaces(scope) == [("kept",)]
        assert await found(scope, at=START + MINUTE) == ["d"]

    async def test_owners_share_nothing(self, scope_of: ScopeOf) -> None:
        mine, theirs = scope_of("minsu"), scope_of("jiyoung")
        await put(mine, "a", {"text": "interview"})
        await put(theirs, "a", {"text": "holiday"})
        kept = await get(mine, "a")
        assert kept is not None
        assert kept.value == {"text": "interview"}
        assert await found(theirs, "interview") == []
        assert await delete(theirs, "a") is True
        assert await found(mine, "interview") == ["a"]
        assert await namespaces(theirs) == []

    async def test_concurrent_puts_of_one_name_make_one_chain(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        saved: Sequence[DocumentHead] = await asyncio.gather(
            *(put(scope, "a", {"n": number}) for number in range(8))
        )
        assert sorted(each.version for each in saved) == list(range(1, 9))
        assert await found(scope) == ["a"]
