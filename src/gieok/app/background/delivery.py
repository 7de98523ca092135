"""Delivers events to their consumers: at least once, in order per owner.

One job per owner and consumer. It reads events after the consumer's position, gives them to the consumer, and
commits the new position together with the job: a worker that dies in between delivers them again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from gieok.adapters.sql.scope import OwnerScope, SqlView
from gieok.errors import DeliveryFailed, GieokError, OwnerErased, cause_of
from gieok.memory.events.records import ConsumerState, DeadLetter, Event
from gieok.memory.events.rules import retry_wait
from gieok.memory.events.store import EventConsumer
from gieok.memory.jobs.records import ClaimedJob, Job, JobOutcome

if TYPE_CHECKING:
    from gieok.app import Gieok

_log = logging.getLogger(__name__)

DELIVERY_SECONDS = 240.0
"""How long a consumer may take for a batch: less than the lease of the job."""
UNKNOWN_CONSUMER_WAIT = timedelta(minutes=1)
"""When a process that is not configured for a consumer leaves its job to another one."""


class _Found(NamedTuple):
    state: ConsumerState | None
    retried: Sequence[DeadLetter]
    pending: Sequence[Event]


@dataclass(frozen=True)
class _Result:
    """How a delivery ended: how many events were taken, and the error code of the next one."""

    delivered: int
    error: str | None = None
    is_final: bool = False


async def deliver_events(gieok: Gieok, claimed: ClaimedJob) -> None:
    """Run one batch of a delivery job."""
    scope, consumer = gieok.scope(claimed.owner), gieok.consumer(claimed.job.subject)
    if consumer is None:
        await scope.write(_leave_to_others(claimed.job, gieok.engine.clock()))
        return
    try:
        await _run_batch(gieok, scope, consumer, claimed)
    except GieokError as error:
        if isinstance(cause_of(error), OwnerErased):
            await _erase_again(consumer, claimed.owner)
        raise


async def _erase_again(consumer: EventConsumer, owner: str) -> None:
    """The consumer may have taken events after it has erased the owner."""
    try:
        await consumer.erase(owner)
    except Exception as error:  # noqa: BLE001  a consumer may be anybody's code
        _log.warning("consumer %s could not erase an owner: %s", consumer.name, type(error).__name__)


async def _run_batch(gieok: Gieok, scope: OwnerScope, consumer: EventConsumer, claimed: ClaimedJob) -> None:
    job = claimed.job

    def find(view: SqlView) -> _Found:
        state = next((each for each in view.events.consumers() if each.name == job.subject), None)
        retried = view.events.retried(job.subject, 1)
        return _Found(state, retried, view.events.pending(job.subject, consumer.batch))

    found = await scope.read(find)
    if found.state is None:
        await scope.write(lambda view: view.jobs.settle(job, JobOutcome(status="done")))
    elif not found.state.is_backfilled:
        cursor, result = await _backfill(consumer, claimed.owner, found.state.cursor)
        await scope.write(
            lambda view: _save_cursor(view, consumer, job, cursor, result, gieok.engine.clock())
        )
    elif found.retried:
        letter = found.retried[0]
        result = await _deliver(consumer, claimed.owner, [letter.event])
        await scope.write(lambda view: _save_retry(view, job, letter, result, gieok.engine.clock()))
    else:
        result = await _deliver(consumer, claimed.owner, found.pending)
        await scope.write(
            lambda view: _save_position(view, consumer, job, found.pending, result, gieok.engine.clock())
        )


async def _backfill(consumer: EventConsumer, owner: str, cursor: str | None) -> tuple[str | None, _Result]:
    """Let a consumer take a batch of what is older than its events. Returns the next cursor."""

    async def backfill() -> None:
        nonlocal cursor
        cursor = await consumer.backfill(owner, cursor)

    result = await _attempt(consumer, backfill(), 1)
    return cursor, result


async def _deliver(consumer: EventConsumer, owner: str, events: Sequence[Event]) -> _Result:
    """Give events to a consumer."""
    if not events:
        return _Result(0)
    return await _attempt(consumer, consumer.deliver(owner, events), len(events))


async def _attempt(consumer: EventConsumer, work: Awaitable[None], events: int) -> _Result:
    """Wait for a consumer. Whatever it raises is a failed delivery, never a failed worker."""
    try:
        async with asyncio.timeout(DELIVERY_SECONDS):
            await work
    except DeliveryFailed as error:
        return _Result(min(error.delivered, events - 1), error.reason, error.is_final)
    except GieokError as error:
        if isinstance(cause_of(error), OwnerErased):
            raise
        return _Result(0, error.code)
    except Exception as error:  # noqa: BLE001  a consumer may be anybody's code
        _log.warning("consumer %s failed with %s", consumer.name, type(error).__name__)
        return _Result(0, DeliveryFailed.code)
    return _Result(events)


def _leave_to_others(job: Job, now: datetime) -> Callable[[SqlView], None]:
    def leave(view: SqlView) -> None:
        untried = job.model_copy(update={"attempts": job.attempts - 1})
        outcome = JobOutcome(status="queued", due_at=now + UNKNOWN_CONSUMER_WAIT, error="NOT_CONFIGURED")
        view.jobs.settle(untried, outcome)

    return leave


def _save_cursor(
    view: SqlView,
    consumer: EventConsumer,
    job: Job,
    cursor: str | None,
    result: _Result,
    now: datetime,
) -> None:
    outcome = JobOutcome(status="done") if cursor is None else JobOutcome(status="queued", due_at=now)
    if result.error is None:
        view.events.set_backfilled(job.subject, cursor)
    else:
        waits = consumer.retry_seconds
        wait = timedelta(seconds=waits[min(job.attempts, len(waits)) - 1])
        outcome = JobOutcome(status="queued", due_at=now + wait, error=result.error)
    view.events.settle(job, outcome, now)


def _save_retry(view: SqlView, job: Job, letter: DeadLetter, result: _Result, now: datetime) -> None:
    """A dead letter gets one attempt each time that it is retried."""
    if result.error is None:
        view.events.remove_dead_letter(job.subject, letter.event.number)
    else:
        view.events.save_dead_letter(job.subject, letter.event, letter.attempts + 1, result.error, now)
    view.events.settle(job, JobOutcome(status="done"), now)


def _save_position(
    view: SqlView,
    consumer: EventConsumer,
    job: Job,
    events: Sequence[Event],
    result: _Result,
    now: datetime,
) -> None:
    """Move the consumer behind what it has taken, and behind an event that is given up."""
    done, outcome = result.delivered, JobOutcome(status="done")
    if result.error is not None:
        attempts = 1 if done else job.attempts
        failed = events[done]
        wait = None
        if not result.is_final:
            wait = retry_wait(
                failed,
                attempts,
                now=now,
                retry_seconds=consumer.retry_seconds,
                gives_up=consumer.gives_up,
            )
        if wait is None:
            _log.warning("event %d is a dead letter of %s: %s", failed.number, job.subject, result.error)
            view.events.save_dead_letter(job.subject, failed, attempts, result.error, now)
            done += 1
        else:
            job = job.model_copy(update={"attempts": attempts})
            outcome = JobOutcome(status="queued", due_at=now + wait, error=result.error)
    if done:
        view.events.advance(job, events[done - 1].number)
    view.events.settle(job, outcome, now)
