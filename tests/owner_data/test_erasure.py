"""An erasure returns a receipt, and is repeated in a database that was restored from an older copy."""

from __future__ import annotations

import pytest

from gieok import Gieok, Settings
from gieok.adapters.sql.lifecycle import owners
from gieok.adapters.sql.lifecycle.owners import ERASE_QUERIES, ERASURES, replay_erasures
from gieok.errors import OwnerErased
from gieok.memory.companion.records import MemoryDraft
from gieok.testing.clock import Clock
from gieok.testing.contracts.turns import item, save, search
from tests.behind import Behind
from tests.owner_data.world import fill


@pytest.mark.req("OPS-3")
@pytest.mark.parametrize("batch", [owners.ERASE_BATCH, 2])
async def test_an_erasure_returns_a_receipt_and_leaves_no_row(
    settings: Settings, behind: Behind, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(owners, "ERASE_BATCH", batch)
    async with await Gieok.open(settings, clock=clock) as gieok:
        await fill(gieok.user("minsu"))
        receipt = await gieok.user("minsu").data.erase()
    assert (receipt.key_destroyed, receipt.at) == (True, clock.now)
    assert (receipt.erased["messages"], receipt.erased["memories"]) == (26, 5)
    assert {table: behind.count(table) for table in (*ERASE_QUERIES, "owners")} == dict.fromkeys(
        (*ERASE_QUERIES, "owners"), 0
    )


async def put_back(settings: Settings, behind: Behind) -> None:
    """Erase 'minsu', and then restore the database as it was before."""
    tables = ("owners", "turn_memories", "sessions")
    rows = {table: f"saved_{table}" for table in tables}
    for table, saved in rows.items():
        behind.run(f"CREATE TABLE {saved} AS SELECT * FROM {table} WHERE owner = 'minsu'")
    async with await Gieok.open(settings) as gieok:
        await gieok.user("minsu").data.erase()
    for table, saved in rows.items():
        behind.run(f"INSERT INTO {table} SELECT * FROM {saved}")
        behind.run(f"DROP TABLE {saved}")


@pytest.mark.req("OPS-3", "OPS-4")
async def test_an_erased_owner_is_erased_again_from_an_older_database(
    settings: Settings, behind: Behind
) -> None:
    async with await Gieok.open(settings) as gieok:
        for owner in ("jiyoung", "minsu", "seojun"):
            scope = gieok.scope(owner)
            await save(scope, item("interview"))
    await put_back(settings, behind)
    async with await Gieok.open(settings) as gieok:
        assert {row[0] for row in behind.run("SELECT owner FROM turn_memories")} == {"jiyoung", "seojun"}
        assert {row[0] for row in behind.run("SELECT owner FROM owners")} == {"jiyoung", "seojun"}
        for owner in ("jiyoung", "seojun"):
            assert len(await search(gieok.scope(owner), "interview")) == 1
        with pytest.raises(OwnerErased):
            await save(gieok.scope("minsu"), item("interview"))


async def test_the_owners_of_a_database_are_checked_once_per_erasure(gieok: Gieok) -> None:
    """Opening costs nothing if nobody was erased since the last check."""
    assert await gieok.database.get_meta(ERASURES) == "0"
    await fill(gieok.user("minsu"))
    await gieok.user("minsu").data.erase()
    assert await replay_erasures(gieok.database, gieok.vault) == []
    assert await gieok.database.get_meta(ERASURES) == "1"


@pytest.mark.req("OPS-2")
async def test_a_process_clears_its_caches_when_another_process_has_erased_the_owner(
    settings: Settings,
) -> None:
    async with await Gieok.open(settings) as here, await Gieok.open(settings) as elsewhere:
        minsu = here.user("minsu")
        draft = MemoryDraft(persona_id="hana", summary="면접을 봄.")
        await minsu.companion.create(draft, account_plan="free")
        assert len(await minsu.companion.load("hana")) == 1
        cached = here.caches.bytes
        await elsewhere.user("minsu").data.erase()
        assert here.caches.bytes == cached > 0
        assert await minsu.companion.load("hana") == ()
        assert here.caches.bytes == 0
