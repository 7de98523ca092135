"""Data keys are replaced before they have sealed too many values."""

from __future__ import annotations

import pytest

from gieok import Gieok, Settings
from gieok.adapters.sql import scope
from gieok.adapters.sql.lifecycle import owners
from gieok.app.background.worker import Worker
from gieok.memory.companion.records import MemoryDraft
from gieok.vault.sealing import Sealer
from tests.behind import Behind

BATCH = 4


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope, "SEAL_BATCH", BATCH)


async def seal(gieok: Gieok, owner: str, count: int) -> None:
    """Seal many values and store few: each profile replaces the last one."""
    await gieok.user(owner).companion.create(MemoryDraft(persona_id="hana", summary="첫 기억"))
    for number in range(count):
        await gieok.user(owner).profile.set(display_name=f"이름 {number}")


async def run_all(gieok: Gieok) -> None:
    worker = Worker(gieok)
    while await worker.run_once(gieok.engine.clock()):
        pass


@pytest.mark.req("OPS-2")
async def test_the_count_is_an_upper_bound_across_processes(
    settings: Settings, behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each process counts whole batches, so what it has not used is counted too."""
    sealed = 0
    original = Sealer.seal

    def counting(self: Sealer, *args: object) -> bytes:
        nonlocal sealed
        sealed += 1
        return original(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Sealer, "seal", counting)
    for _ in range(3):
        async with await Gieok.open(settings, background=False) as gieok:
            await seal(gieok, "minsu", 5)
    ((count,),) = behind.run("SELECT seals FROM seal_counts WHERE owner = 'minsu'")
    assert sealed <= count < sealed + 3 * BATCH


async def test_a_used_key_is_replaced_and_nothing_else(
    gieok: Gieok, behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    await seal(gieok, "minsu", 40)
    await seal(gieok, "jiyoung", 1)
    ((used,),) = behind.run("SELECT seals FROM seal_counts WHERE owner = 'minsu'")
    monkeypatch.setattr(owners, "MAX_SEALS", used + 1)
    await run_all(gieok)
    assert generations(behind) == {"minsu": 1, "jiyoung": 1}
    monkeypatch.setattr(owners, "MAX_SEALS", used)
    keys = gieok.vault.status().keys
    await run_all(gieok)
    assert generations(behind) == {"minsu": 2, "jiyoung": 1}
    assert gieok.vault.status().keys == keys  # the old key is destroyed
    user = gieok.user("minsu")
    assert [memory.summary for memory in (await user.companion.list()).memories] == ["첫 기억"]
    assert (await user.profile.get()).display_name == "이름 39"


async def test_the_count_starts_again_with_the_new_key(
    gieok: Gieok, behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    await seal(gieok, "minsu", 40)
    ((used,),) = behind.run("SELECT seals FROM seal_counts")
    monkeypatch.setattr(owners, "MAX_SEALS", used)
    await run_all(gieok)
    ((generation, seals),) = behind.run("SELECT generation, seals FROM seal_counts")
    assert generation == generations(behind)["minsu"] == 2
    assert 0 < seals < used


def generations(behind: Behind) -> dict[str, int]:
    return dict(behind.run("SELECT owner, key_generation FROM owners"))
