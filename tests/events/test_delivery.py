"""Delivery: at least once, in order per owner, with retries and dead letters."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from gieok import Gieok, Settings
from gieok.adapters.sql.stores.events import SqlEventStore
from gieok.app.background.jobs import LEASE
from gieok.app.background.worker import Worker
from gieok.errors import OwnerErased, StoreUnavailable
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.events.records import DeadLetter
from gieok.testing.clock import Clock
from tests.behind import Behind
from tests.events.consumers import Listener, work

OWNER = "mina"
PERSONA = PersonaDraft(name="하나", language="ko", system_prompt="너는 하나야.")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def quiet(settings: Settings, clock: Clock) -> AsyncIterator[Gieok]:
    """Gieok without background work: the test runs the worker."""
    async with await Gieok.open(settings, clock=clock, background=False) as opened:
        yield opened


async def store(gieok: Gieok, *names: str, owner: str = OWNER) -> None:
    """Store one event for each name."""
    for name in names:
        await gieok.user(owner).personas.create(PERSONA, persona_id=name)


async def letters(gieok: Gieok, owner: str = OWNER) -> list[DeadLetter]:
    scope = gieok.scope(owner)
    return list(
        await scope.read(lambda view: view.events.dead_letters(consumer=None, after=("", 0), limit=99))
    )


async def test_events_are_delivered_in_order_and_then_deleted(quiet: Gieok, behind: Behind) -> None:
    quiet.add_consumer(listener := Listener())
    await store(quiet, "a", "b", "c", "d", "e")
    await store(quiet, "x", owner="jiyoung")
    await work(quiet)
    assert [event.subject for owner, event in listener.taken if owner == OWNER] == ["a", "b", "c", "d", "e"]
    assert listener.numbers("jiyoung") == [1]
    assert behind.count("events") == 0
    await store(quiet, "f")
    await work(quiet)
    assert listener.numbers(OWNER) == [1, 2, 3, 4, 5, 6]


async def test_the_background_worker_is_woken_at_once(settings: Settings) -> None:
    async with await Gieok.open(settings, background=True) as gieok:
        gieok.add_consumer(listener := Listener())
        await store(gieok, "a")
        await listener.wait_for(1)


async def test_a_failed_delivery_is_retried_with_a_backoff(quiet: Gieok, clock: Clock) -> None:
    quiet.add_consumer(listener := Listener())
    listener.failing = 4
    await store(quiet, "a", "b")
    for wait in (0, 5, 30, 30):
        clock.advance(seconds=wait - 1)
        await work(quiet)
        assert listener.taken == []
        clock.advance(seconds=1)
        await work(quiet)
    clock.advance(seconds=30)
    await work(quiet)
    assert listener.numbers(OWNER) == [1, 2]
    assert await letters(quiet) == []


async def test_after_the_last_attempt_an_event_is_a_dead_letter_and_the_next_ones_continue(
    quiet: Gieok, clock: Clock
) -> None:
    quiet.add_consumer(listener := Listener(gives_up=True))
    listener.failing = 3
    await store(quiet, "a", "b")
    for wait in (0, 5, 30):
        clock.advance(seconds=wait)
        await work(quiet)
    assert listener.numbers(OWNER) == [2]
    (letter,) = await letters(quiet)
    assert (letter.event.number, letter.attempts, letter.error) == (1, 3, "DELIVERY_FAILED")


async def test_a_refused_event_is_a_dead_letter_at_once(quiet: Gieok) -> None:
    quiet.add_consumer(listener := Listener())
    listener.refused = {2}
    await store(quiet, "a", "b", "c", "d")
    await work(quiet)
    assert listener.numbers(OWNER) == [1, 3, 4]
    assert [letter.event.subject for letter in await letters(quiet)] == ["b"]


async def test_a_dead_letter_is_retried_on_request(quiet: Gieok) -> None:
    quiet.add_consumer(listener := Listener())
    listener.refused = {1}
    await store(quiet, "a", "b")
    await work(quiet)
    scope, now = quiet.scope(OWNER), quiet.engine.clock()
    assert await scope.write(lambda view: view.events.retry("listener", 9, now)) == 0
    assert await scope.write(lambda view: view.events.retry("listener", 1, now)) == 1
    await work(quiet)
    (letter,) = await letters(quiet)
    assert (letter.attempts, letter.is_retried) == (2, False)
    listener.refused = set()
    assert await scope.write(lambda view: view.events.retry("listener", None, now)) == 1
    await work(quiet)
    assert listener.numbers(OWNER) == [2, 1]
    assert await letters(quiet) == []


async def test_an_event_that_waits_for_days_gets_one_attempt(quiet: Gieok, clock: Clock) -> None:
    quiet.add_consumer(listener := Listener(gives_up=True))
    listener.failing = 2
    await store(quiet, "a", "b", "c")
    clock.advance(days=4)
    await work(quiet)
    assert listener.numbers(OWNER) == [3]
    assert [letter.attempts for letter in await letters(quiet)] == [1, 1]


async def test_a_consumer_that_is_added_later_is_backfilled_first(quiet: Gieok, clock: Clock) -> None:
    await store(quiet, "a", "b")
    quiet.add_consumer(listener := Listener())
    await work(quiet)
    assert listener.backfilled == [(OWNER, None), (OWNER, "1"), (OWNER, "2")]
    assert listener.taken == []
    await store(quiet, "c")
    await work(quiet)
    assert [event.subject for _, event in listener.taken] == ["c"]


async def test_a_worker_that_dies_before_the_commit_delivers_again(
    quiet: Gieok, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet.add_consumer(listener := Listener())
    await store(quiet, "a", "b")
    with monkeypatch.context() as patch:
        patch.setattr(SqlEventStore, "settle", _die)
        with pytest.raises(ExceptionGroup):
            await Worker(quiet).run_once(clock())
    clock.now += LEASE + timedelta(seconds=1)
    await work(quiet)
    assert listener.numbers(OWNER) == [1, 2, 1, 2]


def _die(*_: object) -> None:
    raise SystemError("killed")


async def test_a_worker_that_lost_its_lease_moves_nothing(quiet: Gieok, clock: Clock) -> None:
    """The second worker takes the events over; the first one's result is dropped."""

    class Slow(Listener):
        async def deliver(self, owner: str, events: object) -> None:
            await super().deliver(owner, events)  # pyright: ignore[reportArgumentType]
            if len(self.taken) == 1:
                clock.now += LEASE + timedelta(seconds=1)
                await Worker(quiet).run_once(clock())
                await store(quiet, "late")

    quiet.add_consumer(listener := Slow())
    await store(quiet, "a")
    await work(quiet)
    assert listener.numbers(OWNER) == [1, 1, 2]


