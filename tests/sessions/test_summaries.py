"""When summaries are made, and that each message is summarised exactly once."""

from __future__ import annotations

import asyncio
from uuid import UUID

import pytest

from gieok import Gieok, Settings
from gieok.adapters.sql.scope import OwnerScope
from gieok.app.background.jobs import LEASE
from gieok.app.background.worker import Worker
from gieok.errors import SummaryFailed
from gieok.memory.companion.records import Notice
from gieok.memory.jobs.records import Job, JobOutcome
from gieok.testing.clock import Clock
from gieok.testing.contracts.sessions import message
from tests.behind import Behind
from tests.sessions.conversation import MoodyModel, begin, memories, said, talk, work


def contents(first: int, last: int) -> tuple[str, ...]:
    return tuple(each.content for each in said(first, last))


@pytest.fixture
async def session(gieok: Gieok) -> str:
    return await begin(gieok.user("minsu"))


@pytest.mark.req("COMP-1")
async def test_twenty_messages_make_a_summary(
    gieok: Gieok, worker: Worker, clock: Clock, model: MoodyModel, session: str
) -> None:
    user = gieok.user("minsu")
    await talk(user, 1, 19)
    await work(worker, clock)
    assert model.summarized == []
    await talk(user, 20, 25)
    await work(worker, clock)
    assert model.summarized == [contents(1, 20)]
    (memory,) = await memories(gieok)
    assert (memory.session_ref, memory.persona_id, memory.origin) == (session, "hana", "summary")
    assert memory.occurred_at == said(20, 20)[0].timestamp


@pytest.mark.req("COMP-1", "SESS-2", "COMP-10")
async def test_closing_summarises_the_rest_and_clears_the_window(
    gieok: Gieok, worker: Worker, clock: Clock, model: MoodyModel, session: str
) -> None:
    """The rest of the window is there until its summary is, and the raw log stays for good."""
    user = gieok.user("minsu")
    await talk(user, 1, 23)
    await work(worker, clock)
    await user.sessions.close(session)
    assert len((await user.sessions.get(session)).messages) == 4
    await work(worker, clock)
    assert model.summarized == [contents(1, 20), contents(21, 23)]
    assert (await user.sessions.get(session)).messages == ()
    assert list(await user.sessions.log(session)) == said(1, 23)
    assert len(await memories(gieok)) == 2


@pytest.mark.req("COMP-1")
async def test_closing_can_wait_for_the_memory(gieok: Gieok, model: MoodyModel, session: str) -> None:
    user = gieok.user("minsu")
    await talk(user, 1, 3)
    closed = await user.sessions.close(session, wait=True)
    (memory,) = await memories(gieok)
    assert (closed.memory_id, closed.is_excerpt) == (memory.id, False)
    assert (await user.sessions.close(session, wait=True)).memory_id is None
    assert model.summarized == [contents(1, 3)]


@pytest.mark.req("COMP-5", "COMP-4")
async def test_closing_returns_a_notice_about_an_archived_memory(gieok: Gieok) -> None:
    """The sixth memory of a free account; the account is known to the session."""
    user = gieok.user("minsu")
    notices: list[tuple[Notice, ...]] = []
    for number in range(6):
        await begin(user, f"s{number}")
        await user.sessions.save_messages(f"s{number}", [message(1, f"word{number}a word{number}b")])
        notices.append((await user.sessions.close(f"s{number}", wait=True)).notices)
    assert [len(each) for each in notices] == [0, 0, 0, 0, 0, 2]
    assert notices[-1][0].korean.startswith("메모리가 가득 찼습니다.")
    assert len((await user.companion.list("hana")).memories) == 5


@pytest.mark.req("COMP-1")
async def test_a_summary_on_request_leaves_the_session_open(
    gieok: Gieok, model: MoodyModel, session: str
) -> None:
    user = gieok.user("minsu")
    await talk(user, 1, 4)
    assert (await user.sessions.summarize(session, wait=True)).memory_id is not None
    assert (await user.sessions.summarize(session, wait=True)).jobs == ()
    await talk(user, 5, 6)
    await user.sessions.close(session, wait=True)
    assert model.summarized == [contents(1, 4), contents(5, 6)]


async def test_a_long_batch_is_summarised_in_parts(gieok: Gieok, model: MoodyModel, session: str) -> None:
    user = gieok.user("minsu")
    await user.sessions.save_messages(session, said(1, 150))
    await user.sessions.close(session, wait=True)
    assert sorted(model.summarized, key=len) == [contents(101, 150), contents(1, 100)]


