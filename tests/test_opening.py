"""Opening Gieok: a database keeps its keystore, and a failed opening leaves nothing open."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gieok import Gieok, Persona, Settings
from gieok.adapters.sql.driver.open import open_database
from gieok.errors import GieokError, StoreDamaged, StoreUnavailable
from gieok.settings import sqlite_path
from gieok.testing.settings import settings_for
from gieok.vault import Vault
from tests.behind import Behind
from tests.turns.run_turn import run_turn

HANA = Persona(name="Hana", language="en", system_prompt="You are Hana.")


@pytest.fixture
def database_url(unmade_database_url: str) -> str:
    """A database that has no tables yet."""
    return unmade_database_url


async def remember(settings: Settings) -> None:
    async with await Gieok.open(settings) as gieok:
        await run_turn(gieok.user("minsu"), "s1", "I have an interview tomorrow", persona=HANA)


def lose_keystore(settings: Settings) -> None:
    path = sqlite_path(settings.keystore_url)
    if path:
        path.unlink()
        return
    with psycopg.connect(settings.keystore_url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA gieok_keys CASCADE")


@pytest.mark.req("OPS-2")
async def test_no_new_keys_are_created_for_sealed_data(settings: Settings) -> None:
    """The keystore and the root key are both lost: a new pair would open nothing and hide the loss."""
    await remember(settings)
    lose_keystore(settings)
    settings.own_key_file.unlink()
    for _ in range(2):
        with pytest.raises(StoreDamaged, match="is missing; restore it"):
            await Gieok.open(settings)
    assert not settings.own_key_file.exists()


@pytest.mark.req("OPS-2")
async def test_the_keystore_of_another_database_is_refused(settings: Settings, tmp_path: Path) -> None:
    await remember(settings)
    other = settings_for(f"sqlite:///{tmp_path}/other/gieok.db", settings.own_key_file)
    await remember(other)
    with pytest.raises(StoreDamaged, match="belongs to another database"):
        await Gieok.open(replace(settings, keystore_url=other.keystore_url))
    await remember(settings)


async def test_a_database_keeps_its_keystore_through_a_new_root_key(settings: Settings) -> None:
    await remember(settings)
    async with await Gieok.open(settings) as gieok:
        gieok.vault.rotate_root()
    await remember(settings)


async def test_a_database_that_was_only_made_takes_its_first_keystore(settings: Settings) -> None:
    """As after `gieok db upgrade`: nothing is sealed yet, so nothing can be lost."""
    await open_database(settings.database_url).close()
    await remember(settings)


async def test_an_index_of_another_analyzer_is_logged(
    settings: Settings, behind: Behind, caplog: pytest.LogCaptureFixture
) -> None:
    await remember(settings)
    await remember(settings)
    assert caplog.messages == []
    behind.run("UPDATE meta SET value = '0' WHERE key = 'analyzer'")
    await remember(settings)
    assert "made by analyzer 0" in caplog.text


def threads() -> set[threading.Thread]:
    """Those of open databases; the event loop keeps its own."""
    return {thread for thread in threading.enumerate() if not thread.name.startswith("asyncio")}


async def test_an_opening_that_fails_leaves_nothing_open(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last thing that can fail does: by then the database and the vault are open."""
    closed: list[Vault] = []
    close = Vault.close

    def fail(*_: object) -> None:
        raise StoreUnavailable("no")

    def close_and_tell(vault: Vault) -> None:
        close(vault)
        closed.append(vault)

    monkeypatch.setattr("gieok.app.opening.finish_erasures", fail)
    monkeypatch.setattr(Vault, "close", close_and_tell)
    before = threads()
    with pytest.raises(GieokError):
        await Gieok.open(settings)
    assert len(closed) == 1
    assert threads() == before


async def test_an_opening_that_is_cancelled_leaves_nothing_open(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is cancelled while a thread opens the database, which can then not be stopped."""
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def open_slowly(url: str, **options: Any) -> object:
        begun.set()
        go_on.wait(30)
        try:
            return open_database(url, **options)
        finally:
            ended.set()

    monkeypatch.setattr("gieok.app.opening.open_database", open_slowly)
    before = threads()
    opening = asyncio.create_task(Gieok.open(settings))
    await asyncio.to_thread(begun.wait, 30)
    opening.cancel()
    await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await opening
    await asyncio.to_thread(ended.wait, 30)
    assert threads() == before