async def test_an_event_that_is_committed_during_a_delivery_is_delivered(quiet: Gieok) -> None:
    """Its writer finds the job running; the worker looks again before it settles it."""

    class Busy(Listener):
        async def deliver(self, owner: str, events: object) -> None:
            await super().deliver(owner, events)  # pyright: ignore[reportArgumentType]
            if len(self.taken) == 1:
                await store(quiet, "b")

    quiet.add_consumer(listener := Busy())
    await store(quiet, "a")
    await work(quiet)
    assert listener.numbers(OWNER) == [1, 2]


async def test_two_workers_and_many_writers_keep_the_order(settings: Settings) -> None:
    listener = Listener()
    async with (
        await Gieok.open(settings, background=False) as first,
        await Gieok.open(settings, background=False) as second,
    ):
        for each in (first, second):
            each.add_consumer(listener)
        stop = asyncio.Event()
        workers = [asyncio.create_task(Worker(each, idle_seconds=0.01).run(stop)) for each in (first, second)]
        await store(first, "first")
        await asyncio.gather(*(store(each, f"{n}-{id(each)}") for n in range(20) for each in (first, second)))
        await listener.wait_for(41)
        stop.set()
        await asyncio.gather(*workers)
    assert listener.numbers(OWNER) == list(range(1, 42))


