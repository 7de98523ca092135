"""Embeddings by Gemini: batchEmbedContents."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote

from gieok.adapters.embedders.served import Served, ServedEmbedder
from gieok.errors import ModelUnavailable
from gieok.memory.companion.embedder import Vector

BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
DIMENSION = 768
"""Unless told otherwise: a length that its models are made for, a quarter of the longest."""

_WITH_TASK = frozenset({"gemini-embedding-001"})


class GeminiEmbedder(ServedEmbedder):
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
        headers = {"x-goog-api-key": api_key} if api_key else {}
        super().__init__(model, dimension or DIMENSION, languages, Served(base_url or BASE_URL, headers))

    def _question(self, texts: Sequence[str], *, is_query: bool) -> tuple[str, Mapping[str, Any]]:
        task = "RETRIEVAL_QUERY" if is_query else "RETRIEVAL_DOCUMENT"
        requests = [self._request(text, task) for text in texts]
        return f"models/{quote(self.name, safe='')}:batchEmbedContents", {"requests": requests}

    def _request(self, text: str, task: str) -> Mapping[str, Any]:
        request: dict[str, Any] = {
            "model": f"models/{self.name}",
            "content": {"parts": [{"text": text}]},
            "outputDimensionality": self.dimension,
        }
        return {**request, "taskType": task} if self.name in _WITH_TASK else request

    def _vectors(self, answer: Any) -> list[Vector]:
        try:
            return [row["values"] for row in cast(Sequence[Mapping[str, Any]], answer["embeddings"])]
        except (KeyError, TypeError):
            raise ModelUnavailable(
                "the embedder's answer has not the form of Gemini's embeddings; check GIEOK_EMBEDDER_BASE_URL"
            ) from None
