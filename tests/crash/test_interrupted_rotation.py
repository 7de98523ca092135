"""An interrupted or concurrent rotation of an owner's data key loses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from gieok.adapters.sql.lifecycle.owners import rotate_data_key
from gieok.app import Gieok
from gieok.testing.models import CountingModel
from tests.crash.checker import violations
from tests.crash.conftest import NewPlace
from tests.crash.place import Place, Story
from tests.crash.writer import take_turn


@pytest.fixture
def place(new_place: NewPlace) -> Place:
    return new_place()


@pytest.fixture
async def first(place: Place) -> AsyncIterator[Gieok]:
    async with await Gieok.open(place.settings, model=CountingModel()) as gieok:
        yield gieok


@pytest.fixture
async def second(place: Place, first: Gieok) -> AsyncIterator[Gieok]:
    """A second process, as far as keys are concerned."""
    async with await Gieok.open(place.settings, model=CountingModel()) as gieok:
        yield gieok


@pytest.mark.req("ENG-6")
async def test_every_process_can_use_a_key_of_an_interrupted_rotation(
    place: Place, first: Gieok, second: Gieok
) -> None:
    """One process dies after creating the new key; the others work with both keys."""
    story = Story([await take_turn(first.user("kim"), "kim", "session", "one")])
    await asyncio.to_thread(second.vault.rotate_owner, "kim")
    story.saved.append(await take_turn(second.user("kim"), "kim", "session", "two"))
    story.saved.append(await take_turn(first.user("kim"), "kim", "session", "two again"))
    assert await violations(place, story) == []


@pytest.mark.req("ENG-6")
async def test_a_rotation_destroys_no_key_that_is_still_needed(
    place: Place, first: Gieok, second: Gieok
) -> None:
    """A second rotation begins after the first has resealed everything, before it destroys the old key."""
    story = Story([await take_turn(first.user("kim"), "kim", "session", "one")])
    now = first.engine.clock()
    await rotate_data_key(first.database, first.vault, "kim", now, lambda _: rotate_further(second))
    assert await violations(place, story) == []


def rotate_further(gieok: Gieok) -> None:
    gieok.vault.rotate_owner("kim")
