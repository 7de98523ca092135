"""`GieokStore`: the contract on LangGraph's own store and on ours, one commit per batch, times to live."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph", reason="gieok[langgraph] is not installed")

from langgraph.graph import (  # pyright: ignore[reportMissingTypeStubs]  its types are inline
    END,
    START,
    MessagesState,
    StateGraph,
)
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore, GetOp, IndexConfig, PutOp, SearchOp
from langgraph.store.base.embed import EmbeddingsFunc
from langgraph.store.memory import InMemoryStore

from gieok import Gieok, Settings
from gieok.errors import InputRefused
from gieok.interfaces.langgraph import GieokItem, GieokStore
from gieok.testing.clock import Clock
from gieok.testing.contracts.langgraph_store import BaseStoreContract
from gieok.testing.embedders import LetterEmbedder
from gieok.testing.settings import settings_for

NOTES = ("notes", "mina")


class TestInMemoryStore(BaseStoreContract):
    """LangGraph's own store passes the suite, so that the suite asks for no more than LangGraph defines."""

    @pytest.fixture
    def store(self) -> BaseStore:
        return InMemoryStore()


@pytest.mark.req("INT-3")
class TestGieokStore(BaseStoreContract):
    """On SQLite and PostgreSQL."""

    @pytest.fixture
    async def store(self, gieok: Gieok) -> BaseStore:
        return GieokStore(gieok.user("mina"))


