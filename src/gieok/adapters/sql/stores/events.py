"""The transactional outbox in SQL.

Events are made of the queries themselves: `EVENTS` says which query makes which event, and the transaction of
a write collects them and records them at its end. So a store cannot forget an event, and no event exists
without its change. A query that changes stored content is in `EVENTS` or in `SILENT`; a test compares both
with the .sql files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from gieok.adapters.sql.driver.database import Row, SystemTx, Tx, Value, from_micros, to_micros
from gieok.adapters.sql.stores.canon import RETIRED
from gieok.adapters.sql.stores.jobs import SqlJobStore
from gieok.memory.events.records import ConsumerState, DeadLetter, Event, EventCounts, EventDraft, EventKind
from gieok.memory.jobs.records import Job, JobDraft, JobOutcome
from gieok.refs import check_ref

Params = Mapping[str, Any]
Rule = Callable[[Params, Sequence[Row]], Iterable[EventDraft]]
"""The events of a query that has changed rows: of its parameters, and the rows that it returned."""

MAX_PENDING = 1_000
_DELIVERIES = UUID("2d0c0a5e-3f0b-4f6e-9a55-6f5a1f0a8a31")
_CHAINS: Mapping[str, EventKind] = {"decision": "decision.saved", "document": "document.saved"}


def _id(value: bytes | str) -> str:
    return value if isinstance(value, str) else str(UUID(bytes=value))


def _of(kind: EventKind, subject: str, **fields: str) -> Rule:
    """A rule that takes the subject and other fields from parameters of these names."""

    def rule(params: Params, _rows: Sequence[Row]) -> Iterable[EventDraft]:
        yield EventDraft(kind, _id(params[subject]), **{name: params[each] for name, each in fields.items()})

    return rule


def _withdrawn(params: Params, rows: Sequence[Row]) -> Iterable[EventDraft]:
    for (message_id,) in rows:
        yield EventDraft("message.withdrawn", message_id, session_ref=params["session_ref"])


def _archived(params: Params, _rows: Sequence[Row]) -> Iterable[EventDraft]:
    kind: EventKind = "memory.restored" if params["archived_at"] is None else "memory.archived"
    yield EventDraft(kind, _id(params["id"]), persona_id=params["persona_id"])


def _moved_fact(params: Params, _rows: Sequence[Row]) -> Iterable[EventDraft]:
    kind: EventKind = "fact.retired" if params["standing"] == RETIRED else "fact.set"
    root_id = _id(params["root_id"])
    yield EventDraft(kind, root_id, persona_id=params["persona_id"], version=params["version"])


def _chain_version(params: Params, _rows: Sequence[Row]) -> Iterable[EventDraft]:
    kind = _CHAINS.get(params["kind"])  # personas and facts have heads that say more
    if kind is not None:
        yield EventDraft(kind, _id(params["root_id"]), version=params["version"])


def _moved_persona(params: Params, _rows: Sequence[Row]) -> Iterable[EventDraft]:
    if params["version"] > 1:
        yield EventDraft("persona.updated", params["persona_id"], version=params["version"])


def _imported_session(params: Params, _rows: Sequence[Row]) -> Iterable[EventDraft]:
    if params["ended_at"] is not None:
        yield EventDraft("session.closed", params["session_ref"])


EVENTS: Mapping[str, Rule] = {
    "add_messages": _of(
        "message.stored", "id", session_ref="session_ref", persona_id="persona_id", seq="seq"
    ),
    "withdraw_messages": _withdrawn,
    "withdraw_message": _of("message.withdrawn", "id", session_ref="session_ref"),
    "start_session": _of("session.started", "session_ref", persona_id="persona_id"),
    "import_session": _of("session.started", "session_ref", persona_id="persona_id"),
    "end_session": _of("session.closed", "session_ref"),
    "finish_imported_session": _imported_session,
    "delete_first_messages": _of("session.trimmed", "session_ref", seq="last"),
    "remove_session": _of("session.deleted", "session_ref"),
    "add_memories": _of(
        "memory.created", "id", session_ref="session_ref", persona_id="persona_id", version="version"
    ),
    "replace_memory": _of("memory.updated", "id", persona_id="persona_id", version="version"),
    "set_memory_archived": _archived,
    "remove_memory": _of("memory.deleted", "id", persona_id="persona_id"),
    "move_fact": _moved_fact,
    "remove_fact": _of("fact.deleted", "root_id", persona_id="persona_id"),
    "add_chain_version": _chain_version,
    "add_relation": _of("decision.related", "id"),
    "remove_relation": _of("decision.unrelated", "id"),
    "add_persona": _of("persona.created", "persona_id"),
    "move_persona": _moved_persona,
    "remove_persona": _of("persona.deleted", "persona_id"),
    "remove_document_head": _of("document.deleted", "root_id"),
}

SILENT = frozenset(
    {
        # Counts, marks and index columns of a row whose event another query makes.
        *(
            "count_messages",
            "count_removed_messages",
            "count_withdrawn",
            "index_message",
            "index_fact",
            "add_fact",
        ),
        *(
            "mark_messages_queued",
            "mark_messages_summarized",
            "set_unremembered",
            "use_session",
            "move_session",
        ),
        *(
            "reindex_memory",
            "save_document_head",
            "set_document_expiry",
            "set_message_vector",
            "move_chain_head",
        ),
        *("retire_chain", "remove_chain_head", "remove_chain_versions", "remove_session_messages"),
        "import_removed_count",
        *("remove_text", "put_text_back", "set_archived_count"),
        # Repairs of `gieok check`, and rows sealed again under another key or with the source of an excerpt.
        *("repair_chains", "repair_persona_heads", "repair_message_counts", "set_fact_head"),
        *("replace_message_seal", "replace_memory_seal", "replace_chain_seal"),
        # Erasure: the consumers erase the owner themselves.
        *("erase_messages", "erase_sessions", "erase_memories", "erase_chain_heads", "erase_chain_versions"),
        *("erase_persona_heads", "erase_fact_heads", "erase_document_heads", "erase_decision_relations"),
    }
)
"""Queries that change the tables of events' subjects and make no event."""