async def test_a_removed_consumer_takes_its_events_with_it(quiet: Gieok, behind: Behind) -> None:
    quiet.add_consumer(Listener())
    await store(quiet, "a")
    scope = quiet.scope(OWNER)
    assert await scope.write(lambda view: view.events.unregister("listener"))
    assert not await scope.write(lambda view: view.events.unregister("listener"))
    await store(quiet, "b")
    assert behind.count("events") == behind.count("event_consumers") == 0
    assert behind.run("SELECT count(*) FROM jobs WHERE kind = 'deliver'") == [(0,)]


async def test_another_process_leaves_the_job_of_a_consumer_that_it_does_not_have(
    settings: Settings, clock: Clock
) -> None:
    async with await Gieok.open(settings, clock=clock, background=False) as gieok:
        gieok.add_consumer(Listener())
        await store(gieok, "a")
    async with await Gieok.open(settings, clock=clock, background=False) as other:
        await store(other, "b")
        await work(other)
    clock.advance(minutes=2)
    async with await Gieok.open(settings, clock=clock, background=False) as gieok:
        gieok.add_consumer(listener := Listener())
        await work(gieok)
        assert listener.numbers(OWNER) == [1, 2]


async def test_erasure_reaches_the_consumer_and_deletes_the_events(quiet: Gieok, behind: Behind) -> None:
    quiet.add_consumer(listener := Listener(gives_up=True))
    listener.refused = {1}
    await store(quiet, "a", "b")
    await work(quiet)
    await store(quiet, "c")
    await quiet.user(OWNER).data.erase()
    assert listener.erased == [OWNER]
    for table in ("events", "event_heads", "event_consumers", "dead_letters"):
        assert behind.count(table) == 0


async def test_an_erasure_is_not_finished_before_the_consumer_has_erased(
    settings: Settings, behind: Behind, clock: Clock
) -> None:
    async with await Gieok.open(settings, background=False) as gieok:
        gieok.add_consumer(Listener())
        await store(gieok, "a")
    async with await Gieok.open(settings, background=False) as other:
        with pytest.raises(StoreUnavailable, match="listener"):
            await other.user(OWNER).data.erase()
        with pytest.raises(OwnerErased):
            await other.user(OWNER).personas.list()
    async with await Gieok.open(settings, background=False) as gieok:
        gieok.add_consumer(listener := Listener())
        worker = Worker(gieok, erasures_seconds=0.0)
        async with asyncio.timeout(20):
            while not listener.erased:
                await worker.run_once(gieok.engine.clock())
        assert gieok.vault.unfinished_erasures() == []
    assert behind.count("owners") == 0


async def test_a_delivery_that_an_erasure_overtakes_is_erased_again(quiet: Gieok) -> None:
    class Racing(Listener):
        async def deliver(self, owner: str, events: object) -> None:
            await quiet.user(owner).data.erase()
            await super().deliver(owner, events)  # pyright: ignore[reportArgumentType]

    quiet.add_consumer(listener := Racing())
    await store(quiet, "a")
    await work(quiet)
    assert listener.erased == [OWNER, OWNER]


async def test_counts_for_operators(quiet: Gieok, clock: Clock) -> None:
    quiet.add_consumer(listener := Listener())
    listener.refused = {1}
    await store(quiet, "a")
    await work(quiet)
    await store(quiet, "b")
    counts = await quiet.event_counts()
    assert (counts.consumers, counts.events, counts.dead_letters) == (1, 1, 1)
    assert counts.oldest_at == clock()


async def test_events_without_a_job_are_found(quiet: Gieok, behind: Behind) -> None:
    """Heavy work on SQLite that was killed between its commit and the queueing of the delivery."""
    quiet.add_consumer(listener := Listener())
    await store(quiet, "a")
    behind.run("DELETE FROM jobs WHERE kind = 'deliver'")
    await work(quiet)
    assert listener.numbers(OWNER) == [1]
