"""Embeddings by OpenAI, and by every server that speaks its /v1/embeddings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from gieok.adapters.embedders.served import Served, ServedEmbedder
from gieok.errors import ModelUnavailable, SettingsInvalid
from gieok.memory.companion.embedder import Vector

BASE_URL = "https://api.openai.com/v1"

_NATIVE = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
_SHORTENED = frozenset({"text-embedding-3-small", "text-embedding-3-large"})


class OpenAIEmbedder(ServedEmbedder):
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
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        super().__init__(model, known, languages, Served(base_url or BASE_URL, headers))
        self._shortened = model in _SHORTENED and known != _NATIVE[model]

    def _question(self, texts: Sequence[str], *, is_query: bool) -> tuple[str, Mapping[str, Any]]:
        body: dict[str, Any] = {"model": self.name, "input": list(texts), "encoding_format": "float"}
        if self._shortened:
            body["dimensions"] = self.dimension
        return "embeddings", body

    def _vectors(self, answer: Any) -> list[Vector]:
        """A server may answer in another order than it was asked."""
        try:
            rows = cast(Sequence[Mapping[str, Any]], answer["data"])
            by_index = {int(row["index"]): row["embedding"] for row in rows}
            return [by_index[index] for index in range(len(rows))]
        except (KeyError, TypeError, ValueError):
            raise ModelUnavailable(
                "the embedder's answer has not the form of OpenAI's embeddings; check GIEOK_EMBEDDER_BASE_URL"
            ) from None
