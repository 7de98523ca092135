"""`client.memory`, `client.personas` and `client.me`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, date, datetime
from typing import Any, overload
from uuid import UUID, uuid4

from pydantic.alias_generators import to_camel

from gieok.adapters.imports.cards import card_bytes
from gieok.adapters.imports.files import write_png
from gieok.client.transport import Call, Transport, lines, path
from gieok.errors import Conflict, NotFound
from gieok.memory.canon.records import FactChange, FactVersion, PersonaCard, PersonaDraft
from gieok.memory.companion.filters import ANY, MemoryFilter
from gieok.memory.companion.hits import Hits, Kinds, check_kinds
from gieok.memory.companion.records import (
    Memory,
    MemoryChanges,
    MemoryConfig,
    MemoryDraft,
    MemoryOutline,
    MemoryPage,
    MemoryVersion,
    MomentPage,
)
from gieok.memory.conversation.records import Message
from gieok.memory.observations import Category
from gieok.memory.sessions.records import ChatMessage
from gieok.wire import (
    CreatedMemories,
    CreatedMemory,
    DeletedPersona,
    Erasure,
    Found,
    FoundMemories,
    FoundMemory,
    ImportCounts,
    ImportedPersona,
    PersonaMemoryConfig,
    State,
    Summary,
    UserProfile,
)


class Memories:
    """The memories of one owner, per persona."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def create(
        self, draft: MemoryDraft, *, auto_archive: bool = True, idempotency_key: str | None = None
    ) -> CreatedMemory:
        """Store a memory as it is written. MemoryLimitReached only with `auto_archive=False`.

        Each call has an Idempotency-Key, the given one or a new one, so a retry is safe.
        """
        body = {**_other_fields(draft), "manualSummary": draft.summary, "topics": draft.topics}
        return await self._create(body, auto_archive, idempotency_key)

    async def create_many(
        self,
        drafts: Sequence[MemoryDraft],
        *,
        auto_archive: bool = True,
        idempotency_key: str | None = None,
    ) -> CreatedMemories:
        """Store up to 1,000 memories, all of them or none. Keys as in `create`."""
        memories = [
            {
                **_other_fields(draft),
                "manualSummary": draft.summary,
                "topics": draft.topics,
                "autoArchive": auto_archive,
            }
            for draft in drafts
        ]
        key = idempotency_key or str(uuid4())
        call = Call("POST", "/memory/batch", body={"memories": memories}, idempotency_key=key)
        return await self._transport.request(call, CreatedMemories)

    async def create_of_messages(
        self,
        outline: MemoryOutline,
        messages: Sequence[Message],
        *,
        auto_archive: bool = True,
        idempotency_key: str | None = None,
    ) -> CreatedMemory:
        """Summarise messages into a memory and store it, as `create` does. The messages are not stored."""
        body = {**_other_fields(outline), "messages": list(messages), "topics": outline.topics}
        return await self._create(body, auto_archive, idempotency_key)

    async def _create(self, body: Mapping[str, Any], auto_archive: bool, key: str | None) -> CreatedMemory:
        sent = {**body, "autoArchive": auto_archive}
        call = Call("POST", "/memory/create", body=sent, idempotency_key=key or str(uuid4()))
        return await self._transport.request(call, CreatedMemory)

    async def summarize(
        self,
        session_ref: str,
        persona_id: str,
        messages: Sequence[ChatMessage] = (),
        *,
        idempotency_key: str | None = None,
    ) -> Summary:
        """Summarise a session now. Messages that it does not have yet are saved first."""
        body = {"sessionId": session_ref, "personaId": persona_id, "messages": list(messages)}
        return await self._transport.request(
            Call("POST", "/memory/summarize", body=body, idempotency_key=idempotency_key or str(uuid4())),
            Summary,
        )

    async def load(self, persona_id: str, *, limit: int | None = None) -> tuple[Memory, ...]:
        """The memories that a conversation starts with: the most important active ones."""
        query = {"personaId": persona_id, "limit": limit}
        return await self._transport.request(
            Call("GET", "/memory/load", query), tuple[Memory, ...], field="memories"
        )

    async def list(
        self,
        persona_id: str | None = None,
        *,
        include_archived: bool = False,
        wanted: MemoryFilter = ANY,
        limit: int | None = None,
        offset: int = 0,
    ) -> MemoryPage:
        """Memories of one persona or of all that match the filter, newest first."""
        query = {
            "personaId": persona_id,
            "includeArchived": include_archived,
            "tag": wanted.tag,
            "topic": wanted.topic,
            "emotion": wanted.emotion,
            "origin": wanted.origin,
            "from": wanted.since.isoformat() if wanted.since else None,
            "to": wanted.until.isoformat() if wanted.until else None,
            "limit": limit,
            "offset": offset,
        }
        return await self._transport.request(Call("GET", "/memory/list", query), MemoryPage)

    @overload
    async def search(
        self, persona_id: str, query: str, *, limit: int | None = None, min_confidence: float | None = None
    ) -> Hits[FoundMemory]: ...

    @overload
    async def search(
        self,
        persona_id: str,
        query: str,
        *,
        kinds: Kinds,
        limit: int | None = None,
        min_confidence: float | None = None,
    ) -> Hits[Found]: ...

    async def search(
        self,
        persona_id: str,
        query: str,
        *,
        kinds: Kinds = ("memory",),
        limit: int | None = None,
        min_confidence: float | None = None,
    ) -> Hits[Any]:
        """What matches a query, best first, each with its reasons. Archived memories are included.

        `kinds` are `memory`, `message`, `fact`, or "all" of them. Hits with less than `min_confidence`
        (0 to 1) are left out.

        `degraded` has `vectors` if the embedder did not answer and words alone were searched.
        """
        named = ",".join(check_kinds(kinds))
        asked = {
            "personaId": persona_id,
            "q": query,
            "limit": limit,
            "kinds": named,
            "minConfidence": min_confidence,
        }
        found = await self._transport.request(Call("GET", "/memory/search", asked), FoundMemories)
        return Hits(found.memories, found.degraded)

    async def get(self, memory_id: UUID) -> Memory:
        """One memory; NotFound if there is none."""
        return await self._transport.request(Call("GET", path("memory", memory_id)), Memory, field="memory")

    async def edit(
        self,
        memory_id: UUID,
        changes: MemoryChanges,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Memory:
        """Edit a memory. Conflict if it is no longer at `expected_version`."""
        body = {**dict(changes), "version": expected_version}
        return await self._transport.request(
            Call(
                "PATCH", path("memory", memory_id), body=body, idempotency_key=idempotency_key or str(uuid4())
            ),
            Memory,
            field="memory",
        )

    async def history(self, memory_id: UUID) -> tuple[MemoryVersion, ...]:
        """All versions of a memory, oldest first; the last one is the current one."""
        call = Call("GET", path("memory", memory_id, "history"))
        return await self._transport.request(call, tuple[MemoryVersion, ...], field="versions")

    async def delete(self, memory_id: UUID, *, idempotency_key: str | None = None) -> None:
        """Delete a memory permanently, with its emotional moment and its index entries."""
        await self._transport.content(
            Call("DELETE", path("memory", memory_id), idempotency_key=idempotency_key or str(uuid4()))
        )

    async def delete_all(self, persona_id: str | None = None, *, idempotency_key: str | None = None) -> int:
        """Delete all memories of one persona, or of all, permanently. Returns how many."""
        call = Call(
            "DELETE", "/memory", {"personaId": persona_id}, idempotency_key=idempotency_key or str(uuid4())
        )
        return await self._transport.request(call, int, field="deleted")

    async def archive(self, memory_id: UUID, *, idempotency_key: str | None = None) -> Memory:
        """Archive a memory: search still finds it, but no conversation starts with it."""
        return await self._transport.request(
            Call(
                "POST", path("memory", memory_id, "archive"), idempotency_key=idempotency_key or str(uuid4())
            ),
            Memory,
            field="memory",
        )

    async def restore(self, memory_id: UUID, *, idempotency_key: str | None = None) -> Memory:
        """Make an archived memory active again. MemoryLimitReached if no place is free."""
        return await self._transport.request(
            Call(
                "POST", path("memory", memory_id, "restore"), idempotency_key=idempotency_key or str(uuid4())
            ),
            Memory,
            field="memory",
        )


class Personas:
    """The personas of one owner and their state. An edit makes a new version; a conversation never does."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def create(
        self, draft: PersonaDraft, *, persona_id: str | None = None, idempotency_key: str | None = None
    ) -> PersonaCard:
        """Create a persona, with a new id or the given one. Conflict if that id is taken.

        Each call has an Idempotency-Key, the given one or a new one, so a retry is safe.
        """
        body = {**draft.model_dump(by_alias=True), "id": persona_id}
        call = Call("POST", "/personas", body=body, idempotency_key=idempotency_key or str(uuid4()))
        return await self._transport.request(call, PersonaCard, field="persona")

    async def get_or_create(self, persona_id: str, draft: PersonaDraft) -> PersonaCard:
        """The persona with this id. If there is none, it is created; a persona that exists is not changed."""
        try:
            return await self.get(persona_id)
        except NotFound:
            pass
        try:
            return await self.create(draft, persona_id=persona_id)
        except Conflict:  # created by someone else meanwhile
            return await self.get(persona_id)

    async def import_file(
        self,
        content: bytes,
        *,
        persona_id: str | None = None,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> ImportedPersona:
        """Import a character card (PNG, JSON, CHARX) as a new persona, or as a new version of `persona_id`.

        A lorebook needs `persona_id`. InputRefused says what is wrong with the file. `dry_run` stores nothing
        and returns the persona as it would be stored. Keys as in `create`.
        """
        key = idempotency_key or str(uuid4())
        query = {"personaId": persona_id, "dryRun": dry_run or None}
        call = Call("POST", "/personas/import", query, idempotency_key=key)
        return await self._transport.send_file(call, content, ImportedPersona)

    async def export_card(self, persona_id: str, *, png: bool = False, image: bytes | None = None) -> bytes:
        """The persona as a character card V3: JSON, or a PNG with this image or a plain one."""
        card = card_bytes(await self.get(persona_id))
        return write_png(card, image) if png or image is not None else card

    async def list(self, *, after: str | None = None, limit: int | None = None) -> tuple[PersonaCard, ...]:
        """Personas in the order of their creation; `after` is the id of the last one of the previous page."""
        query = {"after": after, "limit": limit}
        return await self._transport.request(
            Call("GET", "/personas", query), tuple[PersonaCard, ...], field="personas"
        )

    async def get(self, persona_id: str) -> PersonaCard:
        """The newest version of a persona; NotFound if there is none."""
        return await self._transport.request(
            Call("GET", path("personas", persona_id)), PersonaCard, field="persona"
        )

    async def edit(
        self,
        persona_id: str,
        draft: PersonaDraft,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> PersonaCard:
        """Replace a persona by a new version. Conflict if it is no longer at `expected_version`."""
        body = {**draft.model_dump(by_alias=True), "expectedVersion": expected_version}
        call = Call(
            "PUT", path("personas", persona_id), body=body, idempotency_key=idempotency_key or str(uuid4())
        )
        return await self._transport.request(call, PersonaCard, field="persona")

    async def versions(
        self, persona_id: str, *, after: int = 0, limit: int | None = None
    ) -> tuple[PersonaCard, ...]:
        """The versions of a persona after a version, oldest first."""
        call = Call("GET", path("personas", persona_id, "versions"), {"after": after, "limit": limit})
        return await self._transport.request(call, tuple[PersonaCard, ...], field="versions")

    async def delete(self, persona_id: str, *, idempotency_key: str | None = None) -> DeletedPersona:
        """Delete a persona permanently, with everything that belongs to it."""
        call = Call("DELETE", path("personas", persona_id), idempotency_key=idempotency_key or str(uuid4()))
        return await self._transport.request(call, DeletedPersona, field="deleted")

    async def moments(
        self, persona_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> MomentPage:
        """The emotional moments with a persona, newest first. `cursor` is that of the previous page."""
        call = Call("GET", path("personas", persona_id, "moments"), {"limit": limit, "cursor": cursor})
        return await self._transport.request(call, MomentPage)

    async def config(self, persona_id: str) -> PersonaMemoryConfig:
        """The memory settings of a persona, and how many memories it has."""
        return await self._transport.request(
            Call("GET", path("personas", persona_id, "memory-config")), PersonaMemoryConfig
        )

    async def configure(
        self, persona_id: str, config: MemoryConfig, *, idempotency_key: str | None = None
    ) -> PersonaMemoryConfig:
        """Change the memory settings. `recall=False` only keeps memories out of prompts."""
        body = config.model_dump(by_alias=True)
        call = Call(
            "PUT",
            path("personas", persona_id, "memory-config"),
            body=body,
            sends_null=True,
            idempotency_key=idempotency_key or str(uuid4()),
        )
        return await self._transport.request(call, PersonaMemoryConfig)

    async def state(self, persona_id: str, *, as_of: datetime | None = None) -> State:
        """The current state as a prompt contains it, and the ordinary facts; or those of another moment."""
        query = {"asOf": as_of.astimezone(UTC).isoformat().replace("+00:00", "Z") if as_of else None}
        return await self._transport.request(Call("GET", path("personas", persona_id, "state"), query), State)

    async def set_fact(  # noqa: PLR0913  options by keyword
        self,
        persona_id: str,
        category: Category | str,
        key: str,
        value: str,
        *,
        importance: int | None = None,
        subject: str = "user",
        when: date | None = None,
        until: date | None = None,
        idempotency_key: str | None = None,
    ) -> FactChange:
        """Set a fact. It supersedes the active fact with that key, or else the one in the same slot."""
        body = {"category": category, "key": key, "value": value, "importance": importance}
        body |= {"subject": subject, "when": when, "until": until}
        return await self._transport.request(
            Call(
                "PUT",
                path("personas", persona_id, "state"),
                body=body,
                idempotency_key=idempotency_key or str(uuid4()),
            ),
            FactChange,
        )

    async def retire_fact(
        self, persona_id: str, root_id: UUID, *, idempotency_key: str | None = None
    ) -> FactChange:
        """Retire a fact; its history stays. NotFound if the persona has no such active fact."""
        return await self._transport.request(
            Call(
                "DELETE",
                path("personas", persona_id, "state", root_id),
                idempotency_key=idempotency_key or str(uuid4()),
            ),
            FactChange,
        )

    async def fact_history(
        self, persona_id: str, root_id: UUID, *, after: int = 0, limit: int | None = None
    ) -> tuple[FactVersion, ...]:
        """The versions of a fact after a version, oldest first."""
        place = path("personas", persona_id, "state", root_id, "history")
        call = Call("GET", place, {"after": after, "limit": limit})
        return await self._transport.request(call, tuple[FactVersion, ...], field="versions")


class Me:
    """The profile of an owner, and all their data. Only the profile needs no token with the scope `owner`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def export(self) -> AsyncGenerator[bytes]:
        """Yield a snapshot of all data in plain text: one JSON record per line, with its line feed.

        ServiceUnreachable if the connection breaks: the export is incomplete then.
        """
        async with aclosing(self._transport.stream(Call("GET", "/me/export"))) as chunks:
            async for line in lines(chunks):
                yield line

    async def import_(
        self, stream: AsyncIterable[bytes], *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> ImportCounts:
        """Import an export of this service or another: all of it or nothing. Repeating it changes nothing.

        `dry_run` only says what would be imported. A stream is not retried. With `idempotency_key` a repeated
        import answers with the same counts.
        """
        return await self._transport.upload(
            Call("POST", "/me/import", {"dryRun": dry_run or None}, idempotency_key=idempotency_key),
            stream,
            "application/x-ndjson",
            ImportCounts,
        )

    async def profile(self) -> UserProfile:
        """What every persona may know of the user: display name, timezone and language."""
        return await self._transport.request(Call("GET", "/me/profile"), UserProfile)

    async def set_profile(self, *, idempotency_key: str | None = None, **fields: str | None) -> UserProfile:
        """Set `display_name`, `timezone` and `language`. Fields that are not given stay; None unsets one."""
        body = {to_camel(name): value for name, value in fields.items()}
        return await self._transport.request(
            Call(
                "PUT",
                "/me/profile",
                body=body,
                sends_null=True,
                idempotency_key=idempotency_key or str(uuid4()),
            ),
            UserProfile,
        )

    async def erase(self) -> Erasure:
        """Destroy the keys and delete the rows of the owner permanently. The owner's tokens stop working."""
        return await self._transport.request(Call("DELETE", "/me"), Erasure)


def _other_fields(draft: MemoryDraft | MemoryOutline) -> dict[str, Any]:
    """The fields of a memory besides its text and topics."""
    return {
        "personaId": draft.persona_id,
        "sessionId": draft.session_ref,
        "emotion": draft.emotion,
        "importance": draft.importance,
        "tags": draft.tags,
        "speaker": draft.speaker,
        "occurredAt": draft.occurred_at,
    }
