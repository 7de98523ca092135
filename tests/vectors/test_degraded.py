"""No silent fallback: a search without its embedder fails, or says that it was made by words alone."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gieok import Gieok, Settings
from gieok.client import GieokClient
from gieok.engine import ExecutionPlan, make_plan
from gieok.errors import GieokError, ModelUnavailable, StepFailed, StoreDamaged
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.companion.vectors.search import Vector
from gieok.plans import read_plan
from gieok.testing.contracts.companion import memory, save
from gieok.testing.embedders import LetterEmbedder
from tests.behind import Behind
from tests.rest.conftest import GENEROUS, serving


def strict(name: str) -> ExecutionPlan:
    """A shipped plan that does not allow recall to continue without vectors."""
    document = json.loads(read_plan(name))
    for step in document["steps"]:
        if step["type"] == "RecallMemories":
            step["metadata"]["allowDegraded"] = []
    return make_plan(document)


async def embedded(gieok: Gieok, *summaries: str) -> None:
    """Memories with their vectors."""
    await save(gieok.scope("minsu"), *(memory(each, minute=n) for n, each in enumerate(summaries)))
    await gieok.user("minsu").companion.embed()


@pytest.mark.req("ENG-7")
async def test_a_search_by_words_alone_says_so(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    embedder = LetterEmbedder()
    async with await Gieok.open(settings, embedder=embedder) as gieok:
        await embedded(gieok, "a zebra")
        companion = gieok.user("minsu").companion
        assert (await companion.search("hana", "zebra")).degraded == ()
        embedder.is_down = True
        with caplog.at_level(logging.WARNING):
            found, nothing = await companion.search("hana", "zebra"), await companion.search("hana", "ox")
        assert [hit.memory.summary for hit in found] == ["a zebra"]
        assert (found.degraded, nothing, nothing.degraded) == (("vectors",), (), ("vectors",))
        assert "without vectors" in caplog.text
        assert "zebra" not in caplog.text


@pytest.mark.req("ENG-7")
async def test_a_search_fails_where_the_plan_does_not_allow_words_alone(settings: Settings) -> None:
    embedder = LetterEmbedder()
    async with await Gieok.open(settings, embedder=embedder) as gieok:
        user = gieok.user("minsu")
        await embedded(gieok, "a zebra")
        persona = await user.personas.create(PersonaDraft(name="하나"))
        embedder.is_down = True
        with pytest.raises(StepFailed) as failed:
            await user.companion.search("hana", "zebra", plan=strict("search_memories"))
        assert (failed.value.step, type(failed.value.cause)) == ("recall", ModelUnavailable)
        with pytest.raises(StepFailed) as failed:
            await user.chat.send(persona.id, "zebra?", session_ref="s", plan=strict("chat_turn"))
        assert (failed.value.step, type(failed.value.cause)) == ("recall", ModelUnavailable)
        assert (await user.sessions.list()).sessions == (), "nothing of the turn is stored"


class WrongEmbedder(LetterEmbedder):
    """Answers a query with a vector that cannot be compared."""

    answer: Vector = ()

    async def embed_query(self, text: str) -> Vector:
        return self.answer


@pytest.mark.req("ENG-7")
@pytest.mark.parametrize("answer", [[1.0] * 31, [], [float("nan")] * 32, ["x"] * 32])
async def test_a_query_vector_that_cannot_be_compared_is_a_failure_of_the_embedder(
    settings: Settings, answer: Any
) -> None:
    embedder = WrongEmbedder()
    embedder.answer = answer
    async with await Gieok.open(settings, embedder=embedder) as gieok:
        await embedded(gieok, "a zebra")
        companion = gieok.user("minsu").companion
        assert (await companion.search("hana", "zebra")).degraded == ("vectors",)
        with pytest.raises(StepFailed) as failed:
            await companion.search("hana", "zebra", plan=strict("search_memories"))
        assert isinstance(failed.value.cause, ModelUnavailable)


@pytest.mark.req("ENG-7")
async def test_a_query_in_an_unsupported_language_is_no_failure(settings: Settings) -> None:
    embedder = LetterEmbedder(languages={"en"})
    async with await Gieok.open(settings, embedder=embedder) as gieok:
        await embedded(gieok, "얼룩말을 봄.")
        embedder.is_down = True
        found = await gieok.user("minsu").companion.search("hana", "얼룩말")
        assert (len(found), found.degraded) == (1, ())


@pytest.mark.req("ENG-7")
def test_chat_and_search_say_it_over_http(settings: Settings) -> None:
    embedder = LetterEmbedder()
    with serving(settings, GENEROUS, embedder=embedder) as server, server.client("minsu") as client:
        persona = client.post("/api/v1/personas", json={"name": "하나"}).json()["persona"]["id"]
        body = {"personaId": persona, "message": "내일 면접이 있어"}
        query = {"personaId": persona, "q": "면접"}
        assert client.post("/api/v1/chat/send", json=body).json()["degraded"] == []
        assert client.get("/api/v1/memory/search", params=query).json()["degraded"] == []
        embedder.is_down = True
        answer = client.post("/api/v1/chat/send", json=body).json()
        assert (answer["success"], answer["degraded"]) == (True, ["vectors"])
        assert client.get("/api/v1/memory/search", params=query).json()["degraded"] == ["vectors"]
        own_plan = {**body, "plan": strict("chat_turn").model_dump(mode="json", by_alias=True)}
        refused = client.post("/api/v1/chat/send", json=own_plan)
        assert (refused.status_code, refused.json()["error"]) == (502, "MODEL_UNAVAILABLE")


@pytest.mark.req("ENG-7")
async def test_the_client_says_it(settings: Settings) -> None:
    embedder = LetterEmbedder()
    embedder.is_down = True
    with serving(settings, GENEROUS, embedder=embedder) as server:
        async with GieokClient(server.url, server.token("minsu")) as client:
            persona = await client.personas.create(PersonaDraft(name="하나"))
            assert (await client.memory.search(persona.id, "면접")).degraded == ("vectors",)
            assert (await client.chat.send(persona.id, "안녕")).degraded == ("vectors",)


async def _search(gieok: Gieok) -> object:
    return await gieok.user("minsu").companion.search("hana", "zebra")


async def _load(gieok: Gieok) -> object:
    return await gieok.user("minsu").companion.load("hana")


async def _list(gieok: Gieok) -> object:
    return await gieok.user("minsu").companion.list("hana")


@pytest.mark.req("ENG-7", "TURN-8")
@pytest.mark.parametrize("read", [_search, _load, _list])
async def test_a_missing_memory_is_damage(
    settings: Settings, behind: Behind, read: Callable[[Gieok], Awaitable[object]]
) -> None:
    """A smaller result never stands in for a row that is gone."""
    async with await Gieok.open(settings, embedder=LetterEmbedder()) as gieok:
        await embedded(gieok, "a zebra", "an ox", "a cat")
    behind.run("DELETE FROM memory_vectors WHERE number = 2")
    behind.run("DELETE FROM memories WHERE number = 2")
    async with await Gieok.open(settings, embedder=LetterEmbedder()) as gieok:
        with pytest.raises(GieokError) as failed:
            await read(gieok)
        assert isinstance(failed.value.__cause__ or failed.value, StoreDamaged)


@pytest.mark.req("ENG-7")
async def test_a_vector_without_a_memory_is_damage(settings: Settings, behind: Behind) -> None:
    """Its value must not go to another memory."""
    async with await Gieok.open(settings, embedder=LetterEmbedder()) as gieok:
        await embedded(gieok, "a zebra", "an ox", "a cat")
    behind.run("UPDATE memories SET number = 9 WHERE number = 3")
    async with await Gieok.open(settings, embedder=LetterEmbedder()) as gieok:
        with pytest.raises(StepFailed) as failed:
            await _search(gieok)
        assert isinstance(failed.value.cause, StoreDamaged)
