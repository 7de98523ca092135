"""PostgreSQL crashes, is paused or ends connections: acknowledged turns survive, none is partially stored."""

from __future__ import annotations

import asyncio
import os
import random
import select
import signal
import time
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from gieok.app import Gieok
from gieok.errors import StepFailed, StoreUnavailable
from gieok.testing.models import CountingModel
from tests.crash.checker import violations
from tests.crash.conftest import postgres_place
from tests.crash.place import Story
from tests.crash.test_kill import REPEATS, SEED
from tests.crash.writer import new_word, take_turn
from tests.postgres import Postgres
from tests.soak import count

TURNS = 60
PAUSE_SECONDS = 0.3
_OURS = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gieok'"


@pytest.mark.req("ENG-6")
@pytest.mark.parametrize("repeat", range(REPEATS))
async def test_acknowledged_turns_survive_a_crash_of_the_server(
    postgres: Postgres, tmp_path: Path, repeat: int
) -> None:
    """SIGQUIT stops it without a checkpoint; it recovers from its log when it starts again."""
    place, story, chance = postgres_place(postgres, tmp_path), Story(), random.Random(SEED + repeat)
    die_after = chance.randint(10, 60)

    async def turns_until_it_dies(task: int) -> None:
        owner, session = f"owner-{task % 2}", f"session-{task % 4}"
        while True:
            try:
                story.saved.append(await take_turn(gieok.user(owner), owner, session, new_word(chance)))
            except (StoreUnavailable, StepFailed):
                return
            if len(story.saved) == die_after:
                signal.pidfd_send_signal(server, signal.SIGQUIT)

    server = os.pidfd_open(int((postgres.folder / "postmaster.pid").read_text().split()[0]))
    async with await Gieok.open(place.settings, model=CountingModel()) as gieok:
        await asyncio.gather(*(turns_until_it_dies(task) for task in range(8)))
        await asyncio.to_thread(select.select, [server], [], [], 30)  # until it has ended
        os.close(server)
        await asyncio.to_thread(postgres.start)
        assert len(story.saved) >= die_after
        assert await violations(place, story) == [], f"GIEOK_CRASH_SEED={SEED + repeat}"
        await take_turn(gieok.user("owner-0"), "owner-0", "session-0", new_word(chance))
    count("crashes of PostgreSQL", 1, "postgres")


@pytest.mark.req("ENG-6")
@pytest.mark.parametrize("what", ["terminated", "paused"])
@pytest.mark.parametrize("repeat", range(REPEATS))
async def test_acknowledged_turns_survive_a_disturbed_server(
    postgres: Postgres, tmp_path: Path, repeat: int, what: str
) -> None:
    """Under load, its connections are ended, or their processes stand still for a moment. Turns go on."""
    place, story, chance = postgres_place(postgres, tmp_path), Story(), random.Random(SEED + repeat)
    disturb = terminate if what == "terminated" else pause

    async def turns(task: int) -> None:
        owner, session = f"owner-{task % 2}", f"session-{task % 4}"
        while len(story.saved) < TURNS:
            with suppress(StoreUnavailable, StepFailed):
                story.saved.append(await take_turn(gieok.user(owner), owner, session, new_word(chance)))

    async def disturbances() -> None:
        for after in sorted(chance.sample(range(TURNS // 2), 3)):
            while len(story.saved) < after:  # noqa: ASYNC110 - eight tasks add to it
                await asyncio.sleep(0.001)
            while not await asyncio.to_thread(disturb, str(place.admin_url)):
                pass  # the last one has ended all connections

    async with await Gieok.open(place.settings, model=CountingModel()) as gieok:
        async with asyncio.TaskGroup() as group:  # an error ends all of them
            for each in (disturbances(), *map(turns, range(8))):
                group.create_task(each)
        assert await violations(place, story) == [], f"GIEOK_CRASH_SEED={SEED + repeat}"
    count(f"PostgreSQL {what}", 3, "postgres")


def terminate(url: str) -> int:
    """End the connections of Gieok. Returns how many there were."""
    with psycopg.connect(url, autocommit=True) as server:
        return len(server.execute(f"SELECT pg_terminate_backend(pid) {_OURS}".encode()).fetchall())


def pause(url: str) -> int:
    """Stop the processes that serve Gieok for a moment. Returns how many there were."""
    with psycopg.connect(url, autocommit=True) as server:
        pids = [pid for (pid,) in server.execute(f"SELECT pid {_OURS}".encode()).fetchall()]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(PAUSE_SECONDS)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        return len(pids)
