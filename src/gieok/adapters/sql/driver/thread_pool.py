"""Database threads behind asyncio: work items go into a queue, their outcomes come back to the event loop.

A small write costs little more than the hop between threads. So there is one queue, one lock and one wake-up
of the event loop per batch, and nothing heavier (concurrent.futures, a condition variable per item).
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Generic, TypeVar

from gieok.adapters.sql.driver.database import Session
from gieok.errors import StoreUnavailable

T = TypeVar("T")


class WorkItem(Generic[T]):
    """One caller's work for a database thread, and its outcome."""

    __slots__ = ("_claimed", "_future", "_is_done", "_loop", "_result", "error", "owner", "work", "writes")

    def __init__(self, owner: str | None, work: Callable[[Session], T], *, writes: bool) -> None:
        self.owner = owner
        self.work = work
        self.writes = writes
        self._result: T | None = None
        self.error: BaseException | None = None
        self._claimed = threading.Lock()
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[None] = self._loop.create_future()
        self._is_done = False

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    def claim(self) -> bool:
        """True for the first call only: of the thread that starts the work, or of the caller that cancels
        it."""
        return self._claimed.acquire(blocking=False)

    def run(self, session: Session) -> None:
        """Do the work and store its result or its error."""
        try:
            self._result = self.work(session)
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's task
            self.error = error

    def fail(self, error: BaseException) -> None:
        """Set the error, for example of the commit. An error of the work itself is kept."""
        if self.error is None:
            self.error = error

    def wake_caller(self) -> None:
        """Resume the caller. Call it on the caller's event loop only."""
        self._is_done = True
        if not self._future.done():
            self._future.set_result(None)

    async def outcome(self) -> T:
        """Wait for the work; return its result or raise its error.

        Cancelling cancels work that has not started, and reads. A write that has started is awaited, so that
        the caller learns its true outcome.
        """
        while not self._is_done:
            try:
                await self._future
            except asyncio.CancelledError:
                if self.claim() or not self.writes:
                    raise
                if self._future.cancelled():
                    self._future = self._loop.create_future()
        if self.error is None:
            return self._result  # pyright: ignore[reportReturnType] - the work has run, so this is its T
        try:
            raise self.error
        finally:
            self.error = None  # breaks the reference cycle of the traceback and this frame


RunBatch = Callable[[list[WorkItem[object]]], None]
"""Runs a batch on a thread. An error that it raises is set on every item without an error of its own."""

TranslateError = Callable[[BaseException], BaseException]
"""Maps a driver's error to one of `gieok.errors`. Returns any other error unchanged."""

WakeUps = SimpleQueue[bool]
"""Wake-up queue of one thread: True to look into the work queue, False to exit."""


class ThreadPool:
    """Threads that take work items from one queue, in batches of at most `batch_size`.

    With batches, a thread is woken after the event loop has run everything that is ready. By then, callers
    that were answered together have sent their next work, and it shares one batch. A thread woken by the
    first of them would run that one alone and compete with the others for the interpreter lock.

    Of the idle threads the one that worked last is woken, because its caches are warm.
    """

    def __init__(
        self,
        name: str,
        threads: Sequence[RunBatch],
        translate_error: TranslateError,
        *,
        batch_size: int,
        queue_size: int,
    ) -> None:
        """Start one thread for each function in `threads`."""
        self._translate_error = translate_error
        self._batch_size = batch_size
        self._queue_size = queue_size
        self._lock = threading.Lock()
        """Guards the next three: no item may be queued while all threads are idle and none is woken."""
        self._queue: deque[WorkItem[object]] = deque()
        self._idle: list[WakeUps] = []
        self._closed = False
        self._threads = [
            threading.Thread(
                target=self._run_thread, args=(run_batch,), name=f"gieok-{name}-{number}", daemon=True
            )
            for number, run_batch in enumerate(threads)
        ]
        for thread in self._threads:
            thread.start()

    async def run(self, owner: str | None, work: Callable[[Session], T], *, writes: bool) -> T:
        """Queue the work and wait for its outcome. StoreUnavailable if the queue is full or closed."""
        item = WorkItem(owner, work, writes=writes)
        self._submit(item)  # pyright: ignore[reportArgumentType] - threads do not use the result's type
        try:
            return await item.outcome()
        except BaseException as error:
            translated = self._translate_error(error)
            if translated is error:
                raise
            raise translated from None  # a driver's message may quote stored content

    async def close(self) -> None:
        """Run everything that is queued, then end the threads."""
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.pop().put(True)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    def _submit(self, item: WorkItem[object]) -> None:
        with self._lock:
            if self._closed:
                raise StoreUnavailable("the database was closed; open it again")
            if len(self._queue) >= self._queue_size:
                self._wake_locked()  # the event loop that should have done it may have ended
                raise StoreUnavailable(
                    f"{self._queue_size} units of work wait for the database already; send fewer at once"
                )
            self._queue.append(item)
        if self._batch_size > 1:
            item.loop.call_soon(self._wake)
        else:
            self._wake()

    def _wake(self) -> None:
        with self._lock:
            self._wake_locked()

    def _wake_locked(self) -> None:
        """Wake an idle thread if work is queued. The caller holds the lock."""
        if self._queue and self._idle:
            self._idle.pop().put(True)

    def _run_thread(self, run_batch: RunBatch) -> None:
        wake_ups: WakeUps = SimpleQueue()
        self._wait_for_work(wake_ups)
        while wake_ups.get():
            batch = [item for item in self._next_batch() if item.claim()]
            if batch:
                try:
                    run_batch(batch)
                except BaseException as error:  # noqa: BLE001 - raised again in each caller's task
                    for item in batch:
                        item.fail(error)
            self._wait_for_work(wake_ups)  # before the answers: a caller's next work then gets this thread
            _wake_callers(batch)

    def _wait_for_work(self, wake_ups: WakeUps) -> None:
        """Become idle, or send the wake-up at once if work is queued or the pool is closed."""
        with self._lock:
            if self._queue:
                wake_ups.put(True)
            elif self._closed:
                wake_ups.put(False)
            else:
                self._idle.append(wake_ups)

    def _next_batch(self) -> list[WorkItem[object]]:
        with self._lock:
            return [self._queue.popleft() for _ in range(min(self._batch_size, len(self._queue)))]


def _wake_callers(items: Iterable[WorkItem[object]]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[WorkItem[object]]] = {}
    for item in items:
        by_loop.setdefault(item.loop, []).append(item)
    for loop, done in by_loop.items():
        with suppress(RuntimeError):  # the loop was closed, so no caller waits there any more
            loop.call_soon_threadsafe(_wake_callers_on_loop, done)


def _wake_callers_on_loop(items: list[WorkItem[object]]) -> None:
    for item in items:
        item.wake_caller()
