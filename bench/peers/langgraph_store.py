"""LangGraph's SqliteStore with vectors (sqlite-vec). An owner is a namespace."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.peers.peer import Item, Peer, line_of, serve
from bench.peers.vectors import DIMENSION, open_embed


class LangGraphStore(Peer):
    """One item is `put`, several are one `batch`. The connection is the one of `from_conn_string`."""

    async def open(self, folder: Path, vectors: str) -> str:
        sqlite_store: Any = import_module("langgraph.store.sqlite").SqliteStore
        self._put_op: Any = import_module("langgraph.store.base").PutOp
        self._stack = ExitStack()
        # This store reads `text_fields`, where the others of LangGraph read `fields`.
        index = {"dims": DIMENSION, "embed": open_embed(vectors), "text_fields": ["text"]}
        self._store: Any = self._stack.enter_context(
            sqlite_store.from_conn_string(str(folder / "store.db"), index=index)
        )
        self._store.setup()
        packages = ("langgraph-checkpoint-sqlite", "sqlite-vec")
        return ", ".join(f"{package} {version(package)}" for package in packages)

    async def add(self, owner: str, items: Sequence[Item]) -> None:
        if len(items) == 1:
            self._store.put((owner,), items[0]["key"], {"text": line_of(items[0])})
        else:
            self._store.batch(
                [self._put_op((owner,), item["key"], {"text": line_of(item)}) for item in items]
            )

    async def search(self, owner: str, query: str, limit: int) -> list[str]:
        return [hit.key for hit in self._store.search((owner,), query=query, limit=limit)]

    async def load(self, owner: str, limit: int) -> list[str]:
        return [item.key for item in self._store.search((owner,), limit=limit)]

    async def close(self) -> None:
        self._stack.close()


if __name__ == "__main__":
    serve(LangGraphStore())
