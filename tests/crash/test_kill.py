"""A process is killed at a random moment: nothing acknowledged is lost, nothing is partially stored.

`GIEOK_CRASH_ROUNDS` sets the number of rounds, and `GIEOK_CRASH_SEED` reproduces a failure.
"""

from __future__ import annotations

import asyncio
import os
import random
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gieok.app import Gieok
from gieok.app.background.jobs import LEASE
from gieok.errors import SessionEnded
from gieok.memory.canon.records import PersonaDraft
from tests.crash.checker import remember
from tests.crash.conftest import NewPlace
from tests.crash.killing import crash, crash_between_cycles
from tests.crash.place import Answered, Story
from tests.crash.writer import WORKS, ObservingModel, new_word
from tests.soak import count

ROUNDS = int(os.environ.get("GIEOK_CRASH_ROUNDS", "2"))
SEED = int(os.environ.get("GIEOK_CRASH_SEED", random.SystemRandom().randrange(1_000_000)))
REPEATS = max(1, ROUNDS // 10)
"""Repetitions of the tests that are slow."""
KILLS_BETWEEN = max(6, ROUNDS)
"""Kills between a turn and its remembering."""
ROUNDS_IN_A_PLACE = 20
PLANTED_ROUNDS = 40
"""A round misses a bug now and then, but not this often."""


@pytest.mark.req("ENG-6")
@pytest.mark.timeout(60 + 5 * ROUNDS)
@pytest.mark.parametrize("work", [work for work in WORKS if work != "chat"])
async def test_a_killed_process_leaves_all_or_nothing(new_place: NewPlace, work: str) -> None:
    place, story = new_place(), Story()
    for number in range(ROUNDS):
        if work == "start" or number % ROUNDS_IN_A_PLACE == ROUNDS_IN_A_PLACE - 1:
            place, story = new_place(), Story()
        seed = SEED + number
        assert await crash(place, story, work, seed) == [], f"GIEOK_CRASH_SEED={seed}, {work}"
    count("kills of a writing process", ROUNDS, place.kind)


@pytest.mark.req("MIND-1")
@pytest.mark.timeout(60 + 10 * KILLS_BETWEEN)
async def test_a_turn_is_remembered_once_although_the_process_dies_before(new_place: NewPlace) -> None:
    """Killed after answers, before or while they are remembered. Kills that came too late do not count."""
    place, story = new_place(), Story()
    killed = 0
    for number in range(3 * KILLS_BETWEEN):
        if number % ROUNDS_IN_A_PLACE == ROUNDS_IN_A_PLACE - 1:
            place, story = new_place(), Story()
        place = replace(place, ahead=place.ahead + 2 * LEASE)
        is_between, problems = await crash_between_cycles(place, story, SEED + number)
        assert problems == [], f"GIEOK_CRASH_SEED={SEED + number}"
        killed += is_between
        if killed == KILLS_BETWEEN:
            count("kills between a turn and its remembering", killed, place.kind)
            return
    pytest.fail(f"only {killed} kills were between the two cycles")


@pytest.mark.req("MIND-1")
@pytest.mark.parametrize("repeat", range(REPEATS))
async def test_a_turn_is_remembered_once_while_the_clock_jumps(new_place: NewPlace, repeat: int) -> None:
    """By up to three hours, back and forth, so that leases expire and sessions end early."""
    place, story, chance, jumps = new_place(), Story(), random.Random(SEED + repeat), 0
    ahead = timedelta()

    async def turns(owner: str) -> None:
        nonlocal ahead, jumps
        user, session = gieok.user(owner), None
        await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
        for _ in range(10):
            word = new_word(chance)
            with suppress(SessionEnded):
                turn = await user.chat.send("hana", f"{word} 회사에 다녀", session_ref=session)
                story.answered.append(Answered(owner, word))
                session = turn.session_ref
            ahead, jumps = timedelta(minutes=chance.uniform(-180, 180)), jumps + 1

    settings = replace(place.settings, background=True)
    async with await Gieok.open(
        settings, model=ObservingModel(), clock=lambda: datetime.now(UTC) + ahead
    ) as gieok:
        await asyncio.gather(*(turns(f"owner-{number}") for number in range(4)))
    _, problems = await remember(replace(place, ahead=timedelta(days=1)), story)
    assert problems == [], f"GIEOK_CRASH_SEED={SEED + repeat}"
    count("clock jumps", jumps, place.kind)


@pytest.mark.req("MIND-1")
async def test_a_job_that_is_queued_after_the_answer_is_caught(new_place: NewPlace) -> None:
    """The same rounds find a turn whose messages and whose job are not one commit."""
    place, story = new_place(), Story()
    for number in range(PLANTED_ROUNDS):
        place = replace(place, ahead=place.ahead + 2 * LEASE)
        _, problems = await crash_between_cycles(place, story, SEED + number, "split_cycle")
        if any("turn memories of the turn" in problem for problem in problems):
            return
    pytest.fail(f"split_cycle was not caught in {PLANTED_ROUNDS} rounds, GIEOK_CRASH_SEED={SEED}")


@pytest.mark.req("ENG-6")
@pytest.mark.parametrize(
    ("plant", "symptom"),
    [
        ("split_cycle", "session session-"),
        ("split_memory", "the terms of"),
        ("answer_early", "was acknowledged and is lost"),
    ],
)
async def test_a_planted_bug_is_caught(new_place: NewPlace, plant: str, symptom: str) -> None:
    """The same rounds and checks find a bug that is injected into the writer."""
    place, story = new_place(), Story()
    for number in range(PLANTED_ROUNDS):
        problems = await crash(place, story, "turns", SEED + number, plant)
        if any(symptom in problem for problem in problems):
            return
    pytest.fail(f"{plant} was not caught in {PLANTED_ROUNDS} rounds, GIEOK_CRASH_SEED={SEED}")
