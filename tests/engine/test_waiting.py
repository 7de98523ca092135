"""What runs within a time goes on as if it were awaited, although it began without a timer."""

from __future__ import annotations

import asyncio

import pytest

from gieok.engine.waiting import TimeIsUpError, within


async def test_it_may_wait_more_than_once() -> None:
    async def wait_twice() -> str:
        await asyncio.sleep(0)
        async with asyncio.timeout(5):
            return await asyncio.to_thread(lambda: "done")

    assert await within(5, wait_twice()) == "done"


async def test_what_it_waits_for_may_fail() -> None:
    """It hears of it where it waits, and may go on."""
    failing = asyncio.get_running_loop().create_future()
    failing.set_exception(LookupError("gone"))

    async def make_do() -> str:
        try:
            await failing
        except LookupError:
            await asyncio.sleep(0)
            return "made do"
        raise AssertionError

    assert await within(5, make_do()) == "made do"


async def test_it_may_clean_up_when_its_time_is_up() -> None:
    left: list[str] = []

    async def clean_up() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            left.append("clean")

    with pytest.raises(TimeIsUpError):
        await within(0.01, clean_up())
    assert left == ["clean"]


async def test_a_cancelled_task_is_cancelled_where_it_waits() -> None:
    heard: list[str] = []

    async def listen() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            heard.append("cancelled")
            raise

    task = asyncio.create_task(within(5, listen()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert heard == ["cancelled"]
