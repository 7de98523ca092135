"""A database with an archive, on both databases."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gieok import Gieok, Settings
from gieok.settings import ArchiveSettings
from gieok.testing.clock import Clock

# The driver leaves a socket to the garbage collector when it is closed while it connects.
UNCLOSED_SOCKET = pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(UNCLOSED_SOCKET)


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """So that such a socket is not found by a later test."""
    yield
    gc.collect()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def archived(settings: Settings, archive_url: str) -> Settings:
    """Settings with an archive, to which texts move after 30 days."""
    return replace(settings, archive=ArchiveSettings(archive_url, 30))


@pytest.fixture
async def kept(archived: Settings, clock: Clock) -> AsyncIterator[Gieok]:
    async with await Gieok.open(archived, clock=clock) as opened:
        yield opened
