"""Embeddings by Gemini: batchEmbedContents."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, cast
from urllib.parse import quote

from gieok.adapters.embedders.served import Served
from gieok.errors import ModelUnavailable
from gieok.memory.companion.embedder import Vector
from gieok.memory.companion.matrix import checked

BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
BATCH = 64
DIMENSION = 768
"""Unless told otherwise: a length that its models are made for, a quarter of the longest."""
DOCUMENT_SECONDS = 60.0
QUERY_SECONDS = 3.0

Task = Literal["RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]
_WITH_TASK = frozenset({"gemini-embedding-001"})


class GeminiEmbedder:
    """One model of Gemini, which knows Korean and English."""

    def __init__(
        self,
        model: str,
        dimension: int | None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        languages: Collection[str] | None = None,
    ) -> None:
        self.name = model
        self.dimension = dimension or DIMENSION
        self.languages = languages
        self._served = Served(base_url or BASE_URL, {"x-goog-api-key": api_key} if api_key else {})

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        vectors: list[Vector] = []
        for start in range(0, len(texts), BATCH):
            piece = texts[start : start + BATCH]
            vectors += await self._embed(piece, "RETRIEVAL_DOCUMENT", DOCUMENT_SECONDS)
        return vectors

    async def embed_query(self, text: str) -> Vector:
        return (await self._embed([text], "RETRIEVAL_QUERY", QUERY_SECONDS))[0]

    async def close(self) -> None:
        await self._served.close()

    async def _embed(self, texts: Sequence[str], task: Task, seconds: float) -> list[Vector]:
        path = f"models/{quote(self.name, safe='')}:batchEmbedContents"
        body = {"requests": [self._request(text, task) for text in texts]}
        answer = await self._served.ask(path, body, seconds)
        return checked(_values(answer), len(texts), self.dimension).tolist()

    def _request(self, text: str, task: Task) -> Mapping[str, Any]:
        request: dict[str, Any] = {
            "model": f"models/{self.name}",
            "content": {"parts": [{"text": text}]},
            "outputDimensionality": self.dimension,
        }
        return {**request, "taskType": task} if self.name in _WITH_TASK else request


def _values(answer: Any) -> list[Vector]:
    try:
        return [row["values"] for row in cast(Sequence[Mapping[str, Any]], answer["embeddings"])]
    except (KeyError, TypeError):
        raise ModelUnavailable(
            "the embedder's answer has not the form of Gemini's embeddings; check GIEOK_EMBEDDER_BASE_URL"
        ) from None