@pytest.mark.req("INT-3")
class TestOpenedGieokStore(BaseStoreContract):
    """On a thread of its own, as a program without an event loop opens it."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[BaseStore]:
        url = f"sqlite:///{tmp_path / 'data' / 'gieok.db'}"
        with GieokStore.open("mina", settings_for(url, tmp_path / "config" / "root.key")) as opened:
            yield opened


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def timed(settings: Settings, clock: Clock) -> AsyncIterator[Gieok]:
    async with await Gieok.open(settings, clock=clock, background=False) as opened:
        yield opened


@pytest.mark.req("INT-3")
async def test_a_batch_that_fails_stores_nothing(gieok: Gieok) -> None:
    store = GieokStore(gieok.user("mina"))
    with pytest.raises(InputRefused):
        await store.abatch([PutOp(NOTES, "a", {"n": 1}), PutOp(NOTES, "b", {"n": object()})])
    with pytest.raises(InputRefused):
        await store.abatch([PutOp(NOTES, "a", {"n": 1}), SearchOp(NOTES, filter={"n": {"$in": [1]}})])
    assert await store.aget(NOTES, "a") is None


@pytest.mark.req("INT-3")
async def test_a_batch_is_one_commit(timed: Gieok) -> None:
    """One cycle changes everything, and one more reads; a batch without changes commits nothing."""
    store = GieokStore(timed.user("mina"))
    plans: list[str] = []
    run = timed.engine.run

    async def counted(checked: Any, *given: Any) -> Any:
        plans.append(checked.plan.name)
        return await run(checked, *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timed.engine, "run", counted)
        await store.abatch([GetOp(NOTES, "a"), *(PutOp(NOTES, str(number), {}) for number in range(20))])
        assert plans == ["read_documents", "change_documents"]
        await store.abatch([GetOp(NOTES, "a"), SearchOp(NOTES)])
        assert plans[2:] == ["read_documents"]


@pytest.mark.req("INT-3")
async def test_a_hit_has_a_score_and_its_reasons(gieok: Gieok) -> None:
    store = GieokStore(gieok.user("mina"))
    await store.aput(NOTES, "ko", {"text": "내일 회사 면접이 있다"})
    await store.aput(NOTES, "en", {"text": "She went running in the park"})
    (hit,) = await store.asearch(("notes",), query="면접은 언제?")
    assert isinstance(hit, GieokItem)
    assert hit.key == "ko"
    assert hit.score is not None
    assert hit.why is not None
    assert hit.why.matched_words == ("면접",)
    assert hit.dict()["why"]["matchedWords"] == ["면접"]
    (run,) = await store.asearch(("notes",), query="runs")
    assert run.key == "en"
    (listed,) = await store.asearch(("notes",), filter={"text": "She went running in the park"})
    assert isinstance(listed, GieokItem)
    assert (listed.score, listed.why, listed.dict()["why"]) == (None, None, None)


async def test_fields_are_searched_as_the_put_or_the_store_says(gieok: Gieok) -> None:
    store = GieokStore(gieok.user("mina"), index={"fields": ["title"]})
    value = {"title": "apples", "body": "pears"}
    await store.aput(NOTES, "default", value)
    await store.aput(NOTES, "body", value, index=["body"])
    await store.aput(NOTES, "none", value, index=False)
    assert [item.key for item in await store.asearch(NOTES, query="apples")] == ["default"]
    assert [item.key for item in await store.asearch(NOTES, query="pears")] == ["body"]
    assert await store.aget(NOTES, "none") is not None


@pytest.mark.req("INT-3")
async def test_a_put_appends_a_version(gieok: Gieok) -> None:
    user = gieok.user("mina")
    store = GieokStore(user)
    for number in range(3):
        await store.aput(NOTES, "a", {"n": number})
    history = await user.documents.history(NOTES, "a")
    assert [(each.version, each.value) for each in history] == [(1, {"n": 0}), (2, {"n": 1}), (3, {"n": 2})]


@pytest.mark.req("INT-3")
async def test_a_time_to_live_ends_and_begins_again_on_read(timed: Gieok, clock: Clock) -> None:
    store = GieokStore(timed.user("mina"), ttl={"default_ttl": 10, "refresh_on_read": True})
    await store.aput(NOTES, "default", {"n": 1})
    await store.aput(NOTES, "longer", {"n": 1}, ttl=30)
    await store.aput(NOTES, "kept", {"n": 1}, ttl=None)
    clock.now += timedelta(minutes=9)
    assert await store.aget(NOTES, "default") is not None
    clock.now += timedelta(minutes=9)
    assert await store.aget(NOTES, "default", refresh_ttl=False) is not None
    clock.now += timedelta(minutes=1)
    assert await store.aget(NOTES, "default") is None
    assert sorted(item.key for item in await store.asearch(NOTES)) == ["kept", "longer"]
    assert await store.asweep_ttl() == 1


async def test_without_refresh_on_read_the_time_is_that_of_the_put(timed: Gieok, clock: Clock) -> None:
    store = GieokStore(timed.user("mina"), ttl={"default_ttl": 10, "refresh_on_read": False})
    await store.aput(NOTES, "a", {"n": 1})
    clock.now += timedelta(minutes=9)
    assert await store.aget(NOTES, "a") is not None
    assert len(await store.asearch(NOTES)) == 1
    clock.now += timedelta(minutes=1)
    assert await store.aget(NOTES, "a") is None
    assert await asyncio.to_thread(store.sweep_ttl) == 1


async def test_owners_share_nothing(gieok: Gieok) -> None:
    """A namespace that names another owner is only a name."""
    mine, theirs = GieokStore(gieok.user("mina")), GieokStore(gieok.user("junho"))
    await mine.aput(("mina", "notes"), "a", {"text": "interview"})
    assert await theirs.aget(("mina", "notes"), "a") is None
    assert await theirs.asearch((), query="interview") == []
    assert await theirs.alist_namespaces() == []
    await theirs.adelete(("mina", "notes"), "a")
    assert await mine.aget(("mina", "notes"), "a") is not None


async def test_a_synchronous_call_on_the_event_loop_is_refused(gieok: Gieok) -> None:
    """It would wait for itself."""
    store = GieokStore(gieok.user("mina"))
    with pytest.raises(asyncio.InvalidStateError, match="async method"):
        store.get(NOTES, "a")


async def test_a_store_is_used_from_another_event_loop(gieok: Gieok) -> None:
    store = GieokStore(gieok.user("mina"))
    await asyncio.to_thread(lambda: asyncio.run(store.aput(NOTES, "a", {"n": 1})))
    assert await store.aget(NOTES, "a") is not None


async def test_nodes_of_a_graph_remember_across_threads(gieok: Gieok) -> None:
    """An async node and a synchronous one, in two threads of conversation."""
    store = GieokStore(gieok.user("mina"))

    async def learn(state: MessagesState, runtime: Runtime[Any]) -> dict[str, Any]:
        assert runtime.store is not None
        await runtime.store.aput(NOTES, "city", {"text": str(state["messages"][-1].text)})
        return {}

    def recall(state: MessagesState, runtime: Runtime[Any]) -> dict[str, Any]:
        assert runtime.store is not None
        found = runtime.store.search(("notes",), query="Where does she live?  Busan")
        return {"messages": [("ai", item.value["text"]) for item in found]}

    def graph(node: Any) -> Any:
        made: Any = StateGraph(MessagesState)
        made.add_node("node", node).add_edge(START, "node").add_edge("node", END)
        return made.compile(store=store)

    await graph(learn).ainvoke({"messages": [("user", "I live in Busan")]})
    answer = await graph(recall).ainvoke({"messages": [("user", "?")]})
    assert answer["messages"][-1].text == "I live in Busan"


MEANINGS = {"dog": 0, "puppy": 0, "car": 1, "truck": 1, "tea": 2}


def by_meaning(texts: Sequence[str]) -> list[list[float]]:
    """An embedding function of three dimensions: a dog and a puppy are the same."""
    return [
        [float(sum(MEANINGS.get(word) == axis for word in text.split())) for axis in range(3)]
        for text in texts
    ]


INDEX: IndexConfig = {"dims": 3, "embed": by_meaning, "fields": ["text"]}


@pytest.mark.req("INT-3")
async def test_an_index_with_a_model_finds_by_meaning_and_says_why(gieok: Gieok) -> None:
    store = GieokStore(gieok.user("mina"), index=INDEX)
    await store.abatch(
        [
            PutOp(NOTES, "puppy", {"text": "a puppy"}),
            PutOp(NOTES, "truck", {"text": "a truck"}),
            PutOp(NOTES, "both", {"text": "dog car"}),
            PutOp(NOTES, "unindexed", {"text": "dog"}, index=False),
        ]
    )
    hits = await store.asearch(NOTES, query="dog")
    assert [hit.key for hit in hits] == ["puppy", "both", "truck", "unindexed"]
    assert [hit.score for hit in hits] == [1.0, pytest.approx(0.5**0.5, abs=1e-3), 0.0, None]
    puppy, both = hits[:2]
    assert isinstance(puppy, GieokItem)
    assert isinstance(both, GieokItem)
    assert puppy.why is not None
    assert (puppy.why.matched_words, puppy.why.signals["vector"].value) == ((), 1.0)
    assert both.why is not None
    assert both.why.matched_words == ("dog",)
    (newest, *_) = await store.asearch(NOTES)
    assert newest.score is None


async def test_a_put_may_name_its_fields_and_the_best_one_counts(gieok: Gieok) -> None:
    store = GieokStore(gieok.user("mina"), index=INDEX)
    value = {"text": "tea", "parts": [{"name": "dog"}, {"name": "car"}]}
    await store.aput(NOTES, "text", value)
    await store.aput(NOTES, "parts", value, index=["parts[*].name", "missing"])
    assert [hit.key for hit in await store.asearch(NOTES, query="car", limit=1)] == ["parts"]
    (hit, *_) = await store.asearch(NOTES, query="puppy")
    assert (hit.key, hit.score) == ("parts", 1.0)
    await store.aput(NOTES, "parts", {"text": "tea"})
    assert [hit.score for hit in await store.asearch(NOTES, query="car")] == [0.0, 0.0]


def _fail(texts: Sequence[str]) -> list[list[float]]:
    raise OSError(len(texts))


def _too_short(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0] for _ in texts]


@pytest.mark.parametrize(("embed", "error"), [(_fail, OSError), (_too_short, InputRefused)])
async def test_a_failing_model_changes_nothing(
    gieok: Gieok, embed: EmbeddingsFunc, error: type[Exception]
) -> None:
    user = gieok.user("mina")
    await GieokStore(user, index=INDEX).aput(NOTES, "a", {"text": "dog"})
    store = GieokStore(user, index=IndexConfig(dims=3, embed=embed))
    with pytest.raises(error):
        await store.abatch([PutOp(NOTES, "b", {"text": "dog"}), PutOp(NOTES, "a", None)])
    assert [hit.key for hit in await GieokStore(user).asearch(NOTES)] == ["a"]


async def test_models_are_not_mixed(gieok: Gieok) -> None:
    """A document with vectors of another model is found by its words, without a score."""

    async def another(texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, 0.0, 0.0] for _ in texts]

    user = gieok.user("mina")
    await GieokStore(user, index=INDEX).aput(NOTES, "a", {"text": "truck"})
    await GieokStore(user, index=INDEX).aput(NOTES, "b", {"text": "dog"})
    other = GieokStore(user, index=IndexConfig(dims=3, embed=another))
    hits = await other.asearch(NOTES, query="truck")
    assert [(hit.key, hit.score) for hit in hits] == [("a", None), ("b", None)]


async def test_the_embedder_of_the_settings_is_used_if_asked_for(settings: Settings, gieok: Gieok) -> None:
    with pytest.raises(InputRefused, match="GIEOK_EMBEDDER"):
        GieokStore(gieok.user("mina"), index={"embed": "gieok"})
    async with await Gieok.open(settings, embedder=LetterEmbedder(), background=False) as opened:
        store = GieokStore(opened.user("mina"), index={"embed": "gieok", "fields": ["text"]})
        await store.aput(NOTES, "a", {"text": "zebra"})
        await asyncio.to_thread(store.put, NOTES, "b", {"text": "milk"})
        hits = await asyncio.to_thread(lambda: store.search(NOTES, query="brazeaze"))
        assert [hit.key for hit in hits] == ["a", "b"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"user.access-level": "nested"}, ["deep"]),
        ({"user.age": {"$gte": 30}}, ["deep"]),
        ({"user.access-level": "flat"}, ["flat"]),
        ({"user": {"more.here": 1}}, ["deep"]),
        ({"user.missing.more": None}, ["deep", "flat"]),
    ],
)
async def test_a_filter_key_with_dots_leads_to_fields_below(
    gieok: Gieok, wanted: dict[str, Any], expected: list[str]
) -> None:
    store = GieokStore(gieok.user("mina"))
    await store.aput(NOTES, "deep", {"user": {"access-level": "nested", "age": 31, "more": {"here": 1}}})
    await store.aput(NOTES, "flat", {"user.access-level": "flat", "user": "mina"})
    assert sorted(item.key for item in await store.asearch(NOTES, filter=wanted)) == expected
