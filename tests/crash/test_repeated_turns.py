"""Chat turns are interrupted by a kill and repeated with the same key: none is stored twice, none is lost.

`GIEOK_CRASH_SEED` repeats the random moments.
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

from gieok import Gieok
from gieok.app.cycles import Cycles
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.requests import RequestKey
from gieok.testing.models import CountingModel
from tests.crash.conftest import NewPlace
from tests.crash.place import Place
from tests.crash.test_kill import ROUNDS, SEED
from tests.soak import count

KILLS = max(33, ROUNDS)
"""On each database."""
LATEST = 0.05
"""The latest random moment, in seconds after the turn began."""

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["__main__", __name__, "psycopg"])


class Mortal(CountingModel):
    """Kills its process while it replies."""

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        os.kill(os.getpid(), signal.SIGKILL)
        return await super().reply(prompt, emit)


async def send(gieok: Gieok, number: int) -> Any:
    """The turn `number`. Two of three name no session; every other one has an id instead of a key."""
    text = f"{number}번째 말이야"
    once = RequestKey(key=f"k{number}", body=text.encode()) if number % 2 else None
    return await gieok.user("minsu").chat.send(
        "hana",
        text,
        session_ref=None if number % 3 else "s",
        message_id=None if number % 2 else f"m{number}",
        once=once,
    )


def dying(place: Place, number: int, moment: str, seconds: float) -> None:
    """Send a turn and die: while the model replies, after the commit, or after some seconds."""
    run = Cycles.run

    async def run_and_die(self: Cycles, *given: Any, **options: Any) -> Any:
        await run(self, *given, **options)
        os.kill(os.getpid(), signal.SIGKILL)

    async def main() -> None:
        model = Mortal() if moment == "before" else CountingModel()
        async with await Gieok.open(place.settings, model=model, background=False) as gieok:
            if moment == "after":
                Cycles.run = run_and_die
            if moment == "random":
                signal.setitimer(signal.ITIMER_REAL, seconds)
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
            await send(gieok, number)
            time.sleep(10 * LATEST)  # noqa: ASYNC251  until the alarm

    asyncio.run(main())


def kill(place: Place, number: int, chance: random.Random) -> None:
    moment = ("before", "after", "random")[number % 3]
    process = _processes.Process(target=dying, args=(place, number, moment, chance.uniform(0.0001, LATEST)))
    process.start()
    process.join()
    assert process.exitcode in (-signal.SIGKILL, -signal.SIGALRM), f"{moment}: {process.exitcode}"


@pytest.mark.req("ENG-6", "SESS-4")
@pytest.mark.timeout(120 + 10 * KILLS)
async def test_an_interrupted_turn_is_stored_once_when_it_is_repeated(new_place: NewPlace) -> None:
    """The repeated turns and a second repetition have the same answer, and each is in the log once."""
    place, chance = new_place(), random.Random(SEED)
    stored_before = 0
    async with await Gieok.open(place.settings, model=CountingModel(), background=False) as gieok:
        user = gieok.user("minsu")
        await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")

        async def said() -> list[str]:
            sessions = (await user.sessions.list("hana")).sessions
            logs = [await user.sessions.log(each.session_ref, limit=200) for each in sessions]
            return [message.content for log in logs for message in log if message.role == "user"]

        for number in range(KILLS):
            await asyncio.to_thread(kill, place, number, chance)
            stored_before += len(await said()) - number
            turn = await send(gieok, number)
            assert await send(gieok, number) == turn
            expected = [f"{each}번째 말이야" for each in range(number + 1)]
            assert sorted(await said()) == sorted(expected), f"GIEOK_CRASH_SEED={SEED}, turn {number}"
        assert 0 < stored_before < KILLS, "every kill was on the same side of the commit"
    count("interrupted and repeated turns", KILLS, place.kind)
