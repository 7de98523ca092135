"""The facade of companion memory, `user.companion`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, overload
from uuid import UUID

from gieok.adapters.sql.driver.database import Database
from gieok.app.chat import check_message, check_recent
from gieok.app.cycles import Cycles, output_of, run_idempotent
from gieok.app.embedding import embed_owner
from gieok.engine import CycleResult, ExecutionPlan, WriteStep
from gieok.errors import InputRefused, NotFound
from gieok.memory.companion.filters import ANY, MemoryFilter, list_filtered
from gieok.memory.companion.hits import Hit, Hits, Kinds, MemoryHit, check_kinds
from gieok.memory.companion.records import (
    MAX_BATCH,
    Memory,
    MemoryChanges,
    MemoryConfig,
    MemoryCounts,
    MemoryDraft,
    MemoryOutline,
    MemoryPage,
    MemoryVersion,
    MomentPage,
    MomentPosition,
    Notice,
    SavedMemory,
)
from gieok.memory.companion.rules import check_page
from gieok.memory.companion.steps.deletion import DeleteMemories
from gieok.memory.companion.steps.memories import (
    ArchiveMemory,
    ChangedMemory,
    CreateMemories,
    CreateMemory,
    EditMemory,
    RestoreMemory,
    batch_ids,
)
from gieok.memory.companion.steps.recall import LoadMemories, RecallMemories
from gieok.memory.companion.store import CompanionView, MemoryStatus
from gieok.memory.companion.vectors.search import VectorSearch
from gieok.memory.conversation.records import Message, Prompt
from gieok.memory.conversation.steps import LLMCall, PromptAssemble
from gieok.memory.cursors import decode_cursor, encode_cursor
from gieok.memory.fields import AccountPlan
from gieok.memory.requests import RequestKey

CREATE_PLAN = "create_memory"
CREATE_MANY_PLAN = "create_memories"
CREATE_OF_MESSAGES_PLAN = "create_memory_of_messages"
LOAD_PLAN = "load_memories"
SEARCH_PLAN = "search_memories"
START_PLAN = "start_conversation"
PAGE = 10


@dataclass(frozen=True)
class SavedMemories:
    """Result of saving many memories: their ids in the order of the drafts, the memories archived for them,
    and notices."""

    created: tuple[UUID, ...]
    archived: tuple[UUID, ...]
    notices: tuple[Notice, ...]


@dataclass(frozen=True)
class Opening:
    """The start of a conversation: the memories loaded, the prompt with them, and the first reply."""

    memories: tuple[Memory, ...]
    prompt: Prompt
    reply: str


class Companion:
    """The memories and emotional moments of one owner, by persona."""

    def __init__(self, cycles: Cycles, database: Database, vector_search: VectorSearch | None) -> None:
        self._cycles = cycles
        self._scope = cycles.scope
        self._database = database
        self._vector_search = vector_search

    async def create(
        self,
        draft: MemoryDraft,
        *,
        account_plan: AccountPlan | None = None,
        auto_archive: bool = True,
        once: RequestKey | None = None,
        plan: str | ExecutionPlan = CREATE_PLAN,
    ) -> SavedMemory:
        """Save a memory. Memories over the active limit are archived, and a notice says so.

        MemoryLimitReached only with `auto_archive=False`. The persona does not have to exist, so that history
        can be imported first. A repeated `once` returns the memory as it is now, without archived memories
        and notices; the same key for another request is a Conflict.
        """

        async def create(request: RequestKey | None) -> SavedMemory:
            given = {
                "draft": draft,
                "accountPlan": account_plan or self._cycles.account_plan,
                "autoArchive": auto_archive,
                "once": request,
            }
            return (await self._cycles.output(plan, CreateMemory, given)).kept

        return await run_idempotent(self._cycles, once, CREATE_PLAN, create, self._replay)

    async def create_many(
        self,
        drafts: Sequence[MemoryDraft],
        *,
        account_plan: AccountPlan | None = None,
        auto_archive: bool = True,
        once: RequestKey | None = None,
        plan: str | ExecutionPlan = CREATE_MANY_PLAN,
    ) -> SavedMemories:
        """Save up to 1,000 memories, all of them or none. The limit is applied after the last one.

        InputRefused with the position of a draft that cannot be stored. `once` as in `create`.
        """
        if not 1 <= len(drafts) <= MAX_BATCH:
            raise InputRefused(f"must have 1 to {MAX_BATCH} memories and has {len(drafts)}", at="drafts")

        async def create(request: RequestKey | None) -> SavedMemories:
            given = {
                "drafts": tuple(drafts),
                "accountPlan": account_plan or self._cycles.account_plan,
                "autoArchive": auto_archive,
                "once": request,
            }
            made = await self._cycles.output(plan, CreateMemories, given)
            return SavedMemories(made.created, made.archived, made.notices)

        async def replay(batch: str) -> SavedMemories:
            return SavedMemories(batch_ids(batch), (), ())

        return await run_idempotent(self._cycles, once, CREATE_MANY_PLAN, create, replay)

    async def create_of_messages(
        self,
        outline: MemoryOutline,
        messages: Sequence[Message],
        *,
        account_plan: AccountPlan | None = None,
        auto_archive: bool = True,
        once: RequestKey | None = None,
        plan: str | ExecutionPlan = CREATE_OF_MESSAGES_PLAN,
    ) -> SavedMemory:
        """Summarise messages and save the summary as `create` does. The messages themselves are not stored.

        If the model does not answer, the plan decides: an excerpt is saved, or SummaryFailed is raised. A job
        replaces the excerpt by a summary later; until then the messages are kept with it, sealed.
        """

        async def create(request: RequestKey | None) -> SavedMemory:
            given = {
                "outline": outline,
                "messages": check_recent(messages),
                "accountPlan": account_plan or self._cycles.account_plan,
                "autoArchive": auto_archive,
                "once": request,
            }
            return (await self._cycles.output(plan, CreateMemory, given)).kept

        return await run_idempotent(self._cycles, once, CREATE_PLAN, create, self._replay)

    async def _replay(self, memory_id: str) -> SavedMemory:
        memory = await self.get(UUID(memory_id))
        return SavedMemory(memory=memory, moment=None, archived=(), notices=())

    async def start(
        self,
        persona_id: str,
        message: str,
        *,
        recent_messages: Sequence[Message] = (),
        plan: str | ExecutionPlan = START_PLAN,
    ) -> Opening:
        """Start a conversation with the persona, its current state and its memories.

        Nothing is stored. NotFound if the persona does not exist.
        """
        check_message(message)
        request = {
            "personaId": persona_id,
            "recentMessages": check_recent(recent_messages),
            "message": message,
        }
        result = await self._cycles.run(plan, request)
        memories = output_of(result, LoadMemories).memories
        return Opening(memories, output_of(result, PromptAssemble).prompt, output_of(result, LLMCall).text)

    async def load(
        self, persona_id: str, *, limit: int | None = None, plan: str | ExecutionPlan = LOAD_PLAN
    ) -> tuple[Memory, ...]:
        """The memories for the start of a conversation. `limit` can only lower the limit of the plan."""
        _check_limit(limit)
        loaded = await self._cycles.output(plan, LoadMemories, {"personaId": persona_id})
        return loaded.memories[:limit]

    @overload
    async def search(
        self,
        persona_id: str,
        query: str,
        *,
        limit: int | None = None,
        min_confidence: float | None = None,
        plan: str | ExecutionPlan = SEARCH_PLAN,
    ) -> Hits[MemoryHit]: ...

    @overload
    async def search(
        self,
        persona_id: str,
        query: str,
        *,
        kinds: Kinds,
        limit: int | None = None,
        min_confidence: float | None = None,
        account_plan: AccountPlan | None = None,
        plan: str | ExecutionPlan = SEARCH_PLAN,
    ) -> Hits[Hit]: ...

    async def search(
        self,
        persona_id: str,
        query: str,
        *,
        kinds: Kinds = ("memory",),
        limit: int | None = None,
        min_confidence: float | None = None,
        account_plan: AccountPlan | None = None,
        plan: str | ExecutionPlan = SEARCH_PLAN,
    ) -> Hits[Any]:
        """What answers a query, best first, with reasons. `limit` can only lower the plan's limit, and
        `min_confidence` (0 to 1) can only raise its threshold.

        `kinds` are `memory`, `message`, `fact`, or "all" of them; they are one ranking. Messages are those of
        all sessions with this persona. A plan may refuse them to an account plan.
        If the embedder does not answer, the plan decides: `degraded` of the result says so, or StepFailed is
        raised.
        """
        _check_limit(limit)
        if min_confidence is not None and not 0 <= min_confidence <= 1:
            raise InputRefused("must be between 0 and 1", at="minConfidence")
        request = {
            "personaId": persona_id,
            "query": query,
            "kinds": check_kinds(kinds),
            "limit": limit,
            "minConfidence": min_confidence,
            "accountPlan": account_plan,
        }
        recalled = await self._cycles.output(plan, RecallMemories, request)
        return Hits(recalled.hits, recalled.degraded)

    async def embed(self, limit: int | None = None) -> int:
        """Embed the memories without a vector, all or about `limit` of them. Returns how many.

        A worker does the same in the background. InputRefused without an embedder, Conflict if Gieok was
        opened with another one since, StepFailed if it does not answer.
        """
        _check_limit(limit)
        return await embed_owner(self._cycles, self._vector_search, self._database, limit)

    async def list(
        self,
        persona_id: str | None = None,
        *,
        status: MemoryStatus = "active",
        wanted: MemoryFilter = ANY,
        limit: int = PAGE,
        offset: int = 0,
    ) -> MemoryPage:
        """The memories of one persona or of all that match the filter, newest first.

        A filter decrypts all memories of the persona.
        """
        return await self._scope.read(
            lambda view: list_filtered(
                view.companion, persona_id, status, wanted, limit=limit, offset=offset
            ),
            heavy=wanted != ANY,
            replica=True,
        )

    async def get(self, memory_id: UUID) -> Memory:
        """One memory. NotFound."""
        memory = await self._scope.read(lambda view: view.companion.get(memory_id))
        if memory is None:
            raise NotFound(f"there is no memory {memory_id}")
        return memory

    async def edit(
        self,
        memory_id: UUID,
        changes: MemoryChanges,
        *,
        expected_version: int | None = None,
        once: RequestKey | None = None,
    ) -> Memory:
        """Change a memory. Conflict if it is not at `expected_version`.

        `once` is an idempotency key: a repeated request changes nothing and returns the memory as it is now.
        """
        request = {"memoryId": memory_id, "changes": changes, "expectedVersion": expected_version}
        return await self._change("edit_memory", EditMemory, request, once)

    async def history(self, memory_id: UUID) -> Sequence[MemoryVersion]:
        """All versions of a memory, oldest first; the last one is the current one. NotFound.

        An excerpt that a summary has replaced is not kept.
        """

        def read(view: CompanionView) -> Sequence[MemoryVersion]:
            memory = view.companion.get(memory_id)
            if memory is None:
                raise NotFound(f"there is no memory {memory_id}")
            return [*view.memory_versions.list(memory_id), MemoryVersion(**dict(memory), replaced_at=None)]

        return await self._scope.read(read)

    async def archive(self, memory_id: UUID, *, once: RequestKey | None = None) -> Memory:
        """Archive a memory. `once` as in `edit`."""
        return await self._change("archive_memory", ArchiveMemory, {"memoryId": memory_id}, once)

    async def restore(
        self, memory_id: UUID, *, account_plan: AccountPlan | None = None, once: RequestKey | None = None
    ) -> Memory:
        """Make an archived memory active. MemoryLimitReached if the active limit does not allow it.

        With a limit, older active memories with the same topics are archived. `once` as in `edit`.
        """
        request = {"memoryId": memory_id, "accountPlan": account_plan or self._cycles.account_plan}
        return await self._change("restore_memory", RestoreMemory, request, once)

    async def _change(
        self,
        plan: str,
        step: type[WriteStep[Any, Any, ChangedMemory]],
        request: Mapping[str, Any],
        once: RequestKey | None,
    ) -> Memory:
        """Change a memory. Only its id is stored with an idempotency key: deleting it deletes its text."""

        def changed(result: CycleResult) -> UUID:
            return output_of(result, step).memory.id

        return await self.get(await self._cycles.answer_once(once, plan, request, changed, UUID))

    async def delete(self, memory_id: UUID, *, once: RequestKey | None = None) -> None:
        """Delete a memory with its moment, vectors and index entries."""
        request = {"memoryId": memory_id}
        await self._cycles.answer_once(once, "delete_memory", request, lambda _: None, type(None))

    async def delete_all(self, persona_id: str | None = None, *, once: RequestKey | None = None) -> int:
        """Delete all memories of a persona, or of all personas. Returns how many. Everything else stays."""
        request = {"personaId": persona_id}
        return (await self._cycles.output_once(once, "delete_memories", DeleteMemories, request)).deleted

    async def moments(self, persona_id: str, *, limit: int = PAGE, cursor: str | None = None) -> MomentPage:
        """The emotional moments of a persona, newest first. `cursor` is that of the previous page."""
        check_page(limit, 0)
        after = decode_cursor(MomentPosition, cursor) if cursor is not None else None
        found = await self._scope.read(
            lambda view: view.companion.moments(persona_id, limit + 1, after), replica=True
        )
        page = tuple(found[:limit])
        has_more = len(found) > limit
        position = MomentPosition(at=page[-1].at, id=page[-1].id) if has_more else None
        return MomentPage(moments=page, next_cursor=encode_cursor(position) if position else None)

    async def config(self, persona_id: str) -> MemoryConfig:
        """The memory settings of a persona."""
        return await self._scope.read(lambda view: view.companion.config(persona_id))

    async def configure(
        self, persona_id: str, config: MemoryConfig, *, once: RequestKey | None = None
    ) -> MemoryConfig:
        """Change the memory settings of a persona. With `recall=False` no memory gets into a prompt; they are
        still stored and listed. Returns the settings; a repeated `once` those of the first request."""
        request = {"personaId": persona_id, "config": config}
        return await self._cycles.answer_once(
            once, "configure_memories", request, lambda _: config, MemoryConfig
        )

    async def days(self, persona_id: str | None = None) -> Sequence[tuple[date, int]]:
        """How many memories of one persona or of all happened on each day (UTC), oldest first. Archived ones
        count too, and days without a memory are omitted."""
        return await self._scope.read(lambda view: view.companion.days(persona_id), replica=True)

    async def counts(self, persona_id: str | None = None) -> MemoryCounts:
        """How many memories a persona has, or all together."""
        return await self._scope.read(lambda view: view.companion.counts(persona_id), replica=True)


def _check_limit(limit: int | None) -> None:
    if limit is not None and limit < 1:
        raise InputRefused("must be 1 or more", at="limit")
