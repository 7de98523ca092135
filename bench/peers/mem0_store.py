"""mem0 with its local Qdrant and `infer=False`: texts are stored as they are, without a language model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.peers.peer import Item, Peer, line_of, serve
from bench.peers.vectors import DIMENSION, Embed, open_embed


class GivenVectors:
    """mem0's interface of an embedder. It has no provider that takes a function."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self._embed([text])[0]


class Mem0Store(Peer):
    """Several items are one call, which mem0 stores one by one."""

    async def open(self, folder: Path, vectors: str) -> str:
        # The key is asked for when the language model is set up, and never used with infer=False.
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder), "OPENAI_API_KEY": "unused"}
        qdrant = {
            "path": str(folder / "qdrant"),
            "on_disk": True,
            "collection_name": "memories",
            "embedding_model_dims": DIMENSION,
        }
        self._memory: Any = import_module("mem0").Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": qdrant},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = GivenVectors(open_embed(vectors))
        self._keys: dict[str, str] = {}
        return ", ".join(f"{package} {version(package)}" for package in ("mem0ai", "qdrant-client"))

    async def add(self, owner: str, items: Sequence[Item]) -> None:
        messages = [{"role": "user", "content": line_of(item)} for item in items]
        added = self._memory.add(messages, user_id=owner, infer=False)["results"]
        self._keys |= {each["id"]: item["key"] for each, item in zip(added, items, strict=True)}

    async def search(self, owner: str, query: str, limit: int) -> list[str]:
        found = self._memory.search(query, filters={"user_id": owner}, top_k=limit, threshold=0.0)
        return [self._keys[hit["id"]] for hit in found["results"]]

    async def load(self, owner: str, limit: int) -> list[str]:
        found = self._memory.get_all(filters={"user_id": owner}, top_k=limit)
        return [self._keys[item["id"]] for item in found["results"]]

    async def close(self) -> None:
        self._memory.vector_store.client.close()
        self._memory.close()


if __name__ == "__main__":
    serve(Mem0Store())
