"""The hand-off between asyncio and the database threads: units of work go in, outcomes come back.

One queue, one lock and one wake-up of the event loop per batch: the cost of a hop is what a small write is
made of, so nothing heavier (concurrent.futures, a condition per unit) stands here.
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


class Unit(Generic[T]):
    """One caller's work on its way to a database thread and back."""

    __slots__ = ("_answered", "_claimed", "_future", "_loop", "_result", "error", "owner", "work", "writes")

    def __init__(self, owner: str | None, work: Callable[[Session], T], *, writes: bool) -> None:
        self.owner = owner
        self.work = work
        self.writes = writes
        self._result: T | None = None
        self.error: BaseException | None = None
        self._claimed = threading.Lock()
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[None] = self._loop.create_future()
        self._answered = False

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    def claim(self) -> bool:
        """True for the first that asks: the thread that begins the work, or the caller who withdraws it."""
        return self._claimed.acquire(blocking=False)

    def run(self, session: Session) -> None:
        """Do the work and keep its outcome."""
        try:
            self._result = self.work(session)
        except BaseException as error:  # noqa: BLE001 - kept here and raised where the caller waits
            self.error = error

    def fail(self, error: BaseException) -> None:
        """The work may have succeeded, yet it was not stored. An error of its own stays the answer."""
        if self.error is None:
            self.error = error

    def answer(self) -> None:
        """Wake the caller. On the caller's event loop only."""
        self._answered = True
        if not self._future.done():
            self._future.set_result(None)

    async def outcome(self) -> T:
        """Wait for the work; return its result or raise its error as it came from the thread."""
        while not self._answered:
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
            self.error = None  # or the traceback and this frame would keep each other alive


Serve = Callable[[list[Unit[object]]], None]
"""What a thread does with a batch. What it raises goes to every unit that has no error of its own."""

Explain = Callable[[BaseException], BaseException]
"""A driver's error as one of ours; any other error as it is."""

Bell = SimpleQueue[bool]
"""What a thread at rest listens to: whether to look into the queue, or to end."""


class Crew:
    """Threads that take units from one queue and serve them in batches of at most `batch`.

    A thread that serves batches is woken when the event loop has done all that it had to do. By then those
    who were answered together have asked for more, and share the next batch; woken by the first of them, it
    would serve that one alone, and contend with the others for the interpreter.

    Of the threads at rest the one that worked last is woken: what it needs is still in its caches, and in
    those of its connection.
    """

    def __init__(
        self, name: str, serves: Sequence[Serve], explain: Explain, *, batch: int, waiting: int
    ) -> None:
        self._explain = explain
        self._batch = batch
        self._waiting = waiting
        self._queue: deque[Unit[object]] = deque()
        self._resting: list[Bell] = []
        self._closed = False
        self._door = threading.Lock()  # for the three above: no unit may be queued while every thread rests
        self._threads = [
            threading.Thread(target=self._serve, args=(serve,), name=f"gieok-{name}-{number}", daemon=True)
            for number, serve in enumerate(serves)
        ]
        for thread in self._threads:
            thread.start()

    async def do(self, owner: str | None, work: Callable[[Session], T], *, writes: bool) -> T:
        """Queue the work and wait for its outcome."""
        unit = Unit(owner, work, writes=writes)
        self._give(unit)  # pyright: ignore[reportArgumentType] - threads never look at the type of a result
        try:
            return await unit.outcome()
        except BaseException as error:
            explained = self._explain(error)
            if explained is error:
                raise
            raise explained from None  # a driver's message may quote what was being stored

    async def close(self) -> None:
        """Serve what is queued, then end the threads."""
        with self._door:
            self._closed = True
            while self._resting:
                self._resting.pop().put(True)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    def _give(self, unit: Unit[object]) -> None:
        with self._door:
            if self._closed:
                raise StoreUnavailable("the database was closed; open it again")
            if len(self._queue) >= self._waiting:
                self._ring()  # whose loop has ended will not do it any more
                raise StoreUnavailable(
                    f"{self._waiting} units of work wait for the database already; send fewer at once"
                )
            self._queue.append(unit)
        if self._batch > 1:
            unit.loop.call_soon(self._wake)
        else:
            self._wake()

    def _wake(self) -> None:
        with self._door:
            self._ring()

    def _ring(self) -> None:
        """Have a thread at rest look into the queue, with the door in hand. Those that work do so anyway."""
        if self._queue and self._resting:
            self._resting.pop().put(True)

    def _serve(self, serve: Serve) -> None:
        bell: Bell = SimpleQueue()
        self._rest(bell)
        while bell.get():
            begun = [unit for unit in self._take() if unit.claim()]
            if begun:
                try:
                    serve(begun)
                except BaseException as error:  # noqa: BLE001 - raised where each caller waits
                    for unit in begun:
                        unit.fail(error)
            self._rest(bell)  # before the answer: who is answered, and asks for more, gets this thread again
            _answer(begun)

    def _rest(self, bell: Bell) -> None:
        """Have the bell rung: at once where a unit is queued or the database is closed, else later."""
        with self._door:
            if self._queue:
                bell.put(True)
            elif self._closed:
                bell.put(False)
            else:
                self._resting.append(bell)

    def _take(self) -> list[Unit[object]]:
        with self._door:
            return [self._queue.popleft() for _ in range(min(self._batch, len(self._queue)))]


def _answer(units: Iterable[Unit[object]]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[Unit[object]]] = {}
    for unit in units:
        by_loop.setdefault(unit.loop, []).append(unit)
    for loop, answered in by_loop.items():
        with suppress(RuntimeError):  # the loop was closed, so nobody waits there any more
            loop.call_soon_threadsafe(_answer_on_loop, answered)


def _answer_on_loop(units: list[Unit[object]]) -> None:
    for unit in units:
        unit.answer()
