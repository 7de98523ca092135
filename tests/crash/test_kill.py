"""A process is killed at a random moment: nothing acknowledged is lost, nothing is partially stored.

`GIEOK_CRASH_ROUNDS` sets the number of rounds, and `GIEOK_CRASH_SEED` reproduces a failure.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace

import pytest

from gieok.app.background.jobs import LEASE
from tests.crash.conftest import NewPlace
from tests.crash.killing import crash, crash_between_cycles
from tests.crash.place import Story
from tests.crash.writer import WORKS
from tests.soak import count

ROUNDS = int(os.environ.get("GIEOK_CRASH_ROUNDS", "2"))
SEED = int(os.environ.get("GIEOK_CRASH_SEED", random.SystemRandom().randrange(1_000_000)))
REPEATS = max(1, ROUNDS // 10)
"""Repetitions of the tests that are slow."""
KILLS_BETWEEN = max(6, ROUNDS)
"""Kills between a turn and its remembering."""
ROUNDS_IN_A_PLACE = 20
PLANTED_ROUNDS = 40
"""Each round catches a bug with a probability of about a third."""


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
