"""Chroma on disk: one collection for all owners, searched with a filter on the owner."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.peers.peer import Item, Peer, line_of, serve
from bench.peers.vectors import open_embed


class ChromaStore(Peer):
    """The vectors are given with the documents, as Chroma allows. Its index is approximate (HNSW)."""

    async def open(self, folder: Path, vectors: str) -> str:
        self._embed = open_embed(vectors)
        settings: Any = import_module("chromadb.config").Settings(anonymized_telemetry=False)
        self._client: Any = import_module("chromadb").PersistentClient(str(folder / "chroma"), settings)
        self._collection: Any = self._client.create_collection("memories", embedding_function=None)
        return f"chromadb {version('chromadb')}"

    async def add(self, owner: str, items: Sequence[Item]) -> None:
        texts = [line_of(item) for item in items]
        self._collection.add(
            ids=[f"{owner}/{item['key']}" for item in items],
            embeddings=self._embed(texts),
            documents=texts,
            metadatas=[{"owner": owner, "key": item["key"]} for item in items],
        )

    async def search(self, owner: str, query: str, limit: int) -> list[str]:
        found = self._collection.query(
            query_embeddings=self._embed([query]), n_results=limit, where={"owner": owner}
        )
        return [metadata["key"] for metadata in found["metadatas"][0]]

    async def load(self, owner: str, limit: int) -> list[str]:
        found = self._collection.get(where={"owner": owner}, limit=limit)
        return [metadata["key"] for metadata in found["metadatas"]]

    async def close(self) -> None:
        self._client.close()


if __name__ == "__main__":
    serve(ChromaStore())
