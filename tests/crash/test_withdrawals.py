"""A process is killed while it withdraws a turn or makes another reply: all of it is stored, or nothing.

`GIEOK_CRASH_ROUNDS` sets how often, and `GIEOK_CRASH_SEED` repeats the random moments.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from gieok import Gieok, User
from gieok.app.cycles import Cycles
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.sessions.withdrawal import UnindexMessages
from tests.canon.scripted_turns import Scripted
from tests.crash.conftest import NewPlace
from tests.crash.place import Place
from tests.crash.test_kill import ROUNDS, SEED
from tests.sessions.test_withdrawal import BUSAN, SEOUL, home
from tests.soak import count

MOMENTS = ("before", "inside", "after", "random")
KILLS = 2 * len(MOMENTS) * max(2, ROUNDS // 8)
"""On each database, half of them of a withdrawal."""
LATEST = 0.05
"""The latest random moment, in seconds after the call began."""
State = tuple[list[bool], list[str], int, bool]
BEFORE: State = ([False, False, False, False], ["서울"], 4, True)
AFTER: dict[str, State] = {
    "withdraw": ([False, False, True, True], ["부산"], 2, False),
    "regenerate": ([False, False, True, True, False, False], ["부산"], 4, True),
}

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["__main__", __name__, "psycopg"])


class Learning(Scripted):
    """Learns where the user lives, and dies while it replies if it is told to."""

    def __init__(self, *, is_mortal: bool = False) -> None:
        super().__init__({BUSAN: [home("부산")], SEOUL: [home("서울")]})
        self._is_mortal = is_mortal

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        if self._is_mortal:
            die()
        return await super().reply(prompt, emit)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def change(user: User, call: str, session_ref: str) -> None:
    if call == "withdraw":
        await user.sessions.withdraw(session_ref)
    else:
        await user.chat.regenerate(session_ref)


def dying(place: Place, call: str, session_ref: str, moment: str, seconds: float) -> None:
    """Change the last turn and die: before its commit, inside, after it, or after some seconds."""
    run, unindex = Cycles.run, UnindexMessages.apply

    async def run_and_die(self: Cycles, *given: Any, **options: Any) -> Any:
        if moment == "after":
            await run(self, *given, **options)
        die()

    def unindex_and_die(self: UnindexMessages, view: Any, metadata: Any, inputs: Any, context: Any) -> None:
        unindex(self, view, metadata, inputs, context)
        die()

    async def main() -> None:
        is_mortal = (call, moment) == ("regenerate", "before")
        model = Learning(is_mortal=is_mortal)
        async with await Gieok.open(place.settings, model=model, background=False) as gieok:
            if moment == "inside":
                UnindexMessages.apply = unindex_and_die
            elif moment == "random":
                signal.setitimer(signal.ITIMER_REAL, seconds)
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
            elif not is_mortal:
                Cycles.run = run_and_die
            await change(gieok.user("minsu"), call, session_ref)
            time.sleep(10 * LATEST)  # noqa: ASYNC251  until the alarm

    asyncio.run(main())


async def state(user: User, name: str) -> State:
    """Which messages are withdrawn, what is known, how many messages count, and whether the last is found."""
    log = await user.sessions.log(name)
    facts = await user.canon.facts(name)
    window = await user.sessions.get(name)
    hits = await user.companion.search(name, "서울", kinds=("message",))
    return (
        [each.withdrawn_at is not None for each in log],
        [fact.value for fact in facts],
        window.session.message_count,
        any(hit.text == SEOUL for hit in hits),
    )


@pytest.mark.req("ENG-6", "MIND-12")
@pytest.mark.timeout(120 + 10 * KILLS)
async def test_a_turn_is_withdrawn_or_replaced_whole_or_not_at_all(new_place: NewPlace) -> None:
    """What was interrupted before its commit can be repeated, and the database is sound."""
    place, chance = new_place(), random.Random(SEED)
    stored = 0
    async with await Gieok.open(place.settings, model=Learning(), background=False) as gieok:
        user = gieok.user("minsu")
        for number in range(KILLS):
            call, moment = ("withdraw", "regenerate")[number % 2], MOMENTS[number // 2 % len(MOMENTS)]
            name = f"s{number}"
            await user.personas.create(PersonaDraft(name="하나"), persona_id=name)
            for text in (BUSAN, SEOUL):
                await user.chat.send(name, text, session_ref=name, wait_memory=True)
            assert await state(user, name) == BEFORE
            given = (place, call, name, moment, chance.uniform(0.0001, LATEST))
            process = _processes.Process(target=dying, args=given)
            process.start()
            await asyncio.to_thread(process.join)
            assert process.exitcode in (-signal.SIGKILL, -signal.SIGALRM), f"{moment}: {process.exitcode}"
            is_stored = await state(user, name) != BEFORE
            stored += is_stored
            if moment != "random":
                assert is_stored == (moment == "after"), f"{call} {moment}"
            if not is_stored:
                await change(user, call, name)
            assert await state(user, name) == AFTER[call], f"GIEOK_CRASH_SEED={SEED}, {call} {moment}"
        assert 0 < stored < KILLS
        assert (await gieok.check_integrity()).damage == ()
    count("interrupted withdrawals and replies", KILLS, place.kind)
