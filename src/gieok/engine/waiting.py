"""How long a step may take, without a timer for those that wait for nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from time import perf_counter
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class TimeIsUpError(Exception):
    """What was run within a time has not ended in it, and was stopped."""


async def within(seconds: float, running: Coroutine[Any, Any, T]) -> T:
    """What `running` returns or raises; TimeIsUpError where it waits for something longer than it may.

    Most steps wait for nothing. No timer could stop those, and to set one and take it back would take longer
    than they do, so it is set when `running` waits for the first time.
    """
    started = perf_counter()
    try:
        awaited = running.send(None)
    except StopIteration as ended:
        return ended.value
    timer = asyncio.timeout(seconds - (perf_counter() - started))
    try:
        async with timer:
            return await _go_on(running, awaited)
    except TimeoutError as error:
        if timer.expired():
            raise TimeIsUpError from error
        raise


@coroutine
def _go_on(running: Coroutine[Any, Any, T], awaited: Any) -> Generator[Any, None, T]:
    """What `await running` would do if it had not begun yet: here it waits for `awaited` already."""
    try:
        while True:
            try:
                yield awaited
            except BaseException as error:  # noqa: BLE001 - for `running` to handle: it is who waits
                awaited = running.throw(error)
            else:
                awaited = running.send(None)
    except StopIteration as ended:
        return ended.value
