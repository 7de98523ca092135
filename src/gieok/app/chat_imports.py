"""Import of chats and memories of other programs: `user.imports`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, UUID, uuid5

from gieok.adapters.imports.chats import ChatFile, Conversation, Format, OldMemory, read_chats
from gieok.app.cycles import Cycles, validated
from gieok.app.export_format import end_line, header_line
from gieok.app.owner_data import OwnerData
from gieok.app.session_plans import CHAT_PLAN, named_plans
from gieok.errors import Conflict, NotFound
from gieok.memory.fields import AccountPlan
from gieok.memory.sessions.importing import ImportMessages
from gieok.memory.sessions.records import ChatMessage, MessageRange, SessionStart
from gieok.memory.sessions.store import LogView
from gieok.refs import check_ref

if TYPE_CHECKING:
    from gieok.app import Gieok

Report = Callable[[int, int], None]
_IMPORTANCE = 5


@dataclass(frozen=True)
class ImportedConversation:
    """One conversation of an imported file."""

    title: str
    session_ref: str
    messages: int
    added: int
    """How many messages are new; 0 if all were imported before."""
    started_at: datetime
    last_message_at: datetime
    error: str | None = None
    """Why nothing of this conversation was imported."""


@dataclass(frozen=True)
class ImportedChats:
    """What an import has stored, or would store."""

    format: Format
    conversations: tuple[ImportedConversation, ...]
    memories: int
    """How many memories the file has."""
    memories_added: int


class Imports:
    """Imports files of other programs for one owner. Character cards: see `user.personas.import_file`."""

    def __init__(self, gieok: Gieok, cycles: Cycles) -> None:
        self._gieok = gieok
        self._cycles = cycles
        self._scope = cycles.scope

    async def chats(
        self,
        content: bytes,
        persona_id: str,
        *,
        file_format: Format | None = None,
        remember: bool = False,
        dry_run: bool = False,
        account_plan: AccountPlan | None = None,
        report: Report = lambda _done, _total: None,
    ) -> ImportedChats:
        """Import chats of SillyTavern, ChatGPT, Letta or Gieok, and memories of mem0 or Letta.

        Each conversation becomes a session that has ended, all of it in one commit or nothing. Repeating an
        import changes nothing; what a conversation has gained since becomes a further session. `remember`
        queues jobs that remember and summarise it. `dry_run` only says what would be stored. InputRefused
        says what is wrong with the file, NotFound for the persona.
        """
        check_ref(persona_id, "personaId")
        if await self._scope.read(lambda view: view.personas.get(persona_id)) is None:
            raise NotFound("no such persona")
        read = await asyncio.to_thread(read_chats, content, self._cycles.now, file_format)
        total = len(read.conversations) + bool(read.memories)
        done: list[ImportedConversation] = []
        for conversation in read.conversations:
            target = await self._target(read.format, conversation, persona_id)
            if target.added and not dry_run:
                plan = account_plan or self._cycles.account_plan
                await self._store(target, conversation, persona_id, plan, remember=remember)
            done.append(target)
            report(len(done), total)
        added = await self._import_memories(read, persona_id, dry_run=dry_run)
        report(total, total)
        return ImportedChats(read.format, tuple(done), len(read.memories), added)

    async def _target(
        self, name: Format, conversation: Conversation, persona_id: str
    ) -> ImportedConversation:
        """Where the new messages of a conversation belong: its session, or one after those imported before.

        An imported session has ended, so what a conversation has gained since goes into a session of its own.
        """
        digest = sha256(json.dumps([name, conversation.id, persona_id]).encode()).hexdigest()[:32]
        messages = conversation.messages

        def find(view: LogView) -> tuple[str, int, str | None]:
            ref, known = f"import-{digest}", 0
            while (session := view.sessions.get(ref)) is not None:
                span = MessageRange(first=1, last=session.message_count)
                stored = view.messages.between(ref, span)
                if [each.id for each in stored] != [each.id for each in messages[known:][: len(stored)]]:
                    return ref, len(messages), "its messages were changed since they were imported"
                known += len(stored)
                if known >= len(messages):
                    break
                ref = f"import-{digest}.{known}"
            return ref, known, None

        ref, known, error = await self._scope.read(find)
        return ImportedConversation(
            title=conversation.title,
            session_ref=ref,
            messages=len(messages),
            added=len(messages) - known,
            started_at=messages[0].timestamp,
            last_message_at=messages[-1].timestamp,
            error=error,
        )

    async def _store(
        self,
        target: ImportedConversation,
        conversation: Conversation,
        persona_id: str,
        account_plan: AccountPlan,
        *,
        remember: bool,
    ) -> None:
        """Store the new messages in one commit."""
        checked = self._gieok.check(CHAT_PLAN)
        start = validated(
            SessionStart,
            session_ref=target.session_ref,
            persona_id=persona_id,
            account_plan=account_plan,
            plan_hash=checked.plan.hash,
            plans=named_plans(checked),
        )
        messages: Sequence[ChatMessage] = conversation.messages[target.messages - target.added :]
        plan = "import_conversation_and_remember" if remember else "import_conversation"
        request = {"personaId": persona_id, "start": start, "messages": tuple(messages)}
        try:
            await self._cycles.output(plan, ImportMessages, request)
        except Conflict:  # another import of the same file was faster
            if await self._scope.read(lambda view: view.sessions.get(target.session_ref)) is None:
                raise
        if remember:
            self._gieok.job_queued.set()

    async def _import_memories(self, read: ChatFile, persona_id: str, *, dry_run: bool) -> int:
        """Store the memories that are not there yet, in one transaction. Returns how many they are."""
        ids = {_memory_id(read.format, each, persona_id): each for each in read.memories}
        known = await self._scope.read(
            lambda view: {name for name in ids if view.companion.get(name) is not None}
        )
        new = {name: each for name, each in ids.items() if name not in known}
        if new and not dry_run:
            now = self._cycles.now
            lines = [_memory_line(each, name, persona_id, now) for name, each in new.items()]
            await OwnerData(self._gieok, self._scope).import_(_as_export(lines, now))
        return len(new)


async def _as_export(records: Sequence[Mapping[str, Any]], now: datetime) -> AsyncIterator[bytes]:
    """The records in the format of an export, whose import is idempotent and all or nothing."""
    yield header_line(now)
    for record in records:
        yield json.dumps(record).encode() + b"\n"
    yield end_line(len(records))


def _memory_id(name: Format, memory: OldMemory, persona_id: str) -> UUID:
    return uuid5(NAMESPACE_URL, json.dumps(["gieok-import", name, memory.id, persona_id]))


def _memory_line(memory: OldMemory, memory_id: UUID, persona_id: str, now: datetime) -> dict[str, Any]:
    """The memory as a record of an export."""
    at = (memory.at or now).isoformat().replace("+00:00", "Z")
    return {
        "kind": "memory",
        "id": str(memory_id),
        "personaId": persona_id,
        "sessionRef": None,
        "summary": memory.text,
        "topics": [],
        "emotion": "calm",
        "importance": _IMPORTANCE,
        "tags": list(memory.tags),
        "speaker": None,
        "origin": "manual",
        "createdAt": at,
        "occurredAt": at,
        "archivedAt": None,
        "version": 1,
    }
