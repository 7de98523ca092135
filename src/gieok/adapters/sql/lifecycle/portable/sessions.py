"""Sessions with their plan moves, messages and waiting summaries, out and in."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID, uuid5

from gieok.adapters.sql.driver.clock import to_micros
from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.lifecycle.portable.carrying import PAGE, part, walk
from gieok.adapters.sql.lifecycle.portable.records import MessageRecord, MoveRecord, SessionRecord, Waiting
from gieok.adapters.sql.stores.jobs import SqlJobStore
from gieok.adapters.sql.stores.messages import SqlMessageStore
from gieok.adapters.sql.stores.sessions import SqlSessionStore
from gieok.errors import Conflict, InputRefused, StoreDamaged
from gieok.memory.jobs.records import JobDraft, JobKind
from gieok.memory.sessions.records import ChatMessage, MessageRange, PlanMove, Session
from gieok.memory.sessions.rules import watch_id
from gieok.vault import OwnerKeys

_SUMMARIES = UUID("2f6f6a4e-52a5-4d0c-8c58-3f6f3cf9b0a1")


class SessionCarrier:
    """Sessions of one owner, out and in. What belongs to a session follows it at once."""

    def __init__(self, tx: Tx, keys: OwnerKeys, now: datetime) -> None:
        self._tx = tx
        self._sessions = SqlSessionStore(tx)
        self._messages = SqlMessageStore(tx, keys)
        self._jobs = SqlJobStore(tx)
        self._now = now
        self._arriving: _Arrival | None = None

    def out(self) -> Iterator[SessionRecord | MoveRecord | MessageRecord]:
        for (session_ref,) in walk(self._tx, "list_session_refs", {"session_ref": (0, "")}):
            session = self._sessions.get(session_ref)
            if session is not None:
                yield from self._all_of(session)

    def _all_of(self, session: Session) -> Iterator[SessionRecord | MoveRecord | MessageRecord]:
        session_ref = session.session_ref
        yield self._record(session)
        for number, move in enumerate(self._sessions.moves(session_ref), start=1):
            yield MoveRecord(kind="planMove", session_ref=session_ref, number=number, **dict(move))
        for first in range(1, session.message_count + 1, PAGE):
            span = MessageRange(first=first, last=min(first + PAGE - 1, session.message_count))
            messages = self._messages.between(session_ref, span)
            if len(messages) != span.last - first + 1:
                raise StoreDamaged(f"messages of session '{session_ref}' are missing; restore a backup")
            for seq, message in enumerate(messages, start=first):
                yield MessageRecord(kind="message", session_ref=session_ref, seq=seq, **dict(message))

    def bring(self, record: SessionRecord) -> bool:
        """Whether it is new. One that is there may have gone on since, and stays as it is."""
        self.finish()
        is_new = bool(
            self._tx.run(
                "import_session",
                session_ref=record.session_ref,
                persona_id=record.persona_id,
                account_plan=record.account_plan,
                plan_hash=record.last_execution_plan_hash,
                started_at=to_micros(record.started_at),
                last_activity_at=to_micros(record.started_at),
            )
        )
        if not is_new:
            _check_goes_on(record, self._sessions.hold(record.session_ref))
        self._arriving = _Arrival(record, is_new)
        return is_new

    def bring_move(self, record: MoveRecord) -> bool:
        """Whether it is new, as its session is."""
        arriving = self._of(record.session_ref)
        arriving.moves += 1
        if record.number != arriving.moves:
            raise InputRefused(f"is move {record.number}, and {arriving.moves} is the next one")
        if not arriving.is_new:
            move = part(PlanMove, record)
            if move not in self._sessions.moves(record.session_ref):
                raise _another(record.session_ref)
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

    def bring_message(self, record: MessageRecord) -> bool:
        """Whether it is new, as its session is. Messages are written some at a time."""
        arriving = self._of(record.session_ref)
        arriving.messages += 1
        if record.seq != arriving.messages:
            raise InputRefused(f"is message {record.seq}, and {arriving.messages} is the next one")
        arriving.unwritten.append(part(ChatMessage, record))
        if len(arriving.unwritten) == PAGE:
            self._write(arriving)
        return arriving.is_new

    def finish(self) -> None:
        """Nothing more of the session comes: it gets its counts, its end, and the work that waits for it."""
        arriving, self._arriving = self._arriving, None
        if arriving is None:
            return
        self._write(arriving)
        record = arriving.record
        if arriving.messages != record.message_count:
            raise InputRefused(
                f"session '{record.session_ref}' has {record.message_count} messages, "
                f"and {arriving.messages} came with it"
            )
        if arriving.is_new:
            self._tx.run(
                "finish_imported_session",
                session_ref=record.session_ref,
                last_activity_at=to_micros(record.last_activity_at),
                ended_at=None if record.ended_at is None else to_micros(record.ended_at),
                claimed_count=record.claimed_count,
                summarized_count=record.summarized_count,
            )
            self._queue(record)

    def _write(self, arriving: _Arrival) -> None:
        messages, arriving.unwritten = arriving.unwritten, []
        if not messages:
            return
        session_ref = arriving.record.session_ref
        if arriving.is_new:
            added = self._messages.append(session_ref, messages, arriving.record.started_at, None).added
            if added != len(messages):
                raise InputRefused(f"session '{session_ref}' has two messages of one id")
            return
        first = arriving.messages - len(messages) + 1
        span = MessageRange(first=first, last=arriving.messages)
        if self._messages.between(session_ref, span) != messages:
            raise _another(session_ref)

    def _queue(self, record: SessionRecord) -> None:
        """What a worker would have done where the session came from, it does here."""
        for span in record.waiting:
            job_id = uuid5(_SUMMARIES, f"{record.session_ref} {span.first} {span.last}")
            self._add(job_id, "summary", record.session_ref, span)
            if span.memory_id is not None:
                self._tx.run("link_job_to_memory", id=job_id.bytes, memory_id=span.memory_id.bytes)
        if record.ended_at is None and record.persona_id is not None:
            self._add(watch_id(record.session_ref), "watch", record.session_ref, None)

    def _add(self, job_id: UUID, kind: JobKind, session_ref: str, span: Waiting | None) -> None:
        first, last = (span.first, span.last) if span else (0, 0)
        self._jobs.add(
            JobDraft(
                id=job_id,
                kind=kind,
                session_ref=session_ref,
                first_seq=first,
                last_seq=last,
                due_at=self._now,
            ),
            self._now,
        )

    def _of(self, session_ref: str) -> _Arrival:
        if self._arriving is None or self._arriving.record.session_ref != session_ref:
            raise InputRefused(f"belongs to session '{session_ref}', which does not stand right before it")
        return self._arriving

    def _record(self, session: Session) -> SessionRecord:
        rows = self._tx.all("list_waiting_summaries", session_ref=session.session_ref)
        return SessionRecord(
            kind="session",
            session_ref=session.session_ref,
            persona_id=session.persona_id,
            account_plan=session.account_plan,
            last_execution_plan_hash=session.last_execution_plan_hash,
            started_at=session.started_at,
            last_activity_at=session.last_activity_at,
            ended_at=session.ended_at,
            message_count=session.message_count,
            claimed_count=session.claimed_count,
            waiting=tuple(_waiting(*row) for row in rows),
        )


class _Arrival:
    """A session of which more may come."""

    def __init__(self, record: SessionRecord, is_new: bool) -> None:
        self.record = record
        self.is_new = is_new
        self.moves = 0
        self.messages = 0
        self.unwritten: list[ChatMessage] = []


def _waiting(first: int, last: int, memory_id: bytes | None) -> Waiting:
    return Waiting(first=first, last=last, memory_id=UUID(bytes=memory_id) if memory_id else None)


def _check_goes_on(record: SessionRecord, stored: Session) -> None:
    same = (stored.persona_id, stored.started_at) == (record.persona_id, record.started_at)
    if not same or stored.message_count < record.message_count:
        raise _another(record.session_ref)


def _another(session_ref: str) -> Conflict:
    return Conflict(
        f"session '{session_ref}' is there already and another one, or has gone another way; "
        "import into another user"
    )
