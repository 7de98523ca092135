"""Embeddings by OpenAI, and by every server that speaks its /v1/embeddings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from gieok.adapters.embedders.served import Served
from gieok.errors import ModelUnavailable, SettingsInvalid
from gieok.memory.companion.embedder import Vector
from gieok.memory.companion.matrix import checked

BASE_URL = "https://api.openai.com/v1"
BATCH = 64
DOCUMENT_SECONDS = 60.0
QUERY_SECONDS = 3.0
"""A search goes on without vectors rather than wait longer."""

_NATIVE = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
_SHORTENED = frozenset({"text-embedding-3-small", "text-embedding-3-large"})


class OpenAIEmbedder:
    """One model of a server. Without a key, none is sent: servers on one's own machine need none."""

    def __init__(
        self,
        model: str,
        dimension: int | None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        languages: Collection[str] | None = None,
    ) -> None:
        known = dimension or _NATIVE.get(model)
        if known is None:
            raise SettingsInvalid(
                f"how many numbers has a vector of {model}? Say it as openai:{model}@DIMENSION"
            )
        self.name = model
        self.dimension = known
        self.languages = languages
        self._shortened = model in _SHORTENED and known != _NATIVE[model]
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._served = Served(base_url or BASE_URL, headers)

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        vectors: list[Vector] = []
        for start in range(0, len(texts), BATCH):
            vectors += await self._embed(texts[start : start + BATCH], DOCUMENT_SECONDS)
        return vectors

    async def embed_query(self, text: str) -> Vector:
        return (await self._embed([text], QUERY_SECONDS))[0]

    async def close(self) -> None:
        await self._served.close()

    async def _embed(self, texts: Sequence[str], seconds: float) -> list[Vector]:
        body: dict[str, Any] = {"model": self.name, "input": list(texts), "encoding_format": "float"}
        if self._shortened:
            body["dimensions"] = self.dimension
        answer = await self._served.ask("embeddings", body, seconds)
        return checked(_in_order(answer), len(texts), self.dimension).tolist()


def _in_order(answer: Any) -> list[Vector]:
    """The vectors in the order of the texts; a server may answer in another one."""
    try:
        rows = cast(Sequence[Mapping[str, Any]], answer["data"])
        by_index = {int(row["index"]): row["embedding"] for row in rows}
        return [by_index[index] for index in range(len(rows))]
    except (KeyError, TypeError, ValueError):
        raise ModelUnavailable(
            "the embedder's answer has not the form of OpenAI's embeddings; check GIEOK_EMBEDDER_BASE_URL"
        ) from None