@pytest.mark.req("COMP-1")
async def test_a_session_without_messages_ends_without_a_memory(
    gieok: Gieok, worker: Worker, clock: Clock, session: str
) -> None:
    assert (await gieok.user("minsu").sessions.close(session, wait=True)).jobs == ()
    await work(worker, clock)
    assert await memories(gieok) == []


@pytest.mark.req("SESS-2", "SESS-5", "COMP-1")
async def test_the_worker_ends_a_session_after_thirty_minutes_without_activity(
    gieok: Gieok, worker: Worker, clock: Clock, model: MoodyModel, session: str
) -> None:
    user = gieok.user("minsu")
    await talk(user, 1, 2)
    await work(worker, clock)
    clock.advance(minutes=29)
    await talk(user, 3, 3)
    clock.advance(minutes=29, seconds=59)
    await work(worker, clock)
    assert (await user.sessions.get(session)).session.ended_at is None
    clock.advance(seconds=1)
    await work(worker, clock)
    assert (await user.sessions.get(session)).session.ended_at == clock.now
    assert model.summarized == [contents(1, 3)]
    assert await work(worker, clock) == 0


@pytest.mark.req("SESS-5")
async def test_a_session_that_was_left_open_is_found_after_a_restart(
    settings: Settings, clock: Clock, model: MoodyModel
) -> None:
    """No worker ran while it was open, and the process that served it is gone."""
    async with await Gieok.open(settings, model=model, clock=clock) as gieok:
        user = gieok.user("minsu")
        await begin(user)
        await talk(user, 1, 5)
    clock.advance(hours=8)
    async with await Gieok.open(settings, model=model, clock=clock) as gieok:
        await work(Worker(gieok), clock)
        assert (await gieok.user("minsu").sessions.get("s")).session.ended_at == clock.now
        assert model.summarized == [contents(1, 5)]
        assert len(await memories(gieok)) == 1


@pytest.mark.req("COMP-7")
async def test_summaries_stay_with_their_user_and_persona(gieok: Gieok, worker: Worker, clock: Clock) -> None:
    for owner, persona in (("minsu", "hana"), ("minsu", "mina"), ("jiyoung", "hana")):
        user = gieok.user(owner)
        await begin(user, f"with-{persona}", persona=persona)
        await talk(user, 1, 2, session=f"with-{persona}")
        await user.sessions.close(f"with-{persona}")
    await work(worker, clock)
    found = [
        await memories(gieok, owner, persona)
        for owner in ("minsu", "jiyoung")
        for persona in ("hana", "mina")
    ]
    assert [[memory.session_ref for memory in each] for each in found] == [
        ["with-hana"],
        ["with-mina"],
        ["with-hana"],
        [],
    ]


async def test_a_worker_that_lost_its_lease_changes_nothing(
    settings: Settings, gieok: Gieok, worker: Worker, clock: Clock, model: MoodyModel, session: str
) -> None:
    """Its model answers only after another worker has done the job."""
    await talk(gieok.user("minsu"), 1, 3)
    await work(worker, clock)
    await gieok.user("minsu").sessions.close(session)
    model.gate = asyncio.Event()
    slow = asyncio.create_task(worker.run_once(clock()))
    await model.asked.wait()
    clock.advance(seconds=LEASE.total_seconds())
    async with await Gieok.open(settings, model=MoodyModel(), clock=clock) as other:
        await work(Worker(other), clock)
    (memory,) = await memories(gieok)
    model.gate.set()
    await slow
    assert await memories(gieok) == [memory]
    assert (await gieok.user("minsu").sessions.get(session)).session.summarized_count == 3


async def test_a_worker_finishes_its_job_when_it_is_stopped(
    gieok: Gieok, model: MoodyModel, session: str
) -> None:
    user = gieok.user("minsu")
    await talk(user, 1, 3)
    (job,) = (await user.sessions.close(session)).jobs
    stop, model.gate = asyncio.Event(), asyncio.Event()
    running = asyncio.create_task(Worker(gieok, idle_seconds=0.01).run(stop))
    await model.asked.wait()
    stop.set()
    model.gate.set()
    await running
    assert (await user.jobs.get(job.id)).status == "done"


