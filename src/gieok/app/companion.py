"""The facade of companion memory: what interfaces call as `user.companion`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from gieok.adapters.sql.driver.database import Database
from gieok.app.chat import check_message, check_recent
from gieok.app.cycles import Cycles, output_of, run_idempotent
from gieok.app.embedding import embed_owner
from gieok.engine import ExecutionPlan
from gieok.errors import InputRefused, NotFound
from gieok.memory.companion.records import (
    EmotionalMoment,
    Kept,
    Memory,
    MemoryChanges,
    MemoryConfig,
    MemoryCounts,
    MemoryDraft,
    MemoryHit,
    MemoryPage,
)
from gieok.memory.companion.steps.memories import (
    ArchiveMemory,
    ConfigureMemories,
    CreateMemory,
    DeleteMemory,
    EditMemory,
    MemoryOutline,
    RestoreMemory,
)
from gieok.memory.companion.steps.recall import LoadMemories, RecallMemories
from gieok.memory.companion.store import Shelf
from gieok.memory.companion.vectors import Meaning
from gieok.memory.conversation.records import Message, Prompt
from gieok.memory.conversation.steps import LLMCall, PromptAssemble
from gieok.memory.fields import AccountPlan
from gieok.memory.requests.records import RequestKey

CREATE_PLAN = "create_memory"
CREATE_OF_MESSAGES_PLAN = "create_memory_of_messages"
LOAD_PLAN = "load_memories"
SEARCH_PLAN = "search_memories"
START_PLAN = "start_conversation"
PAGE = 10


@dataclass(frozen=True)
class Opening:
    """How a conversation begins: what is remembered, the prompt that says so, and the first reply."""

    memories: tuple[Memory, ...]
    prompt: Prompt
    reply: str


class Companion:
    """One owner's episodes and moments, persona by persona."""

    def __init__(self, cycles: Cycles, database: Database, meaning: Meaning | None) -> None:
        self._cycles = cycles
        self._scope = cycles.scope
        self._database = database
        self._meaning = meaning

    async def create(
        self,
        draft: MemoryDraft,
        *,
        account_plan: AccountPlan,
        auto_archive: bool = True,
        once: RequestKey | None = None,
        plan: str | ExecutionPlan = CREATE_PLAN,
    ) -> Kept:
        """Keep a memory that someone wrote. It never fails for the limit: it archives, and says so.

        MemoryLimitReached only with `auto_archive=False`. The persona need not exist: history may be brought
        along before it does. The same request under the same `once` gives back the memory as it is now,
        with nothing archived and nothing to tell; another request is a Conflict.
        """

        async def create(request: RequestKey | None) -> Kept:
            given = {
                "draft": draft,
                "accountPlan": account_plan,
                "autoArchive": auto_archive,
                "once": request,
            }
            return (await self._cycles.output(plan, CreateMemory, given)).kept

        return await run_idempotent(self._cycles, once, CREATE_PLAN, create, self._kept_before)

    async def create_of_messages(
        self,
        outline: MemoryOutline,
        messages: Sequence[Message],
        *,
        account_plan: AccountPlan,
        auto_archive: bool = True,
        once: RequestKey | None = None,
        plan: str | ExecutionPlan = CREATE_OF_MESSAGES_PLAN,
    ) -> Kept:
        """Have messages summarised and keep that, as `create` does. The messages themselves are not kept.

        What happens when the model cannot is for the plan to say: an excerpt, or SummaryFailed.
        """

        async def create(request: RequestKey | None) -> Kept:
            given = {
                "outline": outline,
                "messages": check_recent(messages),
                "accountPlan": account_plan,
                "autoArchive": auto_archive,
                "once": request,
            }
            return (await self._cycles.output(plan, CreateMemory, given)).kept

        return await run_idempotent(self._cycles, once, CREATE_PLAN, create, self._kept_before)

    async def _kept_before(self, memory_id: str) -> Kept:
        memory = await self.get(UUID(memory_id))
        return Kept(memory=memory, moment=None, archived=(), notices=())

    async def start(
        self,
        persona_id: str,
        message: str,
        *,
        recent_messages: Sequence[Message] = (),
        plan: str | ExecutionPlan = START_PLAN,
    ) -> Opening:
        """Begin a conversation with who the persona is, what is true by now and what is remembered.

        Nothing is stored. NotFound for a persona that is not there.
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
        """What a conversation begins with. `limit` may ask for less than the plan gives, not for more."""
        _check_limit(limit)
        loaded = await self._cycles.output(plan, LoadMemories, {"personaId": persona_id})
        return loaded.memories[:limit]

    async def search(
        self,
        persona_id: str,
        query: str,
        *,
        limit: int | None = None,
        plan: str | ExecutionPlan = SEARCH_PLAN,
    ) -> tuple[MemoryHit, ...]:
        """What answers a query, best first, each with its reasons. `limit` may ask for less than the plan."""
        _check_limit(limit)
        request = {"personaId": persona_id, "query": query, "limit": limit}
        return (await self._cycles.output(plan, RecallMemories, request)).hits

    async def embed(self, limit: int | None = None) -> int:
        """Give memories the vectors that they wait for, all or about `limit` of them; how many got one.

        A worker does the same in the background. InputRefused without an embedder, Conflict where Gieok was
        opened with another one since, StepFailed where it does not answer.
        """
        _check_limit(limit)
        return await embed_owner(self._cycles, self._meaning, self._database, limit)

    async def list(
        self, persona_id: str | None = None, *, shelf: Shelf = "active", limit: int = PAGE, offset: int = 0
    ) -> MemoryPage:
        """The newest first, of one persona or of all."""
        return await self._scope.read(lambda rooms: rooms.companion.list(persona_id, shelf, limit, offset))

    async def get(self, memory_id: UUID) -> Memory:
        """One memory; NotFound where there is none."""
        memory = await self._scope.read(lambda rooms: rooms.companion.get(memory_id))
        if memory is None:
            raise NotFound(f"there is no memory {memory_id}")
        return memory

    async def edit(
        self, memory_id: UUID, changes: MemoryChanges, *, expected_version: int | None = None
    ) -> Memory:
        """Change a memory by hand. Conflict where it is not at `expected_version` any more."""
        request = {"memoryId": memory_id, "changes": changes, "expectedVersion": expected_version}
        return (await self._cycles.output("edit_memory", EditMemory, request)).memory

    async def archive(self, memory_id: UUID) -> Memory:
        """Take a memory from the active ones."""
        request = {"memoryId": memory_id}
        return (await self._cycles.output("archive_memory", ArchiveMemory, request)).memory

    async def restore(self, memory_id: UUID, *, account_plan: AccountPlan) -> Memory:
        """Put a memory back among the active ones. MemoryLimitReached where it has no place there.

        Where places are limited, older ones about the same topics are archived for it.
        """
        request = {"memoryId": memory_id, "accountPlan": account_plan}
        return (await self._cycles.output("restore_memory", RestoreMemory, request)).memory

    async def delete(self, memory_id: UUID) -> None:
        """Remove a memory for good, with its moment and its words in the index."""
        await self._cycles.output("delete_memory", DeleteMemory, {"memoryId": memory_id})

    async def moments(
        self, persona_id: str, *, limit: int = PAGE, offset: int = 0
    ) -> Sequence[EmotionalMoment]:
        """The moments that mattered, newest first."""
        return await self._scope.read(lambda rooms: rooms.companion.moments(persona_id, limit, offset))

    async def config(self, persona_id: str) -> MemoryConfig:
        """What the user set for a persona."""
        return await self._scope.read(lambda rooms: rooms.companion.config(persona_id))

    async def configure(self, persona_id: str, config: MemoryConfig) -> None:
        """Set it. `recall=False` keeps memories out of prompts; they are kept and listed as before."""
        await self._cycles.output(
            "configure_memories", ConfigureMemories, {"personaId": persona_id, "config": config}
        )

    async def counts(self, persona_id: str | None = None) -> MemoryCounts:
        """How many memories a persona has, or all of them together."""
        return await self._scope.read(lambda rooms: rooms.companion.counts(persona_id))


def _check_limit(limit: int | None) -> None:
    if limit is not None and limit < 1:
        raise InputRefused("must be 1 or more", at="limit")
