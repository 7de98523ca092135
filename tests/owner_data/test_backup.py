"""Backups are complete snapshots while others write; restores do not restore erased owners."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from gieok import Gieok, Persona, Settings
from gieok.app.backup import back_up
from gieok.app.restore import restore
from gieok.errors import (
    Conflict,
    GieokError,
    InputRefused,
    NotFound,
    OwnerErased,
    RootKeyMissing,
    SettingsInvalid,
    StoreDamaged,
)
from gieok.settings import sqlite_path
from gieok.testing.settings import settings_for
from tests.behind import Behind
from tests.turns.run_turn import run_turn

HANA = Persona(name="Hana", language="en", system_prompt="You are Hana.")


class _StoppedError(Exception):
    """The backup was interrupted."""


def quiet(_done: int, _all: int) -> None:
    """Reports to nobody."""


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """SQLite only: PostgreSQL has its own backup tools."""
    return f"sqlite:///{tmp_path / 'data' / 'gieok.db'}"


async def say(settings: Settings, owner: str, text: str = "I have an interview tomorrow") -> int:
    """Run one turn. Returns the number of recalled memories."""
    async with await Gieok.open(settings) as gieok:
        return len((await run_turn(gieok.user(owner), "s1", text, persona=HANA)).recalled)


async def erase(settings: Settings, owner: str) -> None:
    async with await Gieok.open(settings) as gieok:
        await gieok.user(owner).data.erase()


def lose(settings: Settings) -> None:
    """Simulate the loss of the data disk."""
    assert settings.data_folder is not None
    shutil.rmtree(settings.data_folder)


@pytest.mark.req("OPS-3")
async def test_an_erased_owner_is_not_restored_from_an_older_backup(
    settings: Settings, behind: Behind, tmp_path: Path
) -> None:
    for owner in ("minsu", "jiyoung"):
        await say(settings, owner)
    back_up(settings, tmp_path / "yesterday", quiet)
    await erase(settings, "minsu")
    done = await asyncio.to_thread(restore, settings, tmp_path / "yesterday", replace_it=True)
    assert (done.erased_again, done.keystore_kept, done.keys_added) == (1, True, 0)
    assert behind.run("SELECT owner FROM owners") == [("jiyoung",)]
    assert behind.run("SELECT DISTINCT owner FROM turn_memories") == [("jiyoung",)]
    assert await say(settings, "jiyoung", "the interview") == 1
    with pytest.raises(OwnerErased):
        await say(settings, "minsu")


@pytest.mark.req("OPS-3")
async def test_erasures_are_replayed_in_a_database_that_was_restored_by_hand(
    settings: Settings, behind: Behind, tmp_path: Path
) -> None:
    """An operator copies the file without `gieok restore`, and Gieok notices when it opens it."""
    await say(settings, "minsu")
    await say(settings, "jiyoung")
    back_up(settings, tmp_path / "yesterday", quiet)
    await erase(settings, "minsu")
    place = sqlite_path(settings.database_url)
    assert place is not None
    shutil.copyfile(tmp_path / "yesterday" / "gieok.db", place)
    assert await say(settings, "jiyoung", "the interview") == 1
    assert behind.run("SELECT owner FROM owners") == [("jiyoung",)]


async def test_a_restore_to_another_path_has_no_destroyed_key_either(
    settings: Settings, tmp_path: Path
) -> None:
    """`--to` copies the live keystore and not that of the backup, which still has the key."""
    for owner in ("minsu", "jiyoung"):
        await say(settings, owner)
    back_up(settings, tmp_path / "yesterday", quiet)
    await erase(settings, "minsu")
    place = tmp_path / "elsewhere" / "copy.db"
    assert (await asyncio.to_thread(restore, settings, tmp_path / "yesterday", to=place)).erased_again == 1
    copy = settings_for(f"sqlite:///{place}", settings.own_key_file)
    with pytest.raises(OwnerErased):
        await say(copy, "minsu")
    assert await say(copy, "jiyoung", "the interview") == 1
    assert await say(settings, "jiyoung", "the interview") == 1


async def test_a_lost_machine_is_restored_with_its_root_key(settings: Settings, tmp_path: Path) -> None:
    await say(settings, "minsu")
    manifest = back_up(settings, tmp_path / "backup", quiet)
    lose(settings)
    elsewhere = replace(settings, own_key_file=tmp_path / "no" / "root.key")
    with pytest.raises(RootKeyMissing, match=manifest.root_id):
        await asyncio.to_thread(restore, elsewhere, tmp_path / "backup")
    assert settings.data_folder is not None
    assert list(settings.data_folder.rglob("*")) == []
    done = await asyncio.to_thread(restore, settings, tmp_path / "backup")
    assert (done.keystore_kept, done.before) == (False, None)
    assert await say(settings, "minsu", "the interview") == 1


async def test_a_backup_from_before_a_key_rotation_still_opens(settings: Settings, tmp_path: Path) -> None:
    """The old key was destroyed after the backup; the restore adds it, because its owner was not erased."""
    await say(settings, "minsu")
    back_up(settings, tmp_path / "backup", quiet)
    async with await Gieok.open(settings) as gieok:
        await gieok.user("minsu").rotate_key()
    done = await asyncio.to_thread(restore, settings, tmp_path / "backup", replace_it=True)
    assert (done.keystore_kept, done.keys_added) == (True, 1)
    assert await say(settings, "minsu", "the interview") == 1


async def test_the_replaced_database_is_kept_intact(settings: Settings, tmp_path: Path) -> None:
    await say(settings, "minsu")
    back_up(settings, tmp_path / "backup", quiet)
    await say(settings, "minsu", "the interview went well")
    done = await asyncio.to_thread(restore, settings, tmp_path / "backup", replace_it=True)
    assert done.before is not None
    again = replace(settings, database_url=f"sqlite:///{done.before}")
    assert await say(again, "minsu", "the interview") == 2
    assert await say(settings, "minsu", "the interview") == 1


@pytest.fixture
async def writing(settings: Settings) -> AsyncIterator[Gieok]:
    """Stores turns of new owners as fast as possible."""
    async with await Gieok.open(settings) as gieok:
        stop = asyncio.Event()

        async def write() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                user = gieok.user(f"owner{number}")
                await run_turn(user, "s1", "I have an interview tomorrow", persona=HANA)
                if number % 3 == 0:
                    await user.rotate_key()
                if number % 5 == 0:
                    await user.data.erase()

        writer = asyncio.create_task(write())
        yield gieok
        stop.set()
        await writer


@pytest.mark.req("OPS-3")
async def test_a_backup_while_others_write_is_one_snapshot(
    settings: Settings, writing: Gieok, tmp_path: Path
) -> None:
    """Every owner in each backup has the keys of all their rows, despite rotations and erasures meanwhile."""
    for number in range(4):
        folder = tmp_path / f"backup{number}"
        await asyncio.to_thread(back_up, settings, folder, quiet)
        copy = settings_for(f"sqlite:///{folder}/gieok.db", settings.own_key_file)
        owners = Behind(copy, None, folder).run("SELECT DISTINCT owner FROM turn_memories ORDER BY owner")
        async with await Gieok.open(copy) as gieok:
            for (owner,) in owners:
                if not gieok.vault.is_erased(owner):
                    turn = await run_turn(gieok.user(owner), "s1", "the interview", persona=HANA)
                    assert len(turn.recalled) == 1


async def test_a_backup_is_private_and_contains_no_root_key(settings: Settings, tmp_path: Path) -> None:
    await say(settings, "minsu")
    manifest = back_up(settings, tmp_path / "backup", quiet)
    files = sorted((tmp_path / "backup").iterdir())
    assert [file.name for file in files] == ["gieok.db", "gieok.db.keys", "manifest.json"]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert (tmp_path / "backup").stat().st_mode & 0o777 == 0o700
    key = settings.own_key_file.read_bytes().strip()
    assert not any(key in file.read_bytes() for file in files)
    told = json.loads((tmp_path / "backup" / "manifest.json").read_text())
    assert (told["format"], told["rootId"], told["keystoreId"]) == (1, manifest.root_id, manifest.keystore_id)


def test_a_backup_overwrites_nothing_and_leaves_no_incomplete_folder(
    settings: Settings, tmp_path: Path
) -> None:
    asyncio.run(say(settings, "minsu"))
    (tmp_path / "there").mkdir()
    with pytest.raises(InputRefused, match="exists already"):
        back_up(settings, tmp_path / "there", quiet)

    def fail(_done: int, _all: int) -> None:
        raise _StoppedError

    with pytest.raises(_StoppedError):
        back_up(settings, tmp_path / "backup", fail)
    assert {path.name for path in list(tmp_path.iterdir())} == {"config", "data", "there"}


def test_there_is_nothing_to_back_up_before_the_first_use(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nothing to back up yet"):
        back_up(settings, tmp_path / "backup", quiet)


def test_a_server_is_backed_up_with_its_own_tools(settings: Settings, tmp_path: Path) -> None:
    server = replace(settings, database_url="postgresql://h/d", keystore_url="postgresql://h/d")
    with pytest.raises(SettingsInvalid, match="pg_dump"):
        back_up(server, tmp_path / "backup", quiet)
    with pytest.raises(SettingsInvalid, match="pg_dump"):
        restore(server, tmp_path / "backup")


@pytest.mark.parametrize("name", ["gieok.db", "gieok.db.keys", "manifest.json"])
@pytest.mark.parametrize("harm", ["missing", "altered"])
async def test_an_incomplete_or_altered_backup_is_refused_and_changes_nothing(
    settings: Settings, tmp_path: Path, name: str, harm: str
) -> None:
    await say(settings, "minsu")
    back_up(settings, tmp_path / "backup", quiet)
    file = tmp_path / "backup" / name
    if harm == "missing":
        file.unlink()
    else:
        content = bytearray(file.read_bytes())
        content[200] ^= 1
        file.write_bytes(content)
    with pytest.raises(NotFound if harm == "missing" else StoreDamaged, match=name):
        await asyncio.to_thread(restore, settings, tmp_path / "backup", replace_it=True)
    assert await say(settings, "minsu", "the interview") == 1


async def test_an_existing_or_used_database_is_not_replaced(settings: Settings, tmp_path: Path) -> None:
    await say(settings, "minsu")
    back_up(settings, tmp_path / "backup", quiet)
    with pytest.raises(Conflict, match="--replace"):
        await asyncio.to_thread(restore, settings, tmp_path / "backup")
    async with await Gieok.open(settings) as gieok:
        await run_turn(gieok.user("minsu"), "s1", "the interview", persona=HANA)
        with pytest.raises(Conflict, match="is in use"):
            await asyncio.to_thread(restore, settings, tmp_path / "backup", replace_it=True)
    assert await say(settings, "minsu", "the interview") == 2


async def test_a_damaged_database_is_replaced(settings: Settings, tmp_path: Path) -> None:
    await say(settings, "minsu")
    back_up(settings, tmp_path / "backup", quiet)
    place = sqlite_path(settings.database_url)
    assert place is not None
    place.write_bytes(b"SQLite format 3\0" + bytes(5000))
    with pytest.raises(GieokError):
        await say(settings, "minsu")
    await asyncio.to_thread(restore, settings, tmp_path / "backup", replace_it=True)
    assert await say(settings, "minsu", "the interview") == 1