class EventCollector:
    """Collects the events of one write. Give it to `Tx.watch`."""

    def __init__(self) -> None:
        self.drafts: list[EventDraft] = []

    def __call__(self, query: str, params: Params, rows: Sequence[Row]) -> None:
        rule = EVENTS.get(query)
        if rule is not None:
            self.drafts.extend(rule(params, rows))


class SqlEventStore:
    """Events of one owner inside one transaction. They hold no content, so nothing is sealed."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def record(self, drafts: Sequence[EventDraft], consumers: Sequence[str], at: datetime) -> None:
        """Store events and queue their delivery. The last thing that a transaction does."""
        row = self._tx.one("take_event_numbers", count=len(drafts))
        assert row is not None  # noqa: S101  an owner with a consumer has a head
        first, time = row[0] - len(drafts) + 1, to_micros(at)
        self._tx.run_many(
            "add_events",
            [{**each._asdict(), "number": number, "at": time} for number, each in enumerate(drafts, first)],
        )
        for consumer in consumers:
            self._queue(consumer, at)

    def queue_deliveries(self, at: datetime) -> int:
        """Queue the delivery of events for which no job is queued. Returns for how many consumers."""
        self._tx.one("lock_event_head")
        waiting = [each.name for each in self.consumers() if self.pending(each.name, 1)]
        for consumer in waiting:
            self._queue(consumer, at)
        return len(waiting)

    def register(self, consumer: str, at: datetime, *, needs_backfill: bool) -> bool:
        self._tx.one("lock_owner_alone")
        return self.add(consumer, at, needs_backfill=needs_backfill)

    def add(self, consumer: str, at: datetime, *, needs_backfill: bool) -> bool:
        """As `register`, for an owner that this transaction has created or locked."""
        check_ref(consumer, "consumer")
        self._tx.run("add_event_head")
        if not self._tx.run(
            "add_event_consumer",
            consumer=consumer,
            is_backfilled=int(not needs_backfill),
            created_at=to_micros(at),
        ):
            return False
        self._save_names()
        if needs_backfill:
            self._queue(consumer, at)
        return True

    def unregister(self, consumer: str) -> bool:
        self._tx.one("lock_owner_alone")
        self._tx.one("lock_event_head")
        if not self._tx.run("remove_event_consumer", consumer=consumer):
            return False
        self._tx.run("remove_dead_letters", consumer=consumer)
        self._tx.run("remove_delivery_job", consumer=consumer)
        self._tx.run("delete_delivered_events")
        self._save_names()
        return True

    def consumers(self) -> list[ConsumerState]:
        return [
            ConsumerState(name=name, position=position, is_backfilled=bool(is_backfilled), cursor=cursor)
            for name, position, is_backfilled, cursor in self._tx.all("list_event_consumers")
        ]

    def pending(self, consumer: str, limit: int) -> list[Event]:
        return [_event(row) for row in self._tx.all("list_pending_events", consumer=consumer, limit=limit)]

    def retried(self, consumer: str, limit: int) -> list[DeadLetter]:
        """Dead letters of a consumer that wait for another attempt, in order."""
        return [_letter(row) for row in self._tx.all("list_retried_letters", consumer=consumer, limit=limit)]

    def dead_letters(self, *, consumer: str | None, after: tuple[str, int], limit: int) -> list[DeadLetter]:
        if consumer is None:
            name, number = after
            rows = self._tx.all("list_dead_letters", consumer=name, number=number, limit=limit)
        else:
            rows = self._tx.all("list_dead_letters_of", consumer=consumer, number=after[1], limit=limit)
        return [_letter(row) for row in rows]

    def retry(self, consumer: str, number: int | None, at: datetime) -> int:
        if number is None:
            changed = self._tx.run("retry_dead_letters", consumer=consumer)
        else:
            changed = self._tx.run("retry_dead_letter", consumer=consumer, number=number)
        if changed:
            self._queue(consumer, at)
        return changed

    def delete_old_letters(self, before: datetime, limit: int) -> int:
        """Delete dead letters that failed before a time. Returns how many."""
        return self._tx.run("delete_old_dead_letters", before=to_micros(before), limit=limit)

    def advance(self, job: Job, position: int) -> None:
        """Move the consumer of a delivery job to a position, and delete events that nobody needs any more.
        Settle the job in the same transaction, after this."""
        self._tx.one("lock_event_head")
        self._tx.run("move_event_consumer", consumer=job.subject, position=position)
        self._tx.run("delete_delivered_events")

    def save_dead_letter(self, consumer: str, event: Event, attempts: int, error: str, at: datetime) -> None:
        """Add an event that could not be delivered, or its next failure."""
        columns = event.model_dump()
        self._tx.run(
            "save_dead_letter",
            **{**columns, "at": to_micros(event.at)},
            consumer=consumer,
            attempts=attempts,
            error=error,
            failed_at=to_micros(at),
        )

    def remove_dead_letter(self, consumer: str, number: int) -> None:
        self._tx.run("remove_dead_letter", consumer=consumer, number=number)

    def set_backfilled(self, consumer: str, cursor: str | None) -> None:
        """Save where the backfill of a consumer continues; None if it is finished."""
        self._tx.run("save_backfill", consumer=consumer, cursor=cursor, is_backfilled=int(cursor is None))

    def settle(self, job: Job, outcome: JobOutcome, now: datetime) -> None:
        """Settle a delivery job. Instead of being done it is queued again if there is more to deliver.

        The head is locked, so that no writer commits an event between this look and the commit.
        """
        self._tx.one("lock_event_head")
        if outcome.status == "done" and (self.pending(job.subject, 1) or self.retried(job.subject, 1)):
            outcome = JobOutcome(status="queued", due_at=now)
        SqlJobStore(self._tx).settle(job, outcome)

    def _save_names(self) -> None:
        names = " ".join(each.name for each in self.consumers())
        self._tx.run("set_owner_consumers", consumers=names)

    def _queue(self, consumer: str, at: datetime) -> None:
        job_id = uuid5(_DELIVERIES, consumer)
        SqlJobStore(self._tx).requeue(JobDraft(id=job_id, kind="deliver", subject=consumer, due_at=at), at)


def owners_without(consumer: str, after: str, limit: int) -> Callable[[SystemTx], list[str]]:
    """Reads the next owners for whom a consumer is not registered."""

    def read(tx: SystemTx) -> list[str]:
        tx.all("open_owners")
        page: dict[str, Value] = {"after": after, "consumer": consumer, "limit": limit}
        return [owner for (owner,) in tx.all("list_owners_without_consumer", **page)]

    return read


def owners_without_delivery(limit: int) -> Callable[[SystemTx], list[str]]:
    """Reads owners with events and without a delivery job: the process that stored them has died."""
    return lambda tx: [owner for (owner,) in tx.all("list_owners_without_delivery", limit=limit)]


def count_all(tx: SystemTx) -> EventCounts:
    """The outbox of all owners in figures."""
    ((events, oldest_at),) = tx.all("count_events")
    return EventCounts(
        consumers=tx.all("count_event_consumers")[0][0],
        events=events,
        oldest_at=None if oldest_at is None else from_micros(oldest_at),
        dead_letters=tx.all("count_dead_letters")[0][0],
    )


def _event(row: Row) -> Event:
    number, kind, subject, session_ref, persona_id, seq, version, at = row
    return Event(
        number=number,
        kind=kind,
        subject=subject,
        session_ref=session_ref,
        persona_id=persona_id,
        seq=seq,
        version=version,
        at=from_micros(at),
    )


def _letter(row: Row) -> DeadLetter:
    consumer, attempts, error, failed_at, is_retried = row[8:]
    return DeadLetter(
        consumer=consumer,
        event=_event(row[:8]),
        attempts=attempts,
        error=error,
        failed_at=from_micros(failed_at),
        is_retried=bool(is_retried),
    )
