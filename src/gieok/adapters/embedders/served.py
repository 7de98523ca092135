"""Embedders on a server: OpenAI's API (also that of many self-hosted servers) and Gemini's.

Requests are sent in batches with timeouts and retries. Errors never contain the text.
"""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast
from urllib.parse import quote

import httpx

from gieok.errors import ModelUnavailable, SettingsInvalid
from gieok.memory.companion.vectors.matrix import check_vectors
from gieok.memory.companion.vectors.search import Vector

BATCH_SIZE = 64
DOCUMENT_SECONDS = 60.0
QUERY_SECONDS = 3.0
"""After this time a search continues without vectors."""
ATTEMPTS = 4
FIRST_BACKOFF_SECONDS = 0.25
MAX_RESPONSE_BYTES = 64 * 1024 * 1024
CONNECT_SECONDS = 5.0

OPENAI_BASE_URL = "https://api.openai.com/v1"
OPENAI_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
_OPENAI_WITH_DIMENSIONS = frozenset({"text-embedding-3-small", "text-embedding-3-large"})

GEMINI_BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
GEMINI_DIMENSION = 768
"""The default. A length that the models are trained for, a quarter of the longest."""
_GEMINI_WITH_TASK_TYPE = frozenset({"gemini-embedding-001"})


class ServedEmbedder(ABC):
    """A model on a server. A subclass builds the request and reads the response."""

    def __init__(
        self, name: str, dimension: int, languages: Collection[str] | None, client: EmbeddingClient
    ) -> None:
        self.name = name
        self.dimension = dimension
        self.languages = languages
        self._client = client

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        vectors: list[Vector] = []
        for start in range(0, len(texts), BATCH_SIZE):
            batch = texts[start : start + BATCH_SIZE]
            vectors += await self._embed(batch, DOCUMENT_SECONDS, is_query=False)
        return vectors

    async def embed_query(self, text: str) -> Vector:
        return (await self._embed([text], QUERY_SECONDS, is_query=True))[0]

    async def close(self) -> None:
        await self._client.close()

    async def _embed(self, texts: Sequence[str], seconds: float, *, is_query: bool) -> list[Vector]:
        path, body = self._request(texts, is_query=is_query)
        response = await self._client.post(path, body, seconds)
        return check_vectors(self._vectors(response), len(texts), self.dimension).tolist()

    @abstractmethod
    def _request(self, texts: Sequence[str], *, is_query: bool) -> tuple[str, Mapping[str, Any]]:
        """The path and the body of a request."""

    @abstractmethod
    def _vectors(self, response: Any) -> list[Vector]:
        """The vectors in the order of the texts. ModelUnavailable for a response of another form."""


class OpenAIEmbedder(ServedEmbedder):
    """A model behind OpenAI's /v1/embeddings. The key is optional: self-hosted servers may need none."""

    def __init__(
        self,
        model: str,
        dimension: int | None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        languages: Collection[str] | None = None,
    ) -> None:
        dimension = dimension or OPENAI_DIMENSIONS.get(model)
        if dimension is None:
            raise SettingsInvalid(
                f"the vector length of {model} is unknown; set it with openai:{model}@DIMENSION"
            )
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        super().__init__(model, dimension, languages, EmbeddingClient(base_url or OPENAI_BASE_URL, headers))
        self._sends_dimension = model in _OPENAI_WITH_DIMENSIONS and dimension != OPENAI_DIMENSIONS[model]

    def _request(self, texts: Sequence[str], *, is_query: bool) -> tuple[str, Mapping[str, Any]]:
        body: dict[str, Any] = {"model": self.name, "input": list(texts), "encoding_format": "float"}
        if self._sends_dimension:
            body["dimensions"] = self.dimension
        return "embeddings", body

    def _vectors(self, response: Any) -> list[Vector]:
        """Sorted by index: a server may answer in another order."""
        try:
            rows = cast(Sequence[Mapping[str, Any]], response["data"])
            by_index = {int(row["index"]): row["embedding"] for row in rows}
            return [by_index[index] for index in range(len(rows))]
        except (KeyError, TypeError, ValueError):
            raise ModelUnavailable(
                "the embedder's response is not in OpenAI's format; check GIEOK_EMBEDDER_BASE_URL"
            ) from None


