"""Memories, as `client.memory`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from gieok.client.answers import Kept, Memory, MemoryHit, MemoryPage, Summary
from gieok.client.line import Call, Line, path
from gieok.memory.companion.records import MemoryChanges, MemoryDraft
from gieok.memory.companion.steps_drafting import MemoryOutline
from gieok.memory.conversation.records import Message
from gieok.memory.sessions.records import ChatMessage


class Memories:
    """One owner's memories, persona by persona."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def create(
        self, draft: MemoryDraft, *, auto_archive: bool = True, idempotency_key: str | None = None
    ) -> Kept:
        """Keep a memory as someone wrote it. MemoryLimitReached only with `auto_archive=False`.

        Each call has an Idempotency-Key, the given one or a new one, so that trying again is safe.
        """
        body = {**_known(draft), "manualSummary": draft.summary, "topics": draft.topics}
        return await self._create(body, auto_archive, idempotency_key)

    async def create_of_messages(
        self,
        outline: MemoryOutline,
        messages: Sequence[Message],
        *,
        auto_archive: bool = True,
        idempotency_key: str | None = None,
    ) -> Kept:
        """Have messages summarised and keep that, as `create` does. The messages themselves are not kept."""
        body = {**_known(outline), "messages": list(messages), "topics": outline.topics}
        return await self._create(body, auto_archive, idempotency_key)

    async def _create(self, body: Mapping[str, Any], auto_archive: bool, key: str | None) -> Kept:
        sent = {**body, "autoArchive": auto_archive}
        call = Call("POST", "/memory/create", body=sent, key=key or str(uuid4()))
        return await self._line.ask(call, Kept)

    async def summarize(
        self, session_id: str, persona_id: str, messages: Sequence[ChatMessage] = ()
    ) -> Summary:
        """Summarise a session now. Messages that it does not have yet are saved first."""
        body = {"sessionId": session_id, "personaId": persona_id, "messages": list(messages)}
        return await self._line.ask(Call("POST", "/memory/summarize", body=body), Summary)

    async def load(self, persona_id: str, *, limit: int | None = None) -> tuple[Memory, ...]:
        """What a conversation begins with: the most important active memories."""
        query = {"personaId": persona_id, "limit": limit}
        return await self._line.ask(Call("GET", "/memory/load", query), tuple[Memory, ...], "memories")

    async def list(
        self,
        persona_id: str | None = None,
        *,
        include_archived: bool = False,
        limit: int | None = None,
        offset: int = 0,
    ) -> MemoryPage:
        """The newest first, of one persona or of all."""
        query = {
            "personaId": persona_id,
            "includeArchived": include_archived,
            "limit": limit,
            "offset": offset,
        }
        return await self._line.ask(Call("GET", "/memory/list", query), MemoryPage)

    async def search(self, persona_id: str, query: str, *, limit: int | None = None) -> tuple[MemoryHit, ...]:
        """What answers a query, best first, each with its reasons; archived ones too."""
        asked = {"personaId": persona_id, "q": query, "limit": limit}
        return await self._line.ask(Call("GET", "/memory/search", asked), tuple[MemoryHit, ...], "memories")

    async def get(self, memory_id: UUID) -> Memory:
        """One memory; NotFound where there is none."""
        return await self._line.ask(Call("GET", path("memory", memory_id)), Memory, "memory")

    async def edit(
        self, memory_id: UUID, changes: MemoryChanges, *, expected_version: int | None = None
    ) -> Memory:
        """Change a memory by hand. Conflict where it is not at `expected_version` any more."""
        body = {**dict(changes), "version": expected_version}
        return await self._line.ask(Call("PATCH", path("memory", memory_id), body=body), Memory, "memory")

    async def delete(self, memory_id: UUID) -> None:
        """Remove a memory for good, with its moment and its words in the index."""
        await self._line.content(Call("DELETE", path("memory", memory_id)))

    async def archive(self, memory_id: UUID) -> Memory:
        """It is kept and found, and no conversation begins with it any more."""
        return await self._line.ask(Call("POST", path("memory", memory_id, "archive")), Memory, "memory")

    async def restore(self, memory_id: UUID) -> Memory:
        """Put a memory back among the active ones. MemoryLimitReached where it has no place there."""
        return await self._line.ask(Call("POST", path("memory", memory_id, "restore")), Memory, "memory")


def _known(draft: MemoryDraft | MemoryOutline) -> dict[str, Any]:
    """What a memory brings along besides its words and topics."""
    return {
        "personaId": draft.persona_id,
        "sessionId": draft.session_ref,
        "emotion": draft.emotion,
        "importance": draft.importance,
        "tags": draft.tags,
        "speaker": draft.speaker,
        "occurredAt": draft.occurred_at,
    }
