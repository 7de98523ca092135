"""One of a hundred owners is erased under load: their data is gone, and nobody else loses any."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import httpx
import pytest

from gieok import Gieok
from gieok.errors import OwnerErased
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.companion.records import MemoryDraft
from tests.behind import Behind
from tests.service.consistency import exported, problems
from tests.service.load import Acknowledged, LoadClient, cancelled_on_exit
from tests.service.process import Place, Service

OWNERS = tuple(f"owner-{number}" for number in range(100))
ERASED = OWNERS[42]
CLIENTS = (*OWNERS[:8], ERASED, ERASED)
ACKNOWLEDGEMENTS = 60
"""Required before the erasure, and again after it."""
EMPTY_EXPORT = ("gieok", "end")
"""The kinds of the first and the last line of every export."""
HANA = PersonaDraft(name="하나", language="ko", system_prompt="너는 하나야.")
_OWNED = {
    "sqlite": """
        SELECT tables.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
        WHERE tables.type = 'table' AND columns.name = 'owner'""",
    "postgres": """
        SELECT table_name FROM information_schema.columns
        WHERE column_name = 'owner' AND table_schema = 'gieok'""",
}


@pytest.mark.req("OPS-3")
@pytest.mark.timeout(300)
async def test_an_owner_erased_under_load_stays_erased(
    database_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place, acknowledged = Place(tmp_path, database_url), {owner: Acknowledged() for owner in OWNERS}
    kind = "sqlite" if database_url.startswith("sqlite:") else "postgres"
    behind = Behind(
        place.settings, None if kind == "sqlite" else request.getfixturevalue("postgres"), tmp_path
    )
    await _create_owners(place, acknowledged)
    tokens = await place.tokens(*OWNERS)
    yesterday = tmp_path / "yesterday"
    if kind == "sqlite":
        place.run("backup", str(yesterday))
    assert _rows(behind, kind)
    old = {owner: Acknowledged(memories=[*acknowledged[owner].memories]) for owner in OWNERS}
    with Service(place) as service:
        await _erase_under_load(service, tokens, acknowledged)
        assert _status(service, tokens[ERASED]) == 401
        service.stop()
    assert await _problems(place, acknowledged) == []
    assert _rows(behind, kind) == []
    if kind == "sqlite":
        place.run("restore", str(yesterday), "--replace")
        with Service(place) as service:
            assert _status(service, tokens[ERASED]) == 401
            assert _status(service, tokens[OWNERS[0]]) == 200
            service.stop()
        assert await _problems(place, old) == []
        assert _rows(behind, kind) == []


async def _create_owners(place: Place, acknowledged: dict[str, Acknowledged]) -> None:
    """Every owner gets a persona and a memory."""
    async with await Gieok.open(place.settings) as gieok:
        for owner in OWNERS:
            user = gieok.user(owner)
            await user.personas.create(HANA, persona_id="hana")
            draft = MemoryDraft(persona_id="hana", summary=f"{owner}의 면접")
            made = await user.companion.create(draft, account_plan="free")
            acknowledged[owner].memories.append(str(made.memory.id))


async def _erase_under_load(
    service: Service, tokens: dict[str, str], acknowledged: dict[str, Acknowledged]
) -> None:
    """The erased owner writes too, until their requests are refused. The others continue."""
    progress, chance = asyncio.Semaphore(0), random.Random(7)
    clients = [LoadClient(each, service.url, tokens[each], acknowledged[each], chance) for each in CLIENTS]
    running = [asyncio.create_task(client.run(progress)) for client in clients]
    with cancelled_on_exit(running):
        await _wait_for(progress, ACKNOWLEDGEMENTS)
        async with httpx.AsyncClient(base_url=service.url, verify=False, timeout=60) as client:
            gone = await client.delete("/api/v1/me", headers=_bearer(tokens[ERASED]))
        assert (gone.status_code, gone.json()["keyDestroyed"]) == (200, True)
        refused = [task for task, owner in zip(running, CLIENTS, strict=True) if owner == ERASED]
        assert set(await asyncio.gather(*refused)) == {401}
        await _wait_for(progress, ACKNOWLEDGEMENTS)
        assert not [task for task in running if task.done() and task not in refused]


async def _wait_for(progress: asyncio.Semaphore, acknowledged: int) -> None:
    async with asyncio.timeout(120):
        for _ in range(acknowledged):
            await progress.acquire()


async def _problems(place: Place, acknowledged: dict[str, Acknowledged]) -> list[str]:
    """Data that the others have lost, and data of the erased owner that is still readable."""
    async with await Gieok.open(place.settings) as gieok:
        wrong = [
            f"{owner}: {problem}"
            for owner in OWNERS
            if owner != ERASED
            for problem in await problems(gieok.user(owner), acknowledged[owner])
        ]
        erased = gieok.user(ERASED)
        wrong += [
            f"{ERASED} still has a {kind}" for kind in await exported(erased) if kind not in EMPTY_EXPORT
        ]
        with pytest.raises(OwnerErased):
            await erased.personas.create(HANA)
        return wrong


def _rows(behind: Behind, kind: str) -> list[str]:
    """Tables that still have rows of the erased owner."""
    tables = [table for (table,) in behind.run(_OWNED[kind])]
    assert len(tables) > 10
    return [
        table
        for table in tables
        if behind.run(f"SELECT count(*) FROM {table} WHERE owner = '{ERASED}'") != [(0,)]
    ]


def _status(service: Service, token: str) -> int:
    return httpx.get(
        f"{service.url}/api/v1/memory/list", headers=_bearer(token), verify=False, timeout=60
    ).status_code


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