class GeminiEmbedder(ServedEmbedder):
    """A model behind Gemini's batchEmbedContents, for Korean and English."""

    def __init__(
        self,
        model: str,
        dimension: int | None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        languages: Collection[str] | None = None,
    ) -> None:
        headers = {"x-goog-api-key": api_key} if api_key else {}
        client = EmbeddingClient(base_url or GEMINI_BASE_URL, headers)
        super().__init__(model, dimension or GEMINI_DIMENSION, languages, client)

    def _request(self, texts: Sequence[str], *, is_query: bool) -> tuple[str, Mapping[str, Any]]:
        task = "RETRIEVAL_QUERY" if is_query else "RETRIEVAL_DOCUMENT"
        task_type = {"taskType": task} if self.name in _GEMINI_WITH_TASK_TYPE else {}
        requests = [
            {
                "model": f"models/{self.name}",
                "content": {"parts": [{"text": text}]},
                "outputDimensionality": self.dimension,
                **task_type,
            }
            for text in texts
        ]
        return f"models/{quote(self.name, safe='')}:batchEmbedContents", {"requests": requests}

    def _vectors(self, response: Any) -> list[Vector]:
        try:
            return [row["values"] for row in cast(Sequence[Mapping[str, Any]], response["embeddings"])]
        except (KeyError, TypeError):
            raise ModelUnavailable(
                "the embedder's response is not in Gemini's format; check GIEOK_EMBEDDER_BASE_URL"
            ) from None


class EmbeddingClient:
    """HTTP client of an embedding server. Connects on the first request and keeps the connection."""

    def __init__(self, base_url: str, headers: Mapping[str, str]) -> None:
        self._client = httpx.AsyncClient(base_url=base_url.rstrip("/") + "/", headers=dict(headers))
        self._host = httpx.URL(base_url).host

    async def post(self, path: str, body: Mapping[str, Any], seconds: float) -> Any:
        """The JSON of the response. ModelUnavailable when it takes longer than `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                return await self._post_with_retries(path, body, asyncio.get_running_loop().time() + seconds)
        except TimeoutError:
            raise self._unavailable(f"did not answer within {seconds:g} s") from None

    async def close(self) -> None:
        await self._client.aclose()

    async def _post_with_retries(self, path: str, body: Mapping[str, Any], deadline: float) -> Any:
        """Retry after transient failures: rate limits, server errors and broken connections."""
        for attempt in range(ATTEMPTS):
            wait = FIRST_BACKOFF_SECONDS * 2**attempt
            try:
                status, headers, content = await self._post_once(path, body)
            except httpx.HTTPError as error:
                problem = f"could not be reached ({type(error).__name__})"
            else:
                if status == 200:
                    return self._json(content)
                self._check_retryable(status)
                problem = f"is overloaded or failing (HTTP {status})"
                wait = max(wait, _retry_after(headers))
            if asyncio.get_running_loop().time() + wait >= deadline or attempt == ATTEMPTS - 1:
                raise self._unavailable(problem)
            await asyncio.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    async def _post_once(self, path: str, body: Mapping[str, Any]) -> tuple[int, httpx.Headers, bytes]:
        timeout = httpx.Timeout(None, connect=CONNECT_SECONDS)
        async with self._client.stream("POST", path, json=body, timeout=timeout) as response:
            content = bytearray()
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > MAX_RESPONSE_BYTES:
                    raise self._unavailable(f"sent a response of more than {MAX_RESPONSE_BYTES} bytes")
            return response.status_code, response.headers, bytes(content)

    def _check_retryable(self, status: int) -> None:
        """Raise at once for a status that a retry does not change."""
        if status == 429 or status >= 500:
            return
        if status in (401, 403):
            raise self._unavailable(f"refused the API key (HTTP {status}); set GIEOK_EMBEDDER_API_KEY")
        if status == 404:
            raise self._unavailable("has no such model or path (HTTP 404); check GIEOK_EMBEDDER")
        raise self._unavailable(f"rejected the request (HTTP {status}); check the model and its dimension")

    def _json(self, content: bytes) -> Any:
        try:
            return json.loads(content)
        except ValueError:
            raise self._unavailable("did not answer in JSON") from None

    def _unavailable(self, problem: str) -> ModelUnavailable:
        return ModelUnavailable(f"the embedder at {self._host} {problem}")


def _retry_after(headers: httpx.Headers) -> float:
    """The Retry-After header in seconds, given as a number or a date; 0 without one."""
    value = headers.get("retry-after", "").strip()
    if value.isdigit():
        return float(value)
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    return max((at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)
