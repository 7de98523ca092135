"""Two workers at once, killed while they summarise: every session has its memories, none twice.

`GIEOK_CRASH_ROUNDS` makes it long and `GIEOK_CRASH_SEED` repeats it; a failure names both.
"""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime, timedelta

import pytest

from gieok.app import Gieok
from gieok.app.background.jobs import LEASE
from gieok.app.background.worker import Worker
from gieok.testing.models import CountingModel
from tests.crash.conftest import NewPlace, new_place
from tests.crash.place import Place
from tests.crash.test_kill import ROUNDS, SEED
from tests.jobs.worker_process import WorkerProcess
from tests.sessions.conversation import begin, memories, said
from tests.soak import count

__all__ = ["new_place"]

OWNERS = ("minsu", "jiyoung")
SESSIONS = ("s1", "s2", "s3")
PARTS = (25, 3)
"""Messages that are saved at once: the first part is summarised by its number, the second when it closes."""
PLANTED_ROUNDS = 25


async def talk_and_close(place: Place) -> None:
    """Every owner has sessions that have ended, and nobody has summarised them yet."""
    async with await Gieok.open(place.settings, model=CountingModel()) as gieok:
        for owner in OWNERS:
            user = gieok.user(owner)
            sessions = user.sessions
            for session in SESSIONS:
                await begin(user, session, account="premium")
                await sessions.save_messages(session, said(1, PARTS[0]))
                await sessions.save_messages(session, said(PARTS[0] + 1, sum(PARTS)))
                await sessions.close(session)


def a_round_of_killing(
    place: Place, chance: random.Random, number: int, *, planted: bool = False
) -> list[str]:
    """Run two workers, the second of which claims the first one's jobs; then kill both."""
    clocks = (2 * number * LEASE, (2 * number + 1) * LEASE)
    workers = [WorkerProcess(place, ahead, planted=planted) for ahead in clocks]
    ended = [worker.kill_while_thinking(chance) for worker in workers]
    return [f"a worker ended by itself, with exit code {code}" for code in ended if code is not None]


async def wrong(place: Place, after: timedelta) -> list[str]:
    """Let one more worker finish, and compare with what every session should have."""
    now = datetime.now(UTC) + after
    problems: list[str] = []
    async with await Gieok.open(place.settings, model=CountingModel(), clock=lambda: now) as gieok:
        while await Worker(gieok).run_once(now):
            pass
        lasts = sorted(said(last, last)[0].timestamp for last in (PARTS[0], sum(PARTS)))
        for owner in OWNERS:
            found = await memories(gieok, owner)
            for session in SESSIONS:
                made = sorted(memory.occurred_at for memory in found if memory.session_ref == session)
                if made != lasts:
                    problems.append(f"{owner}'s {session} has {len(made)} memories instead of {len(lasts)}")
                view = await gieok.user(owner).sessions.get(session)
                if view.session.summarized_count != sum(PARTS) or view.messages:
                    problems.append(f"{owner}'s {session} has {view.session.summarized_count} summarised")
    return problems


@pytest.mark.req("COMP-1", "SESS-5", "ENG-6")
@pytest.mark.timeout(120 + 20 * ROUNDS)
async def test_killed_workers_leave_every_session_with_its_memories(new_place: NewPlace) -> None:
    place, chance = new_place(), random.Random(SEED)
    await talk_and_close(place)
    for number in range(ROUNDS):
        seed = f"GIEOK_CRASH_SEED={SEED}, round {number}"
        died = await asyncio.to_thread(a_round_of_killing, place, chance, number)
        assert died == [], seed
    assert await wrong(place, 2 * (ROUNDS + 1) * LEASE) == [], f"GIEOK_CRASH_SEED={SEED}"
    count("kills of workers", 2 * ROUNDS, place.kind)


async def test_a_worker_that_commits_in_parts_is_caught(new_place: NewPlace) -> None:
    """The same rounds and checks find workers that keep the memory first and complete the job afterwards."""
    for number in range(PLANTED_ROUNDS):
        place, chance = new_place(), random.Random(SEED + number)
        await talk_and_close(place)
        await asyncio.to_thread(a_round_of_killing, place, chance, 0, planted=True)
        if await wrong(place, 4 * LEASE):
            return
    pytest.fail(f"it was not caught in {PLANTED_ROUNDS} rounds, GIEOK_CRASH_SEED={SEED}")
