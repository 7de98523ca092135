"""Export and import of sessions, turn memories and companion memories."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import cast
from uuid import UUID, uuid5

from gieok.adapters.sql.driver.database import Row, Tx, from_micros, to_micros
from gieok.adapters.sql.lifecycle.export.records import (
    BY_ID,
    PAGE,
    ConfigRecord,
    MemoryRecord,
    MemoryVersionRecord,
    MessageRecord,
    MomentRecord,
    MoveRecord,
    SessionRecord,
    Span,
    TurnMemoryRecord,
    Waiting,
    check_unchanged,
    read_rows,
    subset,
)
from gieok.adapters.sql.stores.companion.rows import open_memory
from gieok.adapters.sql.stores.companion.store import SqlCompanionStore, SqlMomentStore
from gieok.adapters.sql.stores.companion.versions import SqlMemoryVersionStore
from gieok.adapters.sql.stores.jobs import SqlJobStore
from gieok.adapters.sql.stores.messages import SqlMessageStore
from gieok.adapters.sql.stores.sessions import SqlSessionStore, plans_json
from gieok.adapters.sql.stores.turns import SqlMemoryStore
from gieok.errors import Conflict, InputRefused, StoreDamaged
from gieok.memory.companion.records import (
    DEFAULT_CONFIG,
    EmotionalMoment,
    Memory,
    MemoryConfig,
    MemoryVersion,
)
from gieok.memory.jobs.records import JobDraft, JobKind
from gieok.memory.sessions.records import ChatMessage, MessageRange, PlanMove, Session
from gieok.memory.sessions.rules import watch_id
from gieok.memory.turns.records import MemoryItem
from gieok.vault import OwnerKeys

_SUMMARIES = UUID("2f6f6a4e-52a5-4d0c-8c58-3f6f3cf9b0a1")
_REMEMBERING = UUID("7b0c1c52-9d0e-4f0b-8a51-6c1e0c4d2f37")


class SessionTransfer:
    """Sessions of one owner, with their plan moves, messages and waiting jobs.

    The moves and messages of a session follow it directly, so one session is imported at a time.
    """

    def __init__(self, tx: Tx, keys: OwnerKeys, now: datetime) -> None:
        self._tx = tx
        self._sessions = SqlSessionStore(tx)
        self._messages = SqlMessageStore(tx, keys)
        self._jobs = SqlJobStore(tx)
        self._now = now
        self._current: _ImportedSession | None = None

    def export(self) -> Iterator[SessionRecord | MoveRecord | MessageRecord]:
        for (session_ref,) in read_rows(self._tx, "list_session_refs", {"session_ref": (0, "")}):
            session = self._sessions.get(session_ref)
            if session is not None:
                yield from self._export_session(session)

    def _export_session(self, session: Session) -> Iterator[SessionRecord | MoveRecord | MessageRecord]:
        session_ref = session.session_ref
        yield self._record(session)
        for number, move in enumerate(self._sessions.moves(session_ref), start=1):
            yield MoveRecord(kind="planMove", session_ref=session_ref, number=number, **dict(move))
        for first in range(1 + self._messages.removed_count(session_ref), session.log_length + 1, PAGE):
            span = MessageRange(first=first, last=min(first + PAGE - 1, session.log_length))
            messages = self._messages.between(session_ref, span)
            if len(messages) != span.last - first + 1:
                raise StoreDamaged(f"messages of session '{session_ref}' are missing; restore a backup")
            labels = self._messages.labels(session_ref, span)
            for seq, (message, words) in enumerate(zip(messages, labels, strict=True), start=first):
                yield MessageRecord(
                    kind="message", session_ref=session_ref, seq=seq, labels=words, **dict(message)
                )

    def import_(self, record: SessionRecord) -> bool:
        """Add a session. False if it exists; it may have continued since the export and is not changed."""
        self.finish()
        is_new = bool(
            self._tx.run(
                "import_session",
                session_ref=record.session_ref,
                persona_id=record.persona_id,
                account_plan=record.account_plan,
                plan_hash=record.last_execution_plan_hash,
                plans=plans_json(record.plans),
                started_at=to_micros(record.started_at),
                last_activity_at=to_micros(record.started_at),
            )
        )
        if not is_new:
            _check_continues(record, self._sessions.lock(record.session_ref))
        elif record.removed_count:
            self._tx.run(
                "import_removed_count", session_ref=record.session_ref, removed_count=record.removed_count
            )
        self._current = _ImportedSession(record, is_new)
        return is_new

    def import_move(self, record: MoveRecord) -> bool:
        """Add a plan move of the current session. False if the session exists already."""
        current = self._current_session(record.session_ref)
        current.moves += 1
        if record.number != current.moves:
            raise InputRefused(f"is move {record.number}, but move {current.moves} was expected")
        if not current.is_new:
            move = subset(PlanMove, record)
            if move not in self._sessions.moves(record.session_ref):
                raise _another_session(record.session_ref)
            return False
        self._tx.run(
            "import_plan_move",
            session_ref=record.session_ref,
            number=record.number,
            moved_at=to_micros(record.moved_at),
            from_hash=record.from_hash,
            to_hash=record.to_hash,
        )
        return True

    def import_message(self, record: MessageRecord) -> bool:
        """Add a message of the current session. False if the session exists already. Written in batches."""
        current = self._current_session(record.session_ref)
        current.messages += 1
        if record.seq != current.messages:
            raise InputRefused(f"is message {record.seq}, but message {current.messages} was expected")
        current.unwritten.append(subset(ChatMessage, record))
        if record.labels:
            current.labels[record.id] = record.labels
        if len(current.unwritten) == PAGE:
            self._write(current)
        return current.is_new

    def finish(self) -> None:
        """Complete the current session: write its last messages, counts and end, and queue its jobs."""
        current, self._current = self._current, None
        if current is None:
            return
        self._write(current)
        record = current.record
        if current.messages != record.message_count:
            raise InputRefused(
                f"session '{record.session_ref}' has {record.message_count} messages, "
                f"but {current.messages} follow it"
            )
        if current.is_new:
            self._tx.run(
                "finish_imported_session",
                session_ref=record.session_ref,
                last_activity_at=to_micros(record.last_activity_at),
                ended_at=None if record.ended_at is None else to_micros(record.ended_at),
                claimed_count=record.claimed_count,
                summarized_count=record.summarized_count,
                unremembered_count=record.unremembered_count,
            )
            self._tx.run("count_withdrawn", session_ref=record.session_ref)
            self._queue_jobs(record)

    def _write(self, current: _ImportedSession) -> None:
        messages, current.unwritten = current.unwritten, []
        if not messages:
            return
        session_ref = current.record.session_ref
        first = current.messages - len(messages) + 1
        if current.is_new:
            added = self._messages.append(session_ref, messages, current.record.started_at, None).added
            if added != len(messages):
                raise InputRefused(f"session '{session_ref}' has two messages with the same id")
            labels, current.labels = current.labels, {}
            if labels:
                self._messages.describe(session_ref, labels)
            withdrawn = [message for message in messages if message.withdrawn_at is not None]
            for message in withdrawn:
                at = to_micros(cast(datetime, message.withdrawn_at))
                self._tx.run("withdraw_message", session_ref=session_ref, id=message.id, at=at)
            if withdrawn:
                self._messages.unindex(session_ref, [message.id for message in withdrawn])
            return
        removed = min(self._messages.removed_count(session_ref), current.messages)
        first = max(first, removed + 1)
        kept = messages[len(messages) - (current.messages - first + 1) :]
        span = MessageRange(first=first, last=max(first, current.messages))
        stored = self._messages.between(session_ref, span) if kept else []
        if list(map(_as_said, stored)) != list(map(_as_said, kept)):
            raise _another_session(session_ref)

    def _queue_jobs(self, record: SessionRecord) -> None:
        """Queue the jobs that were waiting where the session was exported."""
        for span in record.waiting:
            job_id = uuid5(_SUMMARIES, f"{record.session_ref} {span.first} {span.last}")
            self._add_job(job_id, "summary", record.session_ref, span)
            if span.memory_id is not None:
                self._tx.run("link_job_to_memory", id=job_id.bytes, memory_id=span.memory_id.bytes)
        for span in record.remembering:
            job_id = uuid5(_REMEMBERING, f"{record.session_ref} {span.first} {span.last}")
            self._add_job(job_id, "remember", record.session_ref, span, lane=record.persona_id)
        if record.ended_at is None and record.persona_id is not None:
            self._add_job(watch_id(record.session_ref), "watch", record.session_ref, None)

    def _add_job(
        self, job_id: UUID, kind: JobKind, session_ref: str, span: Span | None, lane: str | None = None
    ) -> None:
        first, last = (span.first, span.last) if span else (0, 0)
        self._jobs.add(
            JobDraft(
                id=job_id,
                kind=kind,
                subject=session_ref,
                first_seq=first,
                last_seq=last,
                lane=lane,
                due_at=self._now,
            ),
            self._now,
        )

    def _current_session(self, session_ref: str) -> _ImportedSession:
        if self._current is None or self._current.record.session_ref != session_ref:
            raise InputRefused(f"belongs to session '{session_ref}', which is not directly before it")
        return self._current

    def _record(self, session: Session) -> SessionRecord:
        summaries = self._tx.all("list_waiting_jobs", session_ref=session.session_ref, kind="summary")
        remembering = self._tx.all("list_waiting_jobs", session_ref=session.session_ref, kind="remember")
        return SessionRecord(
            kind="session",
            session_ref=session.session_ref,
            persona_id=session.persona_id,
            account_plan=session.account_plan,
            last_execution_plan_hash=session.last_execution_plan_hash,
            started_at=session.started_at,
            last_activity_at=session.last_activity_at,
            ended_at=session.ended_at,
            message_count=session.log_length,
            claimed_count=session.claimed_count,
            plans=session.plans,
            waiting=tuple(_waiting(*row) for row in summaries),
            remembering=tuple(Span(first=first, last=last) for first, last, _ in remembering),
            unremembered_count=session.unremembered_count,
            removed_count=self._messages.removed_count(session.session_ref),
        )


class TurnMemoryTransfer(SqlMemoryStore):
    """Turn memories of one owner. The only place where keywords leave the store: to their owner."""

    def export(self) -> Iterator[TurnMemoryRecord]:
        for row in read_rows(self._tx, "list_turn_exports", BY_ID):
            yield self._record(row)

    def import_(self, record: TurnMemoryRecord) -> bool:
        """Add a record. False if it exists already."""
        row = self._tx.one("get_turn_export", id=record.id.bytes)
        if row:
            return check_unchanged(record, self._record(row), record.id)
        self.save(subset(MemoryItem, record), message_id=record.message_id)
        return True

    def _record(self, row: Row) -> TurnMemoryRecord:
        identity, session_ref, at, summary, keywords, message_id = row
        memory_id = UUID(bytes=identity)
        return TurnMemoryRecord(
            kind="turnMemory",
            id=memory_id,
            session_ref=session_ref,
            timestamp=from_micros(at),
            summary=self._open("summary", memory_id, summary).decode(),
            keywords=tuple(json.loads(self._open("keywords", memory_id, keywords))),
            message_id=message_id,
        )


class MemoryTransfer(SqlCompanionStore):
    """Companion memories of one owner, and the memory settings of each persona.

    Memories that follow each other are written in batches; `finish` writes the last of them.
    """

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        super().__init__(tx, keys)
        self._unwritten: dict[UUID, MemoryRecord] = {}
        """New memories of one persona."""

    def export_configs(self) -> Iterator[ConfigRecord]:
        for persona_id, recall, limit in read_rows(self._tx, "list_config_exports", {"persona_id": (0, "")}):
            yield ConfigRecord(
                kind="memoryConfig", persona_id=persona_id, recall=bool(recall), active_limit=limit
            )

    def import_config(self, record: ConfigRecord) -> bool:
        """Set the settings of a persona. False if they are set already."""
        config = self.config(record.persona_id)
        if config != DEFAULT_CONFIG:
            stored = ConfigRecord(kind="memoryConfig", persona_id=record.persona_id, **dict(config))
            return check_unchanged(record, stored, f"'{record.persona_id}'")
        self.configure(record.persona_id, subset(MemoryConfig, record))
        return True

    def export(self) -> Iterator[MemoryRecord]:
        cursor = {"persona_id": (1, ""), "number": (2, 0)}
        for row in read_rows(self._tx, "list_memory_exports", cursor):
            yield _memory_record(open_memory(self._keys, row))

    def import_(self, record: MemoryRecord) -> bool:
        """Add a record. False if it exists already; one archived or restored since then stays as it is."""
        stored = self._unwritten.get(record.id)
        if stored is None and (memory := self.get(record.id)):
            stored = _memory_record(memory)
        if stored is not None:
            same = stored.model_copy(update={"archived_at": record.archived_at})
            return check_unchanged(record, same, record.id)
        last = next(reversed(self._unwritten.values()), record)
        if last.persona_id != record.persona_id or len(self._unwritten) == PAGE:
            self.finish()
        self._unwritten[record.id] = record
        return True

    def finish(self) -> None:
        """Write the memories of the current batch."""
        records, self._unwritten = self._unwritten, {}
        self.save([subset(Memory, record) for record in records.values()])


class MemoryVersionTransfer(SqlMemoryVersionStore):
    """Former versions of one owner's memories."""

    def export(self) -> Iterator[MemoryVersionRecord]:
        cursor = {"memory_id": (0, b""), "version": (1, 0)}
        for row in read_rows(self._tx, "list_memory_version_seals", cursor):
            yield _memory_version_record(self.open_row(row))

    def import_(self, record: MemoryVersionRecord) -> bool:
        """Add a record. False if it exists already."""
        for stored in self.list(record.id):
            if stored.version == record.version:
                return check_unchanged(record, _memory_version_record(stored), record.id)
        memory = self._tx.one("get_memory", id=record.id.bytes)
        if memory is None:
            raise InputRefused(f"is a version of memory {record.id}, which is not before it")
        self.save(subset(Memory, record), record.replaced_at)
        return True


