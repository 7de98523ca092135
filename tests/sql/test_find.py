"""Looking at a database and a keystore without making or changing them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from gieok.adapters.sql.driver.open import find_database, find_keystore, open_database, open_keystore
from gieok.errors import SettingsInvalid, StoreUnavailable
from gieok.settings import sqlite_path


@pytest.fixture
def database_url(unmade_database_url: str) -> str:
    """A database that has no tables yet."""
    return unmade_database_url


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def test_finding_a_missing_database_does_not_create_it(database_url: str, tmp_path: Path) -> None:
    for _ in range(2):
        assert find_database(database_url) is None
        assert find_keystore(database_url) is None
    assert files_below(tmp_path) == {}


async def test_find_database_returns_the_status_of_the_open_database(database_url: str) -> None:
    database = open_database(database_url)
    status = await database.status()
    await database.close()
    assert await asyncio.to_thread(find_database, database_url) == status


def test_a_keystore_is_found_once_it_exists(database_url: str) -> None:
    url = f"{database_url}.keys" if sqlite_path(database_url) else database_url
    open_keystore(url).close()
    found = find_keystore(url)
    assert found is not None
    assert found.head() is None
    found.close()


def test_an_empty_file_is_not_a_database(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    assert find_database(f"sqlite:///{tmp_path}/empty.db") is None
    assert find_keystore(f"sqlite:///{tmp_path}/empty.db") is None
    assert (tmp_path / "empty.db").stat().st_size == 0


@pytest.mark.parametrize("use", [find_database, open_database, find_keystore, open_keystore])
@pytest.mark.parametrize("place", ["", "/dev/null"])
def test_a_folder_or_a_device_is_not_a_database(
    use: Callable[[str], object], place: str, tmp_path: Path
) -> None:
    with pytest.raises(StoreUnavailable, match="is not a regular file"):
        use(f"sqlite:///{tmp_path / place}")


@pytest.mark.parametrize(
    ("use", "name"),
    [
        (find_database, "database URL"),
        (open_database, "database URL"),
        (find_keystore, "keystore URL"),
        (open_keystore, "keystore URL"),
    ],
)
@pytest.mark.parametrize(
    "url", ["mysql://h/d", "sqlite:///", "sqlite:///~no-such-user/x", "postgresql://u:a@b@h/d"]
)
def test_the_error_for_a_wrong_url_names_the_setting(
    use: Callable[[str], object], name: str, url: str
) -> None:
    with pytest.raises(SettingsInvalid, match=f"(the|a) {name} "):
        use(url)
