"""Kill a writer process at a random moment."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import signal
import time
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

import psycopg

from gieok.app.background.jobs import LEASE
from tests.crash import writer
from tests.crash.checker import remember, violations
from tests.crash.place import Event, Place, Story

MESSAGE_TIMEOUT = 30.0
"""Longest time without a message from the writer, in seconds."""

_STILL_THERE = """
SELECT pg_sleep(0.002) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'gieok'"""

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["__main__", writer.__name__, "psycopg"])


@dataclass(frozen=True)
class Moment:
    """When to kill: a number of seconds after a number of events."""

    events: int
    seconds: float


@dataclass(frozen=True)
class Death:
    """How a writer ended, and the events that it sent before."""

    events: list[Event]
    exit_code: int | None

    @property
    def by_itself(self) -> bool:
        """Whether it failed before it was killed."""
        return self.exit_code not in (0, -signal.SIGKILL)


def random_moment(chance: random.Random, work: str) -> Moment:
    """A random moment during this kind of work."""
    if work == "start":
        return Moment(1, chance.uniform(0.0, 0.12))
    return Moment(chance.randint(2, 40), chance.uniform(0.0, 0.02))


async def crash(place: Place, story: Story, work: str, seed: int, plant: str | None = None) -> list[str]:
    """Run one round: work, kill, check. Returns the violations."""
    moment = random_moment(random.Random(seed), work)
    death = await asyncio.to_thread(run_and_kill, place, work, seed, moment, plant)
    await asyncio.to_thread(_wait_until_disconnected, place)
    story.add(death.events)
    return _own_failure(death) + await violations(place, story)


async def crash_between_cycles(
    place: Place, story: Story, seed: int, plant: str | None = None
) -> tuple[bool, list[str]]:
    """One round of chat turns, killed shortly after an answer. Returns whether a turn was then answered but
    not remembered, and the violations once the next process has finished remembering."""
    chance = random.Random(seed)
    moment = Moment(chance.randint(2, 12), chance.uniform(0.0, 0.01))
    death = await asyncio.to_thread(run_and_kill, place, "chat", seed, moment, plant)
    await asyncio.to_thread(_wait_until_disconnected, place)
    story.add(death.events)
    left, problems = await remember(replace(place, ahead=place.ahead + LEASE), story)
    return left > 0, [*_own_failure(death), *problems, *await violations(place, story)]


def _own_failure(death: Death) -> list[str]:
    return [f"the writer failed by itself, with exit code {death.exit_code}"] if death.by_itself else []


def run_and_kill(place: Place, work: str, seed: int, moment: Moment, plant: str | None = None) -> Death:
    """Start a writer and kill it at the given moment, unless it has ended by then."""
    receiver, sender = _processes.Pipe(duplex=False)
    process = _processes.Process(target=writer.main, args=(place, work, seed, plant, sender))
    process.start()
    sender.close()
    events: list[Event] = []
    try:
        while len(events) < moment.events and (event := _next(receiver)):
            events.append(event)
        deadline = time.monotonic() + moment.seconds
        while receiver.poll(max(0.0, deadline - time.monotonic())) and (event := _next(receiver)):
            events.append(event)
        process.kill()
        while event := _next(receiver):
            events.append(event)
    finally:
        process.kill()
        process.join()
        receiver.close()
    return Death(events, process.exitcode)


def _wait_until_disconnected(place: Place) -> None:
    """Wait until PostgreSQL has finished the last request of the killed writer."""
    if place.admin_url is None:
        return
    deadline = time.monotonic() + MESSAGE_TIMEOUT
    with psycopg.connect(place.admin_url, autocommit=True) as server:
        while server.execute(_STILL_THERE).fetchone():
            assert time.monotonic() < deadline, "a killed writer is still connected"


def _next(receiver: Connection[None, Event]) -> Event | None:
    """The next event of the writer; None once it is dead, even if it died while sending."""
    if not receiver.poll(MESSAGE_TIMEOUT):
        raise TimeoutError(f"the writer has sent nothing for {MESSAGE_TIMEOUT:g} s")
    try:
        return receiver.recv()
    except (EOFError, OSError):
        return None
