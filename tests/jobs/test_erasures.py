"""A worker finishes the erasure that another process began and did not live to finish."""

from __future__ import annotations

import asyncio

from gieok import Gieok, Persona
from gieok.app.worker import Worker
from tests.behind import Behind
from tests.turns.run_turn import run_turn


async def test_an_erasure_that_was_cut_off_is_finished(gieok: Gieok, behind: Behind) -> None:
    """The keys of one owner are gone and the rows are not; a worker removes them, and no other's."""
    persona = Persona(name="미나", language="ko", system_prompt="너는 미나야.")
    for owner in ("ana", "ben"):
        await run_turn(gieok.user(owner), "s1", "내일 중요한 면접이 있어", persona=persona)
    gieok.vault.begin_erasure("ana")
    stop = asyncio.Event()
    working = asyncio.create_task(Worker(gieok, idle_seconds=0.01, erasures_seconds=0).run(stop))
    async with asyncio.timeout(60):
        while await asyncio.to_thread(gieok.vault.unfinished_erasures):
            assert not working.done()
    stop.set()
    await working
    assert behind.run("SELECT DISTINCT owner FROM turn_memories") == [("ben",)]
