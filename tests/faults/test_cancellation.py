"""A turn is cancelled at every point where it waits: it is answered and there, or cancelled and absent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

import pytest

from gieok.app import Gieok
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.observations import Conversation, Understood, VerbatimLimit
from gieok.testing.models import CountingModel
from tests.crash.checker import half_written
from tests.crash.conftest import NewPlace
from tests.crash.tables import read_tables
from tests.crash.writer import take_turn

T = TypeVar("T")


class CancelledAt(Generic[T]):
    """Awaits a coroutine, and cancels the task around it when it waits for the `point`-th time."""

    def __init__(self, work: Coroutine[Any, Any, T], point: int) -> None:
        self._work = work
        self._point = point
        self.waits = 0

    def __await__(self) -> Generator[Any, Any, T]:
        step = self._work.__await__()
        thrown: BaseException | None = None
        while True:
            try:
                waiting = step.throw(thrown) if thrown else next(step)
            except StopIteration as end:
                return end.value
            self.waits += 1
            if self.waits == self._point and (task := asyncio.current_task()):
                task.cancel()
            thrown = None
            try:
                yield waiting
            except BaseException as error:  # noqa: BLE001 - handed to the coroutine, whose it is
                thrown = error


class PausingModel(CountingModel):
    """Lets others run while it thinks, as a model behind a network does."""

    async def remember(
        self, conversation: Conversation, *, summary_chars: int, max_keywords: int, verbatim: VerbatimLimit
    ) -> Understood:
        await asyncio.sleep(0)
        return await super().remember(
            conversation, summary_chars=summary_chars, max_keywords=max_keywords, verbatim=verbatim
        )

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        await asyncio.sleep(0)
        return await super().reply(prompt, emit)


@pytest.mark.req("ENG-6")
async def test_a_turn_cancelled_anywhere_is_all_or_nothing(new_place: NewPlace) -> None:
    place = new_place()
    point, waits = 0, 0
    async with await Gieok.open(place.settings, model=PausingModel()) as gieok:
        while point <= waits:  # at 0 nothing is cancelled, and the waits are counted
            owner = f"owner-{point}"
            work = CancelledAt(take_turn(gieok.user(owner), owner, "session", "during"), point)
            answer = await outcome(work)
            tables = await asyncio.to_thread(read_tables, place)
            assert list(half_written(tables, gieok.vault)) == []
            assert [row.owner for row in tables.memories].count(owner) == (answer is not None)
            await take_turn(gieok.user(owner), owner, "session", "after")
            waits = waits or work.waits
            point += 1
    assert waits >= 3  # the reply, its summary, and the commit; SQLite reads do not wait


async def outcome(work: CancelledAt[T]) -> T | None:
    """What a task that does the work comes to; None where it was cancelled."""

    async def wait() -> T:
        return await work

    try:
        return await asyncio.create_task(wait())
    except asyncio.CancelledError:
        return None
