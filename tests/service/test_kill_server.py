"""A real `gieok serve` is killed under load: acknowledged data is kept, and no turn is stored in part.

`GIEOK_CRASH_ROUNDS` sets the number of kills. `GIEOK_CRASH_SEED` repeats their moments.
"""

from __future__ import annotations

import asyncio
import os
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gieok import Gieok
from gieok.app.background.worker import Worker
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.companion.records import MemoryDraft
from tests.service.consistency import exported, forgotten, lost, partial_turns, problems, unsummarised
from tests.service.load import Acknowledged, LoadClient, cancelled_on_exit, goal
from tests.service.process import Place, Service
from tests.soak import count

KILLS = int(os.environ.get("GIEOK_CRASH_ROUNDS", "4"))
"""On each database."""
SEED = int(os.environ.get("GIEOK_CRASH_SEED", random.SystemRandom().randrange(1_000_000)))
OWNERS = ("ana", "bora", "choa")
CLIENTS = 6
HANA = PersonaDraft(name="하나", language="ko", system_prompt="너는 하나야. 다정한 친구처럼 말해.")


@pytest.mark.req("SESS-4", "SESS-5")
@pytest.mark.timeout(60 + 60 * KILLS)
async def test_a_killed_service_loses_no_acknowledged_data(database_url: str, tmp_path: Path) -> None:
    """Messages, memories, facts and sessions are checked after each kill. At the end every turn is remembered
    once, and every session summarised."""
    place, chance = Place(tmp_path, database_url), random.Random(SEED)
    tokens = await place.tokens(*OWNERS)
    acknowledged = {owner: Acknowledged() for owner in OWNERS}
    await _create_personas(place)
    for number in range(KILLS):
        await _run_and_kill(place, tokens, acknowledged, chance)
        assert await _problems(place, acknowledged) == [], f"kill {number + 1}, GIEOK_CRASH_SEED={SEED}"
    assert all(map(len, acknowledged.values())), "nothing was acknowledged, so nothing was tested"
    assert await _unfinished(place) == []
    count("kills of the service", KILLS, "sqlite" if database_url.startswith("sqlite:") else "postgres")


@pytest.mark.parametrize("kind", ["message", "memory", "turnMemory", "fact", "session"])
async def test_a_missing_record_is_noticed(tmp_path: Path, kind: str) -> None:
    """The checks themselves notice any single missing record."""
    place, acknowledged = Place(tmp_path, f"sqlite:///{tmp_path / 'data' / 'gieok.db'}"), Acknowledged()
    async with await Gieok.open(place.settings) as gieok:
        user = gieok.user("ana")
        await user.personas.create(HANA, persona_id="hana")
        turn = await user.chat.send("hana", goal("q" + "abc" * 3 + "de"), wait_memory=True)
        draft = MemoryDraft(persona_id="hana", summary="면접")
        made = await user.companion.create(draft, account_plan="free")
        kinds = await exported(user)
    acknowledged.turns.append((turn.session_ref, "q" + "abc" * 3 + "de"))
    acknowledged.memories.append(str(made.memory.id))
    assert [*lost(kinds, acknowledged), *partial_turns(kinds), *forgotten(kinds)] == []
    kinds[kind].pop()
    assert [*lost(kinds, acknowledged), *partial_turns(kinds), *forgotten(kinds)] != []


async def _create_personas(place: Place) -> None:
    async with await Gieok.open(place.settings) as gieok:
        for owner in OWNERS:
            await gieok.user(owner).personas.create(HANA, persona_id="hana")


async def _run_and_kill(
    place: Place, tokens: dict[str, str], acknowledged: dict[str, Acknowledged], chance: random.Random
) -> None:
    """Kill the service a moment after a random number of acknowledgements."""
    progress = asyncio.Semaphore(0)
    with Service(place) as service:
        owners = [OWNERS[number % len(OWNERS)] for number in range(CLIENTS)]
        clients = [LoadClient(each, service.url, tokens[each], acknowledged[each], chance) for each in owners]
        running = [asyncio.create_task(client.run(progress)) for client in clients]
        with cancelled_on_exit(running):
            for _ in range(chance.randint(1, 40)):
                async with asyncio.timeout(60):
                    await progress.acquire()
            await asyncio.sleep(chance.uniform(0.0, 0.05))
            service.kill()
            assert set(await asyncio.gather(*running)) == {0}, (
                "the service refused a request before it was killed"
            )


async def _problems(place: Place, acknowledged: dict[str, Acknowledged]) -> list[str]:
    async with await Gieok.open(place.settings) as gieok:
        return [
            problem for owner in OWNERS for problem in await problems(gieok.user(owner), acknowledged[owner])
        ]


async def _unfinished(place: Place) -> list[str]:
    """What is not remembered or summarised after a worker ran hours later, when leases have expired."""
    later = datetime.now(UTC) + timedelta(hours=2)
    async with await Gieok.open(place.settings, clock=lambda: later) as gieok:
        worker = Worker(gieok)
        while await worker.run_once(later):
            pass
        kinds = [await exported(gieok.user(owner)) for owner in OWNERS]
    checks = (unsummarised, forgotten, partial_turns)
    return [problem for each in kinds for check in checks for problem in check(each)]
