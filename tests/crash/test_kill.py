"""A process is killed at a random moment: nothing promised is lost, nothing is half there.

`GIEOK_CRASH_ROUNDS` makes it long and `GIEOK_CRASH_SEED` repeats it; a failure names both.
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
"""How often a test is repeated that has many deaths in it, or an expensive one."""
ROUNDS_IN_A_PLACE = 20
PLANTED_ROUNDS = 40
"""Each catches a bug with a chance of about a third: missing it in all of them does not happen."""


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
        ("split_memory", "the postings of"),
        ("answer_early", "was promised and is gone"),
    ],
)
async def test_a_planted_bug_is_caught(new_place: NewPlace, plant: str, symptom: str) -> None:
    """The same rounds and the same checks find what is wrong with a writer that is wrong."""
    place, story = new_place(), Story()
    for number in range(PLANTED_ROUNDS):
        problems = await crash(place, story, "turns", SEED + number, plant)
        if any(symptom in problem for problem in problems):
            return
    pytest.fail(f"{plant} was not caught in {PLANTED_ROUNDS} rounds, GIEOK_CRASH_SEED={SEED}")
