"""A process is killed at a random moment: nothing acknowledged is lost, nothing is partially stored.

`GIEOK_CRASH_ROUNDS` sets the number of rounds, and `GIEOK_CRASH_SEED` reproduces a failure.
"""

from __future__ import annotations

import os
import random

import pytest

from tests.crash.conftest import NewPlace
from tests.crash.killing import crash
from tests.crash.place import Story
from tests.crash.writer import WORKS

ROUNDS = int(os.environ.get("GIEOK_CRASH_ROUNDS", "2"))
SEED = int(os.environ.get("GIEOK_CRASH_SEED", random.SystemRandom().randrange(1_000_000)))
REPEATS = max(1, ROUNDS // 10)
"""Repetitions of the tests that are slow."""
ROUNDS_IN_A_PLACE = 20
PLANTED_ROUNDS = 40
"""Each round catches a bug with a probability of about a third."""


@pytest.mark.req("ENG-6")
@pytest.mark.timeout(60 + 5 * ROUNDS)
@pytest.mark.parametrize("work", WORKS)
async def test_a_killed_process_leaves_all_or_nothing(new_place: NewPlace, work: str) -> None:
    place, story = new_place(), Story()
    for number in range(ROUNDS):
        if work == "start" or number % ROUNDS_IN_A_PLACE == ROUNDS_IN_A_PLACE - 1:
            place, story = new_place(), Story()
        seed = SEED + number
        assert await crash(place, story, work, seed) == [], f"GIEOK_CRASH_SEED={seed}, {work}"


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