async def test_a_failing_job_is_retried_and_then_fails(
    gieok: Gieok, worker: Worker, clock: Clock, session: str, behind: Behind
) -> None:
    """No summary of half a conversation: the damage is named, and nothing is stored."""
    user = gieok.user("minsu")
    await talk(user, 1, 3)
    (job,) = (await user.sessions.close(session)).jobs
    behind.run("DELETE FROM messages WHERE seq = 2")
    await work(worker, clock)
    put_back = await user.jobs.get(job.id)
    assert (put_back.status, put_back.error) == ("queued", "STORE_DAMAGED")
    for _ in range(10):
        clock.advance(hours=1)
        await work(worker, clock)
    failed = await user.jobs.get(job.id)
    assert (failed.status, failed.error, failed.attempts) == ("failed", "STORE_DAMAGED", 6)
    assert await memories(gieok) == []


@pytest.mark.req("SESS-5")
async def test_inactivity_is_still_checked_after_weeks(
    gieok: Gieok, worker: Worker, clock: Clock, session: str, behind: Behind
) -> None:
    """Looking again is no failure: the first real one, after many looks, does not end the watch."""
    user = gieok.user("minsu")
    await talk(user, 1, 1)
    for number in range(2, 10):
        clock.advance(minutes=20)
        await talk(user, number, number)
        await work(worker, clock)
    assert behind.run("SELECT status, attempts FROM jobs WHERE kind = 'watch'") == [("queued", 0)]


async def test_an_owner_whose_keys_are_lost_does_not_stop_the_worker_for_others(
    settings: Settings, gieok: Gieok, clock: Clock, behind: Behind
) -> None:
    """The first owner's data needs a newer key than the keystore has, as after a restored backup."""
    for owner in ("aa", "bb"):
        user = gieok.user(owner)
        await begin(user)
        await talk(user, 1, 3)
        await user.sessions.close("s")
    behind.run("UPDATE owners SET key_generation = 7 WHERE owner = 'aa'")
    async with await Gieok.open(settings, model=MoodyModel(), clock=clock) as restarted:
        await work(Worker(restarted, jobs_at_once=1), clock)
        assert len(await memories(restarted, "bb")) == 1


async def claimed_elsewhere(gieok: Gieok, clock: Clock, job_id: UUID) -> tuple[OwnerScope, Job]:
    scope = gieok.scope("minsu")
    job = await scope.write(lambda view: view.jobs.claim(job_id, clock(), clock() + LEASE))
    assert job is not None
    return scope, job


async def test_waiting_does_not_wait_for_the_retry_of_a_worker(
    gieok: Gieok, clock: Clock, session: str
) -> None:
    user = gieok.user("minsu")
    await talk(user, 1, 3)
    (job,) = (await user.sessions.close(session)).jobs
    scope, running = await claimed_elsewhere(gieok, clock, job.id)
    later = JobOutcome(status="queued", due_at=clock() + LEASE, error="STORE_UNAVAILABLE")
    await scope.write(lambda view: view.jobs.settle(running, later))
    async with asyncio.timeout(20):
        assert (await user.sessions.close(session, wait=True)).memory_id is not None


async def test_waiting_fails_when_a_worker_postpones_the_job(
    gieok: Gieok, clock: Clock, session: str
) -> None:
    user = gieok.user("minsu")
    await talk(user, 1, 3)
    (job,) = (await user.sessions.summarize(session)).jobs
    scope, running = await claimed_elsewhere(gieok, clock, job.id)
    waiting = asyncio.create_task(user.sessions.close(session, wait=True))
    while not waiting.done() and (await user.sessions.get(session)).session.ended_at is None:  # noqa: ASYNC110
        await asyncio.sleep(0)  # a read on SQLite does not yield by itself
    later = JobOutcome(status="queued", due_at=clock() + LEASE, error="STORE_UNAVAILABLE")
    await scope.write(lambda view: view.jobs.settle(running, later))
    async with asyncio.timeout(20):
        with pytest.raises(SummaryFailed, match="STORE_UNAVAILABLE"):
            await waiting


@pytest.mark.req("OPS-4")
async def test_an_erasure_deletes_jobs_and_messages(
    gieok: Gieok, worker: Worker, clock: Clock, model: MoodyModel, session: str, behind: Behind
) -> None:
    """Also while a worker has the job in its hands."""
    user = gieok.user("minsu")
    await talk(user, 1, 3)
    await work(worker, clock)
    await user.sessions.close(session)
    model.gate = asyncio.Event()
    busy = asyncio.create_task(worker.run_once(clock()))
    await model.asked.wait()
    await user.data.erase()
    model.gate.set()
    await busy
    clock.advance(days=1)
    assert await work(worker, clock) == 0
    assert [behind.count(table) for table in ("jobs", "messages", "sessions", "memories")] == [0, 0, 0, 0]
