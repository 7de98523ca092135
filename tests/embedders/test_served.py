"""Embedders on a server, against a real local one: both APIs, and every kind of failure."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from gieok import Gieok, Settings
from gieok.adapters.embedders import ClosableEmbedder, open_embedder, served
from gieok.errors import ModelUnavailable, SettingsInvalid
from gieok.memory.companion.records import MemoryDraft
from gieok.settings.sections import parse_embedder
from tests.embedders.server import (
    DIMENSION,
    EmbeddingServer,
    Failure,
    disconnect,
    run_server,
    slow,
    status,
    vector,
    with_content,
    with_vectors,
)

KEY = "key-of-this-test"
TEXT = "a secret zebra"
APIS = {"openai": "openai:mini-model", "google": "google:gemini-embedding-001"}


@pytest.fixture(autouse=True)
def short_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry quickly."""
    monkeypatch.setattr(served, "FIRST_BACKOFF_SECONDS", 0.01)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with run_server() as running:
        yield running


@pytest.fixture(params=list(APIS))
def api(request: pytest.FixtureRequest) -> str:
    return APIS[request.param]


@pytest.fixture
async def embedder(server: EmbeddingServer, api: str) -> AsyncIterator[ClosableEmbedder]:
    """The embedder of each API, opened by the settings."""
    made = opened(api, server)
    yield made
    await made.close()


def opened(api: str, server: EmbeddingServer) -> ClosableEmbedder:
    given = {"embedder": f"{api}@{DIMENSION}", "embedder_base_url": server.url}
    made = open_embedder(parse_embedder(given), KEY)
    assert made is not None
    return made


async def test_vectors_are_in_the_order_of_the_texts(
    embedder: ClosableEmbedder, server: EmbeddingServer
) -> None:
    texts = ["one", "a zebra", "three", "면접"]
    assert list(await embedder.embed_documents(texts)) == [vector(text) for text in texts]
    assert await embedder.embed_query("zebra") == vector("zebra")
    assert all(KEY in (request.key or "") for request in server.requests)


async def test_many_texts_are_sent_in_batches(embedder: ClosableEmbedder, server: EmbeddingServer) -> None:
    texts = [f"text {n}" for n in range(130)]
    assert list(await embedder.embed_documents(texts)) == [vector(text) for text in texts]
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "failures",
    [
        [status(429, retry_after="0")],
        [status(429, retry_after=format_datetime(datetime(2020, 1, 1, tzinfo=UTC), usegmt=True))],
        [status(429, retry_after="soon")],
        [status(500), status(503)],
        [disconnect],
    ],
)
async def test_a_transient_failure_is_retried(
    embedder: ClosableEmbedder, server: EmbeddingServer, failures: list[Failure]
) -> None:
    server.failures += failures
    assert await embedder.embed_query(TEXT) == vector(TEXT)
    assert len(server.requests) == len(failures) + 1


async def test_a_retry_after_beyond_the_timeout_is_not_waited_for(
    embedder: ClosableEmbedder, server: EmbeddingServer
) -> None:
    server.failures.append(status(429, retry_after="3600"))
    with pytest.raises(ModelUnavailable, match="overloaded"):
        await embedder.embed_query(TEXT)
    assert len(server.requests) == 1


async def test_a_slow_server_times_out(
    embedder: ClosableEmbedder, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "QUERY_SECONDS", 0.2)
    server.failures.append(slow)
    with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.2 s"):
        await embedder.embed_query(TEXT)


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (status(401), "GIEOK_EMBEDDER_API_KEY"),
        (status(403), "GIEOK_EMBEDDER_API_KEY"),
        (status(404), "no such model"),
        (status(400), "rejected the request"),
        (status(302, location="http://127.0.0.1:1/"), "rejected the request"),
        (with_content(b"<html>"), "not answer in JSON"),
        (with_content(b"\xff\xfe"), "not answer in JSON"),
        (with_content(b"[]"), "not in .* format"),
        (with_content(b'{"data": [{"index": 0}], "embeddings": [{}]}'), "not in .* format"),
        (with_content(b'{"data": null, "embeddings": null}'), "not in .* format"),
        (with_vectors(lambda vectors: vectors[:-1]), "for 2 texts"),
        (with_vectors(lambda vectors: [*vectors, vectors[0]]), "for 2 texts"),
        (with_vectors(lambda vectors: [each[:2] for each in vectors]), "of length 2"),
        (with_vectors(lambda vectors: [vectors[0], vectors[1][:2]]), "vectors of numbers"),
        (with_vectors(lambda vectors: [[float("nan")] * DIMENSION] * 2), "not finite"),
        (with_vectors(lambda vectors: [[1e308] * DIMENSION] * 2), "not finite"),
        (with_vectors(lambda vectors: [["x"] * DIMENSION] * 2), "vectors of numbers"),
        (with_vectors(lambda vectors: ["x"] * 2), "vectors of numbers"),
    ],
)
async def test_an_invalid_response_is_refused_without_a_retry_and_without_its_content(
    embedder: ClosableEmbedder, server: EmbeddingServer, failure: Failure, message: str
) -> None:
    server.failures.append(failure)
    with pytest.raises(ModelUnavailable, match=message) as refused:
        await embedder.embed_documents([TEXT, "an ox"])
    assert len(server.requests) == 1
    assert not any(secret in str(refused.value) for secret in (TEXT, KEY))


async def test_an_unreachable_server_is_unavailable(api: str, server: EmbeddingServer) -> None:
    nowhere = replace(server, url="http://127.0.0.1:1/v1")
    embedder = opened(api, nowhere)
    with pytest.raises(ModelUnavailable, match="could not be reached"):
        await embedder.embed_query(TEXT)
    await embedder.close()


async def test_requests_contain_the_task_type_and_the_dimension(server: EmbeddingServer) -> None:
    for name in ("google:gemini-embedding-001@4", "openai:text-embedding-3-small@4"):
        given = {"embedder": name, "embedder_base_url": server.url}
        embedder = open_embedder(parse_embedder(given), None)
        assert embedder is not None
        await embedder.embed_query(TEXT)
        await embedder.close()
    gemini, openai = server.requests
    assert gemini.path == "/v1/models/gemini-embedding-001:batchEmbedContents"
    assert gemini.body["requests"][0]["taskType"] == "RETRIEVAL_QUERY"
    assert gemini.body["requests"][0]["outputDimensionality"] == 4
    assert (openai.path, openai.body["dimensions"], openai.key) == ("/v1/embeddings", 4, None)


async def test_an_unknown_model_needs_a_dimension() -> None:
    with pytest.raises(SettingsInvalid, match="openai:bge-m3@DIMENSION"):
        open_embedder(parse_embedder({"embedder": "openai:bge-m3"}), None)


async def test_gieok_embeds_and_searches_with_the_configured_embedder(
    settings: Settings, server: EmbeddingServer
) -> None:
    given = {"embedder": f"openai:mini-model@{DIMENSION}", "embedder_base_url": server.url}
    settings = replace(settings, embedding=parse_embedder(given), secrets={"GIEOK_EMBEDDER_API_KEY": KEY})
    async with await Gieok.open(settings) as gieok:
        companion = gieok.user("minsu").companion
        await companion.create(MemoryDraft(persona_id="hana", summary=TEXT), account_plan="free")
        assert await companion.embed() == 1
        (hit,) = await companion.search("hana", "zebra")
        assert hit.why.signals["vectors"].value > 0
    assert [request.body["input"] for request in server.requests] == [[TEXT], ["zebra"]]
