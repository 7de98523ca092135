"""A real `gieok serve` is killed under load: every promise is kept, and nothing is half there.

`GIEOK_SOAK` makes it long, and `GIEOK_CRASH_SEED` repeats the moments at which it is killed.
"""

from __future__ import annotations

import asyncio
import os
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gieok import Gieok
from gieok.app.worker import Worker
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.companion.records import MemoryDraft
from tests.service.load import Promises, Talker, ended, goal
from tests.service.process import Place, Service
from tests.service.promises import exported, half_there, lost, unsummarised, violations

SOAK = bool(os.environ.get("GIEOK_SOAK"))
KILLS = 100 if SOAK else 4
"""On each database."""
SEED = int(os.environ.get("GIEOK_CRASH_SEED", random.SystemRandom().randrange(1_000_000)))
OWNERS = ("ana", "bora", "choa")
TALKERS = 6
HANA = PersonaDraft(name="하나", language="ko", system_prompt="너는 하나야. 다정한 친구처럼 말해.")


@pytest.mark.req("SESS-4", "SESS-5")
@pytest.mark.timeout(60 + 60 * KILLS)
async def test_a_killed_service_keeps_every_promise(database_url: str, tmp_path: Path) -> None:
    """Messages, memories, facts and sessions, after each kill; and at last a summary of every session."""
    place, chance = Place(tmp_path, database_url), random.Random(SEED)
    tokens = await place.tokens(*OWNERS)
    promises = {owner: Promises() for owner in OWNERS}
    await _create_personas(place)
    for number in range(KILLS):
        await _talk_and_kill(place, tokens, promises, chance)
        assert await _violations(place, promises) == [], f"kill {number + 1}, GIEOK_CRASH_SEED={SEED}"
    assert all(map(len, promises.values())), "nothing was promised, so nothing is proved"
    assert await _never_summarised(place) == []


@pytest.mark.parametrize("kind", ["message", "memory", "turnMemory", "fact", "session"])
async def test_a_missing_record_is_noticed(tmp_path: Path, kind: str) -> None:
    """The checks themselves: whatever single thing is gone, they say so."""
    place, promises = Place(tmp_path, f"sqlite:///{tmp_path / 'data' / 'gieok.db'}"), Promises()
    async with await Gieok.open(place.settings) as gieok:
        user = gieok.user("ana")
        await user.personas.create(HANA, persona_id="hana")
        turn = await user.chat.send("hana", goal("q" + "abc" * 3 + "de"))
        draft = MemoryDraft(persona_id="hana", summary="면접")
        made = await user.companion.create(draft, account_plan="free")
        kinds = await exported(user)
    promises.turns.append((turn.session_ref, "q" + "abc" * 3 + "de"))
    promises.memories.append(str(made.memory.id))
    assert [*lost(kinds, promises), *half_there(kinds)] == []
    kinds[kind].pop()
    assert [*lost(kinds, promises), *half_there(kinds)] != []


async def _create_personas(place: Place) -> None:
    async with await Gieok.open(place.settings) as gieok:
        for owner in OWNERS:
            await gieok.user(owner).personas.create(HANA, persona_id="hana")


async def _talk_and_kill(
    place: Place, tokens: dict[str, str], promises: dict[str, Promises], chance: random.Random
) -> None:
    """Kill the service after some promises, and a moment after the last of them."""
    told = asyncio.Semaphore(0)
    with Service(place) as service:
        owners = [OWNERS[number % len(OWNERS)] for number in range(TALKERS)]
        talkers = [Talker(each, service.url, tokens[each], promises[each], chance) for each in owners]
        talking = [asyncio.create_task(talker.talk(told)) for talker in talkers]
        with ended(talking):
            for _ in range(chance.randint(1, 40)):
                async with asyncio.timeout(60):
                    await told.acquire()
            await asyncio.sleep(chance.uniform(0.0, 0.05))
            service.kill()
            assert set(await asyncio.gather(*talking)) == {0}, (
                "the service refused a talker before it was killed"
            )


async def _violations(place: Place, promises: dict[str, Promises]) -> list[str]:
    async with await Gieok.open(place.settings) as gieok:
        return [
            problem for owner in OWNERS for problem in await violations(gieok.user(owner), promises[owner])
        ]


async def _never_summarised(place: Place) -> list[str]:
    """Hours later, when leases of dead workers have passed and sessions were left alone for long enough."""
    later = datetime.now(UTC) + timedelta(hours=2)
    async with await Gieok.open(place.settings, clock=lambda: later) as gieok:
        worker = Worker(gieok)
        while await worker.run_once(later):
            pass
        return [problem for owner in OWNERS for problem in unsummarised(await exported(gieok.user(owner)))]