class MomentTransfer(SqlMomentStore):
    """Emotional moments of one owner."""

    def export(self) -> Iterator[MomentRecord]:
        for row in read_rows(self._tx, "list_moment_seals", BY_ID):
            yield _moment_record(self._open(row))

    def import_(self, record: MomentRecord) -> bool:
        """Add a record. False if it exists already. A memory has at most one moment."""
        row = self._tx.one("get_moment_export", id=record.id.bytes, memory_id=record.memory_id.bytes)
        if row:
            return check_unchanged(record, _moment_record(self._open(row)), record.id)
        memory = self._tx.one("get_memory", id=record.memory_id.bytes)
        if memory is None or memory[1] != record.persona_id:
            raise InputRefused(f"is a moment of memory {record.memory_id}, which this persona does not have")
        self.save(subset(EmotionalMoment, record))
        return True


class _ImportedSession:
    """The session that is being imported."""

    def __init__(self, record: SessionRecord, is_new: bool) -> None:
        self.record = record
        self.is_new = is_new
        self.moves = 0
        self.messages = record.removed_count
        self.unwritten: list[ChatMessage] = []
        self.labels: dict[str, tuple[str, ...]] = {}


def _waiting(first: int, last: int, memory_id: bytes | None) -> Waiting:
    return Waiting(first=first, last=last, memory_id=UUID(bytes=memory_id) if memory_id else None)


def _check_continues(record: SessionRecord, stored: Session) -> None:
    """Conflict unless the stored session is the exported one, perhaps with more messages."""
    same = (stored.persona_id, stored.started_at) == (record.persona_id, record.started_at)
    if not same or stored.log_length < record.message_count:
        raise _another_session(record.session_ref)


def _as_said(message: ChatMessage) -> ChatMessage:
    """The message without its mark: it may have been withdrawn since the export."""
    return message.model_copy(update={"withdrawn_at": None})


def _another_session(session_ref: str) -> Conflict:
    return Conflict(f"session '{session_ref}' exists already with other messages; import into another user")


def _memory_version_record(version: MemoryVersion) -> MemoryVersionRecord:
    return MemoryVersionRecord(kind="memoryVersion", **dict(version))


def _memory_record(memory: Memory) -> MemoryRecord:
    return MemoryRecord(kind="memory", **dict(memory))


def _moment_record(moment: EmotionalMoment) -> MomentRecord:
    return MomentRecord(kind="moment", **dict(moment))
