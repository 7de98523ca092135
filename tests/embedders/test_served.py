"""Embedders on a server, against a real one on this machine: both wires, and everything that goes wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from gieok import Gieok, Settings
from gieok.adapters.embedders import OwnEmbedder, open_embedder, served
from gieok.errors import ModelUnavailable, SettingsInvalid
from gieok.memory.companion.records import MemoryDraft
from gieok.settings.embedder import embedder_settings
from tests.embedders.server import (
    DIMENSION,
    EmbeddingServer,
    Failure,
    cut,
    saying,
    serving,
    slow,
    status,
    vector,
    with_vectors,
)

KEY = "key-of-this-test"
TEXT = "a secret zebra"
WIRES = {"openai": "openai:mini-model", "google": "google:gemini-embedding-001"}


@pytest.fixture(autouse=True)
def no_long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between tries, a test need not wait as long as a program."""
    monkeypatch.setattr(served, "FIRST_WAIT_SECONDS", 0.01)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving() as running:
        yield running


@pytest.fixture(params=list(WIRES))
def wire(request: pytest.FixtureRequest) -> str:
    return WIRES[request.param]


@pytest.fixture
async def embedder(server: EmbeddingServer, wire: str) -> AsyncIterator[OwnEmbedder]:
    """The embedder of each wire, as the settings make it."""
    made = opened(wire, server)
    yield made
    await made.close()


def opened(wire: str, server: EmbeddingServer) -> OwnEmbedder:
    given = {"embedder": f"{wire}@{DIMENSION}", "embedder_base_url": server.url}
    made = open_embedder(embedder_settings(given), KEY)
    assert made is not None
    return made


async def test_texts_come_back_as_vectors_in_their_order(
    embedder: OwnEmbedder, server: EmbeddingServer
) -> None:
    texts = ["one", "a zebra", "three", "면접"]
    assert list(await embedder.embed_documents(texts)) == [vector(text) for text in texts]
    assert await embedder.embed_query("zebra") == vector("zebra")
    assert all(KEY in (heard.key or "") for heard in server.heard)


async def test_many_texts_are_asked_in_batches(embedder: OwnEmbedder, server: EmbeddingServer) -> None:
    texts = [f"text {n}" for n in range(130)]
    assert list(await embedder.embed_documents(texts)) == [vector(text) for text in texts]
    assert len(server.heard) == 3


@pytest.mark.parametrize(
    "failures",
    [
        [status(429, retry_after="0")],
        [status(429, retry_after=format_datetime(datetime(2020, 1, 1, tzinfo=UTC), usegmt=True))],
        [status(429, retry_after="soon")],
        [status(500), status(503)],
        [cut],
    ],
)
async def test_what_passes_is_tried_again(
    embedder: OwnEmbedder, server: EmbeddingServer, failures: list[Failure]
) -> None:
    server.failures += failures
    assert await embedder.embed_query(TEXT) == vector(TEXT)
    assert len(server.heard) == len(failures) + 1


async def test_a_server_that_wants_more_time_than_there_is_is_not_waited_for(
    embedder: OwnEmbedder, server: EmbeddingServer
) -> None:
    server.failures.append(status(429, retry_after="3600"))
    with pytest.raises(ModelUnavailable, match="busy"):
        await embedder.embed_query(TEXT)
    assert len(server.heard) == 1


async def test_a_slow_server_is_given_up(
    embedder: OwnEmbedder, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "QUERY_SECONDS", 0.2)
    server.failures.append(slow)
    with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.2 s"):
        await embedder.embed_query(TEXT)


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (status(401), "GIEOK_EMBEDDER_API_KEY"),
        (status(403), "GIEOK_EMBEDDER_API_KEY"),
        (status(404), "no such model"),
        (status(400), "refused the question"),
        (status(302, location="http://127.0.0.1:1/"), "refused the question"),
        (saying(b"<html>"), "else than JSON"),
        (saying(b"\xff\xfe"), "else than JSON"),
        (saying(b"[]"), "not the form"),
        (saying(b'{"data": [{"index": 0}], "embeddings": [{}]}'), "not the form"),
        (saying(b'{"data": null, "embeddings": null}'), "not the form"),
        (with_vectors(lambda vectors: vectors[:-1]), "for 2 texts"),
        (with_vectors(lambda vectors: [*vectors, vectors[0]]), "for 2 texts"),
        (with_vectors(lambda vectors: [each[:2] for each in vectors]), "of 2 numbers"),
        (with_vectors(lambda vectors: [vectors[0], vectors[1][:2]]), "vectors of numbers"),
        (with_vectors(lambda vectors: [[float("nan")] * DIMENSION] * 2), "not finite"),
        (with_vectors(lambda vectors: [[1e308] * DIMENSION] * 2), "not finite"),
        (with_vectors(lambda vectors: [["x"] * DIMENSION] * 2), "vectors of numbers"),
        (with_vectors(lambda vectors: ["x"] * 2), "vectors of numbers"),
    ],
)
async def test_an_answer_that_is_wrong_is_refused_at_once_without_the_text_or_the_key(
    embedder: OwnEmbedder, server: EmbeddingServer, failure: Failure, said: str
) -> None:
    server.failures.append(failure)
    with pytest.raises(ModelUnavailable, match=said) as refused:
        await embedder.embed_documents([TEXT, "an ox"])
    assert len(server.heard) == 1
    assert not any(secret in str(refused.value) for secret in (TEXT, KEY))


async def test_a_server_that_is_not_there_is_unavailable(wire: str, server: EmbeddingServer) -> None:
    nowhere = replace(server, url="http://127.0.0.1:1/v1")
    embedder = opened(wire, nowhere)
    with pytest.raises(ModelUnavailable, match="could not be reached"):
        await embedder.embed_query(TEXT)
    await embedder.close()


async def test_each_wire_says_what_a_text_is_for_and_how_long_its_vector_is(server: EmbeddingServer) -> None:
    for name in ("google:gemini-embedding-001@4", "openai:text-embedding-3-small@4"):
        given = {"embedder": name, "embedder_base_url": server.url}
        embedder = open_embedder(embedder_settings(given), None)
        assert embedder is not None
        await embedder.embed_query(TEXT)
        await embedder.close()
    gemini, openai = server.heard
    assert gemini.path == "/v1/models/gemini-embedding-001:batchEmbedContents"
    assert gemini.body["requests"][0]["taskType"] == "RETRIEVAL_QUERY"
    assert gemini.body["requests"][0]["outputDimensionality"] == 4
    assert (openai.path, openai.body["dimensions"], openai.key) == ("/v1/embeddings", 4, None)


async def test_an_unknown_model_must_say_its_dimension() -> None:
    with pytest.raises(SettingsInvalid, match="openai:bge-m3@DIMENSION"):
        open_embedder(embedder_settings({"embedder": "openai:bge-m3"}), None)


async def test_gieok_embeds_and_searches_with_the_embedder_of_its_settings(
    settings: Settings, server: EmbeddingServer
) -> None:
    given = {"embedder": f"openai:mini-model@{DIMENSION}", "embedder_base_url": server.url}
    settings = replace(settings, embedding=embedder_settings(given), secrets={"GIEOK_EMBEDDER_API_KEY": KEY})
    async with await Gieok.open(settings) as gieok:
        companion = gieok.user("minsu").companion
        await companion.create(MemoryDraft(persona_id="hana", summary=TEXT), account_plan="free")
        assert await companion.embed() == 1
        (hit,) = await companion.search("hana", "zebra")
        assert hit.why.signals["vectors"].value > 0
    assert [heard.body["input"] for heard in server.heard] == [[TEXT], ["zebra"]]
