"""From a database thread to a task, a few pieces at a time: the thread waits for whoever takes them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable

from gieok.errors import StoreUnavailable

AHEAD = 4
"""Pieces that may wait to be taken."""
PATIENCE_SECONDS = 30.0
"""For how long a thread, and the view of the database that it holds, waits for one to be taken."""

Give = Callable[[bytes], None]


async def hand_over(
    work: Callable[[Give], Awaitable[object]], *, patience: float = PATIENCE_SECONDS
) -> AsyncGenerator[bytes]:
    """What `work` gives on a thread, piece by piece. Whoever stops taking stops the work.

    StoreUnavailable where nothing was taken for so long that the view had to be let go.
    """
    loop = asyncio.get_running_loop()
    taken: asyncio.Queue[bytes | None] = asyncio.Queue()
    room = threading.Semaphore(AHEAD)
    left = threading.Event()

    def give(piece: bytes) -> None:
        if not room.acquire(timeout=patience):
            raise StoreUnavailable(
                f"nothing was taken from this stream for {patience:g} s, so it was ended; begin again"
            )
        if left.is_set():
            raise _LeftError
        loop.call_soon_threadsafe(taken.put_nowait, piece)

    working = asyncio.ensure_future(work(give))
    working.add_done_callback(lambda done: taken.put_nowait(_nothing(done)))
    try:
        while (piece := await taken.get()) is not None:
            yield piece
            room.release()
        await working
    finally:
        left.set()
        room.release()
        working.cancel()


def _nothing(done: asyncio.Future[object]) -> None:
    """The end of the stream. An error is looked at here, for the case that nobody is left to be told."""
    if not done.cancelled():
        done.exception()


class _LeftError(Exception):
    """Ends work whose result nobody takes any more."""
