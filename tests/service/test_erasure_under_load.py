"""One of a hundred owners is erased while others write: gone for good, and nobody else loses anything."""

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
from tests.service.load import Promises, Talker, ended
from tests.service.process import Place, Service
from tests.service.promises import exported, violations

OWNERS = tuple(f"owner-{number}" for number in range(100))
LEAVER = OWNERS[42]
TALKERS = (*OWNERS[:8], LEAVER, LEAVER)
PROMISES = 60
"""As many are made before the erasure, and again after it."""
NOTHING = ("gieok", "end")
"""The first and the last line of an export in which nothing is."""
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
async def test_who_was_erased_is_gone_for_good(
    database_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place, promises = Place(tmp_path, database_url), {owner: Promises() for owner in OWNERS}
    kind = "sqlite" if database_url.startswith("sqlite:") else "postgres"
    behind = Behind(
        place.settings, None if kind == "sqlite" else request.getfixturevalue("postgres"), tmp_path
    )
    await _move_in(place, promises)
    tokens = await place.tokens(*OWNERS)
    yesterday = tmp_path / "yesterday"
    if kind == "sqlite":
        place.run("backup", str(yesterday))
    assert _rows(behind, kind)
    old = {owner: Promises(memories=[*promises[owner].memories]) for owner in OWNERS}
    with Service(place) as service:
        await _erase_under_load(service, tokens, promises)
        assert _status(service, tokens[LEAVER]) == 401
        service.end()
    assert await _wrong(place, promises) == []
    assert _rows(behind, kind) == []
    if kind == "sqlite":
        place.run("restore", str(yesterday), "--replace")
        with Service(place) as service:
            assert _status(service, tokens[LEAVER]) == 401
            assert _status(service, tokens[OWNERS[0]]) == 200
            service.end()
        assert await _wrong(place, old) == []
        assert _rows(behind, kind) == []


async def _move_in(place: Place, promises: dict[str, Promises]) -> None:
    """Everybody has a persona and a memory."""
    async with await Gieok.open(place.settings) as gieok:
        for owner in OWNERS:
            user = gieok.user(owner)
            await user.personas.create(HANA, persona_id="hana")
            draft = MemoryDraft(persona_id="hana", summary=f"{owner}의 면접")
            made = await user.companion.create(draft, account_plan="free")
            promises[owner].memories.append(str(made.memory.id))


async def _erase_under_load(service: Service, tokens: dict[str, str], promises: dict[str, Promises]) -> None:
    """The one who leaves writes too, until they are refused; the others go on."""
    told, chance = asyncio.Semaphore(0), random.Random(7)
    talkers = [Talker(each, service.url, tokens[each], promises[each], chance) for each in TALKERS]
    talking = [asyncio.create_task(talker.talk(told)) for talker in talkers]
    with ended(talking):
        await _until(told, PROMISES)
        async with httpx.AsyncClient(base_url=service.url, verify=False, timeout=60) as client:
            gone = await client.delete("/api/v1/me", headers=_bearer(tokens[LEAVER]))
        assert (gone.status_code, gone.json()["keyDestroyed"]) == (200, True)
        leaving = [task for task, owner in zip(talking, TALKERS, strict=True) if owner == LEAVER]
        assert set(await asyncio.gather(*leaving)) == {401}
        await _until(told, PROMISES)
        assert not [task for task in talking if task.done() and task not in leaving]


async def _until(told: asyncio.Semaphore, promises: int) -> None:
    async with asyncio.timeout(120):
        for _ in range(promises):
            await told.acquire()


async def _wrong(place: Place, promises: dict[str, Promises]) -> list[str]:
    """What the others have lost, and what of the one who left can be read."""
    async with await Gieok.open(place.settings) as gieok:
        wrong = [
            f"{owner}: {problem}"
            for owner in OWNERS
            if owner != LEAVER
            for problem in await violations(gieok.user(owner), promises[owner])
        ]
        leaver = gieok.user(LEAVER)
        wrong += [f"{LEAVER} still has a {kind}" for kind in await exported(leaver) if kind not in NOTHING]
        with pytest.raises(OwnerErased):
            await leaver.personas.create(HANA)
        return wrong


def _rows(behind: Behind, kind: str) -> list[str]:
    """Tables that still have rows of the one who left."""
    tables = [table for (table,) in behind.run(_OWNED[kind])]
    assert len(tables) > 10
    return [
        table
        for table in tables
        if behind.run(f"SELECT count(*) FROM {table} WHERE owner = '{LEAVER}'") != [(0,)]
    ]


def _status(service: Service, token: str) -> int:
    return httpx.get(
        f"{service.url}/api/v1/memory/list", headers=_bearer(token), verify=False, timeout=60
    ).status_code


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
