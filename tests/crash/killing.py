"""Killing a process in the middle of its work."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import signal
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection

import psycopg

from tests.crash import writer
from tests.crash.checker import violations
from tests.crash.place import Place, Story, Told

PATIENCE = 30.0
"""Seconds without a word from the writer after which something is wrong."""

_STILL_THERE = """
SELECT pg_sleep(0.002) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'gieok'"""

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["__main__", writer.__name__, "psycopg"])


@dataclass(frozen=True)
class Moment:
    """When to kill: after so many tidings, and so many seconds after the last of them."""

    tidings: int
    seconds: float


@dataclass(frozen=True)
class Death:
    """How a writer ended, and all that it told before."""

    told: list[Told]
    exit_code: int | None

    @property
    def by_itself(self) -> bool:
        """It failed before it was killed."""
        return self.exit_code not in (0, -signal.SIGKILL)


def random_moment(chance: random.Random, work: str) -> Moment:
    """A moment in which such work is usually under way."""
    if work == "start":
        return Moment(1, chance.uniform(0.0, 0.12))
    return Moment(chance.randint(2, 40), chance.uniform(0.0, 0.02))


async def crash(place: Place, story: Story, work: str, seed: int, plant: str | None = None) -> list[str]:
    """One round: work, death, and what is wrong afterwards."""
    moment = random_moment(random.Random(seed), work)
    death = await asyncio.to_thread(run_and_kill, place, work, seed, moment, plant)
    await asyncio.to_thread(_until_forgotten, place)
    story.hear(death.told)
    failed = [f"the writer failed by itself, with exit code {death.exit_code}"] if death.by_itself else []
    return failed + await violations(place, story)


def run_and_kill(place: Place, work: str, seed: int, moment: Moment, plant: str | None = None) -> Death:
    """Start a writer and send it SIGKILL at the moment, unless it has ended by then."""
    receiver, sender = _processes.Pipe(duplex=False)
    process = _processes.Process(target=writer.main, args=(place, work, seed, plant, sender))
    process.start()
    sender.close()
    told: list[Told] = []
    try:
        while len(told) < moment.tidings and (news := _next(receiver)):
            told.append(news)
        deadline = time.monotonic() + moment.seconds
        while receiver.poll(max(0.0, deadline - time.monotonic())) and (news := _next(receiver)):
            told.append(news)
        process.kill()
        while news := _next(receiver):
            told.append(news)
    finally:
        process.kill()
        process.join()
        receiver.close()
    return Death(told, process.exitcode)


def _until_forgotten(place: Place) -> None:
    """A server may finish what its client asked for last; only then is the client dead to it."""
    if place.admin_url is None:
        return
    deadline = time.monotonic() + PATIENCE
    with psycopg.connect(place.admin_url, autocommit=True) as server:
        while server.execute(_STILL_THERE).fetchone():
            assert time.monotonic() < deadline, "a killed writer is still connected"


def _next(receiver: Connection[None, Told]) -> Told | None:
    """What the writer tells next; None once it is dead, even if it died in the middle of a word."""
    if not receiver.poll(PATIENCE):
        raise TimeoutError(f"the writer has told nothing for {PATIENCE:g} s")
    try:
        return receiver.recv()
    except (EOFError, OSError):
        return None
