"""`GieokMemoryService`: the memory service of a Google ADK agent, on documents. Needs `google-adk`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import Any
from uuid import uuid4

from pydantic import TypeAdapter

from gieok.app import User
from gieok.app.cycles import validated
from gieok.app.documents import put_operation
from gieok.memory.documents.records import (
    DeleteDocument,
    DocumentWhy,
    FoundDocument,
    GetDocument,
    PutDocument,
    ReadResult,
)

try:
    _adk: Any = import_module("google.adk.memory.base_memory_service")
    _entry: Any = import_module("google.adk.memory.memory_entry")
    _genai: Any = import_module("google.genai.types")
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "gieok.interfaces.agents.google_adk needs Google's ADK, which is not installed: "
        "pip install google-adk",
        name=error.name,
    ) from error

ROOT = "google-adk"
HITS = 10
"""The largest number of memories that a search returns, as in ADK's own service."""
CHUNK = 400
"""Events of one commit."""
_WHY = TypeAdapter(DocumentWhy)


class GieokMemoryService(_adk.BaseMemoryService):
    """Memories of ADK sessions: encrypted, searched by words in Korean and English, explained.

    All of it belongs to one owner; app and user of ADK are names in the namespace
    `("google-adk", app_name, user_id, …)`. Each event with text is one memory; `custom_metadata` of a hit has
    `score` and `why`. A session may be added again: only new events are stored. A deleted memory stays
    deleted.
    """

    def __init__(self, user: User) -> None:
        self._documents = user.documents

    async def add_session_to_memory(self, session: Any) -> None:
        """Add the events of a session that have text."""
        await self._add_events(session.app_name, session.user_id, session.events, session.id)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Any],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add these events, such as those of the last turn."""
        await self._add_events(app_name, user_id, events, session_id)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[Any],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add memories as they are written. One with the id of a stored memory replaces it."""
        namespace = _memories(app_name, user_id)
        puts = [
            _put(
                namespace,
                memory.id or str(uuid4()),
                memory.content,
                author=memory.author,
                timestamp=memory.timestamp,
            )
            for memory in memories
            if _text(memory.content)
        ]
        for start in range(0, len(puts), CHUNK):
            await self._documents.batch(puts[start : start + CHUNK])

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> Any:
        """The memories that share words with the query, best first, at most ten."""
        hits = await self._documents.search(_memories(app_name, user_id), query, limit=HITS) if query else ()
        return _adk.SearchMemoryResponse(memories=[_memory(hit) for hit in hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Delete a memory. Adding its session again does not bring it back."""
        if not memory_id:
            return
        deleted = validated(DeleteDocument, namespace=_memories(app_name, user_id), key=memory_id)
        tombstone = put_operation(_deleted(app_name, user_id), memory_id, {}, index=())
        await self._documents.batch([deleted, tombstone])

    async def _add_events(
        self, app_name: str, user_id: str, events: Iterable[Any], session_id: str | None
    ) -> None:
        namespace = _memories(app_name, user_id)
        puts = {
            event.id: _put(
                namespace,
                event.id,
                event.content,
                author=event.author,
                timestamp=_iso(event.timestamp),
                session_id=session_id,
            )
            for event in events
            if _text(event.content)
        }
        ids = list(puts)
        for start in range(0, len(ids), CHUNK):
            chunk = ids[start : start + CHUNK]
            known = await self._stored(namespace, chunk)
            known |= await self._stored(_deleted(app_name, user_id), chunk)
            if new := [puts[event_id] for event_id in chunk if event_id not in known]:
                await self._documents.batch(new)

    async def _stored(self, namespace: tuple[str, ...], keys: Sequence[str]) -> set[str]:
        read = await self._documents.batch(
            [validated(GetDocument, namespace=namespace, key=key) for key in keys]
        )
        return {each.document.key for each in read if isinstance(each, ReadResult) and each.document}


def _memories(app_name: str, user_id: str) -> tuple[str, ...]:
    return ROOT, app_name, user_id, "memories"


def _deleted(app_name: str, user_id: str) -> tuple[str, ...]:
    return ROOT, app_name, user_id, "deleted"


def _put(namespace: tuple[str, ...], key: str, content: Any, **about: str | None) -> PutDocument:
    value = {"text": _text(content), "role": content.role, **about}
    return put_operation(namespace, key, value, index=("text",))


def _memory(hit: FoundDocument) -> Any:
    value = hit.value
    content = _genai.Content(role=value["role"], parts=[_genai.Part(text=value["text"])])
    why = _WHY.dump_python(hit.why, mode="json", by_alias=True) if hit.why else None
    return _entry.MemoryEntry(
        id=hit.key,
        content=content,
        author=value["author"],
        timestamp=value["timestamp"],
        custom_metadata={"score": hit.score, "why": why},
    )


def _text(content: Any) -> str:
    """The text of a content. Thoughts, files and calls of functions are left out."""
    parts = (content.parts or ()) if content else ()
    return "\n".join(part.text for part in parts if part.text and not part.thought).strip()


def _iso(timestamp: float) -> str:
    return datetime.fromtimestamp(timestamp, UTC).isoformat()
