"""Embeddings by a server: batches, time limits, retries where they help, and errors without content."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from gieok.errors import ModelUnavailable
from gieok.memory.companion.embedder import Vector
from gieok.memory.companion.matrix import checked

BATCH = 64
DOCUMENT_SECONDS = 60.0
QUERY_SECONDS = 3.0
"""A search goes on without vectors rather than wait longer."""
TRIES = 4
FIRST_WAIT_SECONDS = 0.25
ANSWER_BYTES = 64 * 1024 * 1024
CONNECT_SECONDS = 5.0


class ServedEmbedder(ABC):
    """One model of a server. What is asked and how it is answered is each server's own."""

    def __init__(self, name: str, dimension: int, languages: Collection[str] | None, served: Served) -> None:
        self.name = name
        self.dimension = dimension
        self.languages = languages
        self._served = served

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        vectors: list[Vector] = []
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            vectors += await self._embed(batch, DOCUMENT_SECONDS, is_query=False)
        return vectors

    async def embed_query(self, text: str) -> Vector:
        return (await self._embed([text], QUERY_SECONDS, is_query=True))[0]

    async def close(self) -> None:
        await self._served.close()

    async def _embed(self, texts: Sequence[str], seconds: float, *, is_query: bool) -> list[Vector]:
        path, body = self._question(texts, is_query=is_query)
        answer = await self._served.ask(path, body, seconds)
        return checked(self._vectors(answer), len(texts), self.dimension).tolist()

    @abstractmethod
    def _question(self, texts: Sequence[str], *, is_query: bool) -> tuple[str, Mapping[str, Any]]:
        """The path and the body that ask for the vectors of texts."""

    @abstractmethod
    def _vectors(self, answer: Any) -> list[Vector]:
        """The vectors in the order of the texts. ModelUnavailable for what is no such answer."""


class Served:
    """A server that embeds. Made without a connection; the first question opens one, and the next use it."""

    def __init__(self, base_url: str, headers: Mapping[str, str]) -> None:
        self._client = httpx.AsyncClient(base_url=base_url.rstrip("/") + "/", headers=dict(headers))
        self._host = httpx.URL(base_url).host

    async def ask(self, path: str, body: Mapping[str, Any], seconds: float) -> Any:
        """The answer's JSON. ModelUnavailable when there is none within `seconds`, all tries together."""
        try:
            async with asyncio.timeout(seconds):
                return await self._ask(path, body, asyncio.get_running_loop().time() + seconds)
        except TimeoutError:
            raise self._unavailable(f"did not answer within {seconds:g} s") from None

    async def close(self) -> None:
        await self._client.aclose()

    async def _ask(self, path: str, body: Mapping[str, Any], until: float) -> Any:
        """Tries again what may pass: a busy or failing server, a cut connection."""
        for attempt in range(TRIES):
            wait = FIRST_WAIT_SECONDS * 2**attempt
            try:
                status, headers, content = await self._post(path, body)
            except httpx.HTTPError as error:
                problem = f"could not be reached ({type(error).__name__})"
            else:
                if status == 200:
                    return self._json(content)
                problem = self._refused(status)
                wait = max(wait, _retry_after(headers))
            if asyncio.get_running_loop().time() + wait >= until or attempt == TRIES - 1:
                raise self._unavailable(problem)
            await asyncio.sleep(wait)
        raise AssertionError("the last try returns or raises")

    async def _post(self, path: str, body: Mapping[str, Any]) -> tuple[int, httpx.Headers, bytes]:
        timeout = httpx.Timeout(None, connect=CONNECT_SECONDS)
        async with self._client.stream("POST", path, json=body, timeout=timeout) as answer:
            content = bytearray()
            async for piece in answer.aiter_bytes():
                content += piece
                if len(content) > ANSWER_BYTES:
                    raise self._unavailable("answered with more than it may")
            return answer.status_code, answer.headers, bytes(content)

    def _refused(self, status: int) -> str:
        """What a status means. One that no waiting changes is raised at once."""
        if status == 429 or status >= 500:
            return f"is busy or failing (HTTP {status})"
        if status in (401, 403):
            raise self._unavailable(f"refused the key (HTTP {status}); set GIEOK_EMBEDDER_API_KEY")
        if status == 404:
            raise self._unavailable("has no such model or address (HTTP 404); check GIEOK_EMBEDDER")
        raise self._unavailable(f"refused the question (HTTP {status}); check the model and its dimension")

    def _json(self, content: bytes) -> Any:
        try:
            return json.loads(content)
        except ValueError:
            raise self._unavailable("answered with something else than JSON") from None

    def _unavailable(self, problem: str) -> ModelUnavailable:
        return ModelUnavailable(f"the embedder at {self._host} {problem}")


def _retry_after(headers: httpx.Headers) -> float:
    """Seconds, however they are said; 0 where nothing is."""
    said = headers.get("retry-after", "").strip()
    if said.isdigit():
        return float(said)
    try:
        at = parsedate_to_datetime(said)
    except ValueError:
        return 0.0
    return max((at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)
