"""An open Gieok in a thread of its own, with a worker, so that the terminal may wait for a line meanwhile.

The terminal stays in the main thread: that is where Ctrl-C arrives and where a line can be edited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Any, Self, TypeVar

from gieok.app import Gieok
from gieok.app.cycles import Listener
from gieok.app.worker import Worker
from gieok.engine import StepEvent

T = TypeVar("T")


class Backstage:
    """Runs what the terminal asks for. Leaving it finishes the jobs under way and closes Gieok.

    Ctrl-C while it finishes them leaves them for another time.
    """

    def __init__(self) -> None:
        self._opened: Future[Gieok] = Future()
        self._failure: BaseException | None = None
        self._loop = asyncio.new_event_loop()
        self._stop, self._hurry = asyncio.Event(), asyncio.Event()
        self._thread = Thread(target=self._run, name="gieok")

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._opened.result()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        if self._failure is not None:
            raise self._failure

    @property
    def gieok(self) -> Gieok:
        return self._opened.result()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do this and wait for it. Whoever stops waiting has it cancelled."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def hear(self, work: Callable[[Listener], Coroutine[Any, Any, T]], show: Callable[[str], None]) -> T:
        """The same, while `show` is given every piece of the reply, in the caller's thread."""
        pieces: SimpleQueue[str | None] = SimpleQueue()

        def listen(event: StepEvent) -> None:
            if event.kind == "token":
                pieces.put(event.data)

        future = asyncio.run_coroutine_threadsafe(work(listen), self._loop)
        future.add_done_callback(lambda _: pieces.put(None))
        try:
            while (piece := pieces.get()) is not None:
                show(piece)
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _end(self) -> None:
        self._tell(self._stop.set)
        try:
            self._thread.join()
        except KeyboardInterrupt:
            self._tell(self._hurry.set)
            self._thread.join()
            raise

    def _tell(self, what: Callable[[], object]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(what)

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._live())
        except BaseException as error:  # noqa: BLE001  raised where the terminal waits for it
            if self._opened.done():
                self._failure = error
            else:
                self._opened.set_exception(error)

    async def _live(self) -> None:
        async with await Gieok.open() as gieok:
            working = asyncio.create_task(Worker(gieok).run(self._stop))
            self._opened.set_result(gieok)
            await self._stop.wait()
            hurry = asyncio.create_task(self._hurry.wait())
            await asyncio.wait([working, hurry], return_when=asyncio.FIRST_COMPLETED)
            hurry.cancel()
            if working.done():
                working.result()
            else:
                # Its jobs are kept: whoever claims them next does them.
                working.cancel()
