"""A new owner with the name of an erased one: new keys, and nothing of the former owner returns."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gieok import Gieok, MemoryDraft, Settings
from gieok.app import User
from gieok.app.backup import back_up
from gieok.app.restore import restore
from gieok.errors import OwnerErased
from gieok.vault.vault import life_of
from tests.behind import Behind
from tests.owner_data.world import HANA, export, fill, lines


def quiet(_done: int, _all: int) -> None:
    """Report no progress."""


async def remember(user: User, summary: str) -> None:
    draft = MemoryDraft(persona_id="hana", summary=summary)
    await user.companion.create(draft, account_plan="premium")


async def summaries(user: User) -> list[str]:
    return [each.summary for each in (await user.companion.list("hana", status="all")).memories]


@pytest.mark.req("OPS-3", "OPS-2")
async def test_a_new_owner_has_new_keys_and_nothing_of_the_former_one(gieok: Gieok, behind: Behind) -> None:
    """Only after an operator has created a token: until then the name is refused."""
    minsu = gieok.user("minsu")
    await fill(minsu)
    former = gieok.vault.keys("minsu").generation
    await minsu.data.erase()
    with pytest.raises(OwnerErased):
        await remember(minsu, "아직 안 됨")
    await gieok.tokens.create("minsu")
    assert life_of(gieok.vault.keys("minsu").generation) == life_of(former) + 1
    assert {line["kind"] for line in lines(await export(minsu))} == {"gieok", "audit", "end"}
    assert await minsu.personas.list() == []
    assert await summaries(minsu) == []
    await minsu.personas.create(HANA, persona_id="hana")
    await remember(minsu, "새 면접 이야기")
    assert await summaries(minsu) == ["새 면접 이야기"]
    assert [hit.memory.summary for hit in await minsu.companion.search("hana", "면접")] == ["새 면접 이야기"]
    assert await minsu.canon.facts("hana") == []
    await minsu.rotate_key()
    assert await summaries(minsu) == ["새 면접 이야기"]
    assert behind.run("SELECT count(*) FROM owners") == [(1,)]


@pytest.mark.req("OPS-3")
async def test_a_name_can_be_erased_and_used_many_times(gieok: Gieok) -> None:
    """Erasing again without a new owner changes nothing."""
    minsu = gieok.user("minsu")
    for number in range(3):
        if number:
            await gieok.tokens.create("minsu")
        await remember(minsu, f"기억 {number}")
        assert await summaries(minsu) == [f"기억 {number}"]
        await minsu.data.erase()
        await minsu.data.erase()
        assert gieok.vault.erasures() == number + 1
        assert gieok.vault.is_erased("minsu")
    await gieok.tokens.create("minsu")
    assert not gieok.vault.is_erased("minsu")


@pytest.mark.req("OPS-3", "OPS-2")
async def test_another_process_shows_nothing_of_the_former_owner(settings: Settings) -> None:
    """Also if it has cached the former owner's memories and keys, and the new one has as many changes."""
    async with await Gieok.open(settings) as here, await Gieok.open(settings) as elsewhere:
        minsu = here.user("minsu")
        await remember(minsu, "옛 기억")
        assert [each.summary for each in await minsu.companion.load("hana")] == ["옛 기억"]
        assert len(await minsu.companion.search("hana", "기억")) == 1
        await elsewhere.user("minsu").data.erase()
        await elsewhere.tokens.create("minsu")
        await remember(elsewhere.user("minsu"), "새 기억")
        assert [each.summary for each in await minsu.companion.load("hana")] == ["새 기억"]
        assert [hit.memory.summary for hit in await minsu.companion.search("hana", "기억")] == ["새 기억"]


@pytest.mark.req("OPS-3", "OPS-4")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_a_restored_backup_brings_back_only_the_new_owner(settings: Settings, tmp_path: Path) -> None:
    """A backup from before the erasure has nothing for the name; a later one has the new owner."""
    async with await Gieok.open(settings) as gieok:
        await remember(gieok.user("minsu"), "옛 기억")
        await asyncio.to_thread(back_up, settings, tmp_path / "former", quiet)
        await gieok.user("minsu").data.erase()
        await gieok.tokens.create("minsu")
        await remember(gieok.user("minsu"), "새 기억")
        await asyncio.to_thread(back_up, settings, tmp_path / "new", quiet)
    await asyncio.to_thread(restore, settings, tmp_path / "former", replace_it=True)
    async with await Gieok.open(settings) as gieok:
        assert await summaries(gieok.user("minsu")) == []
    await asyncio.to_thread(restore, settings, tmp_path / "new", replace_it=True)
    async with await Gieok.open(settings) as gieok:
        assert await summaries(gieok.user("minsu")) == ["새 기억"]
