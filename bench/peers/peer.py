"""What a peer implements, and the loop in its process: one JSON object a line in, one out.

The driver sends whole rounds of work, and the peer times each call itself, so that the pipe is not measured.
Only the standard library is used here, because this file runs in the environment of every peer.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NotRequired, TextIO, TypedDict


class Item(TypedDict):
    """A text to remember. `key` names it in results.

    `session`, `speaker` and `time` are for a store that has a field for them, `line` is for the others: the
    text after the name of its speaker.
    """

    key: str
    text: str
    line: NotRequired[str]
    session: NotRequired[str]
    speaker: NotRequired[str]
    time: NotRequired[str]


def line_of(item: Item) -> str:
    """The text for a store without a field for the speaker."""
    return item.get("line", item["text"])


class Peer(ABC):
    """A memory store in a folder. Every method but `open` works on the memories of one owner."""

    @abstractmethod
    async def open(self, folder: Path, vectors: str) -> str:
        """Open an empty store and return the names and versions of what it is made of.

        `vectors` says where the vectors come from (vectors.open_embed).
        """

    @abstractmethod
    async def add(self, owner: str, items: Sequence[Item]) -> None:
        """Add the items in the way that the store has for many at once. A single item is one call."""

    @abstractmethod
    async def search(self, owner: str, query: str, limit: int) -> list[str]:
        """The keys of the best items, best first."""

    @abstractmethod
    async def load(self, owner: str, limit: int) -> list[str]:
        """The keys of some items without a query, as for the start of a conversation."""

    @abstractmethod
    async def close(self) -> None:
        """Write everything to disk and release the files."""


async def answer(peer: Peer, request: Mapping[str, Any]) -> dict[str, Any]:
    """Carry out one request. Times are in seconds."""
    match request:
        case {"do": "open", "folder": folder, "vectors": vectors}:
            made_of = await peer.open(Path(folder), vectors)
            return {"versions": f"{made_of}, Python {platform.python_version()}"}
        case {"do": "add", "owner": owner, "items": items, "batch": batch}:
            started = perf_counter()
            for start in range(0, len(items), batch):
                await peer.add(owner, items[start : start + batch])
            return {"seconds": perf_counter() - started}
        case {"do": "search", "owner": owner, "queries": queries, "limit": limit}:
            started = perf_counter()
            found = [await peer.search(owner, query, limit) for query in queries]
            return {"seconds": perf_counter() - started, "found": found}
        case {"do": "load", "owner": owner, "times": times, "limit": limit}:
            started = perf_counter()
            found = [await peer.load(owner, limit) for _ in range(times)]
            return {"seconds": perf_counter() - started, "found": found}
        case {"do": "close"}:
            await peer.close()
            return {}
        case _:
            raise ValueError(f"no such request: {request.get('do')}")


async def _serve(peer: Peer, replies: TextIO) -> None:
    while line := await asyncio.to_thread(sys.stdin.readline):
        try:
            reply = await answer(peer, json.loads(line))
        except Exception as error:  # noqa: BLE001  each library has its own; the driver ends the run with it
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def serve(peer: Peer) -> None:
    """Answer requests until stdin ends. What a library prints goes to stderr, not between the replies."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    asyncio.run(_serve(peer, replies))
