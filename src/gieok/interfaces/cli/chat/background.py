"""Gieok with a worker in a background thread, while the main thread waits for input.

The terminal stays in the main thread, because only that thread receives Ctrl-C and can edit a line.
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
from gieok.app.background.worker import Worker
from gieok.app.cycles import Listener
from gieok.engine import StepEvent

T = TypeVar("T")


class BackgroundGieok:
    """Runs coroutines in the background thread. Leaving the context finishes running jobs and closes Gieok.

    Ctrl-C while jobs finish cancels them; the next worker runs them again.
    """

    def __init__(self) -> None:
        self._opened: Future[Gieok] = Future()
        self._error: BaseException | None = None
        self._loop = asyncio.new_event_loop()
        self._stop, self._cancel = asyncio.Event(), asyncio.Event()
        self._thread = Thread(target=self._run_thread, name="gieok")

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._opened.result()
        except BaseException:
            self._join()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._join()
        if self._error is not None:
            raise self._error

    @property
    def gieok(self) -> Gieok:
        return self._opened.result()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` and wait for its result. Ctrl-C while waiting cancels it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def stream(self, work: Callable[[Listener], Coroutine[Any, Any, T]], show: Callable[[str], None]) -> T:
        """Run `work` like `run`, and call `show` in this thread with each token of the reply."""
        tokens: SimpleQueue[str | None] = SimpleQueue()

        def listen(event: StepEvent) -> None:
            if event.kind == "token":
                tokens.put(event.data)

        future = asyncio.run_coroutine_threadsafe(work(listen), self._loop)
        future.add_done_callback(lambda _: tokens.put(None))
        try:
            while (token := tokens.get()) is not None:
                show(token)
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _join(self) -> None:
        self._call_in_thread(self._stop.set)
        try:
            self._thread.join()
        except KeyboardInterrupt:
            self._call_in_thread(self._cancel.set)
            self._thread.join()
            raise

    def _call_in_thread(self, function: Callable[[], object]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function)

    def _run_thread(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._main())
        except BaseException as error:  # noqa: BLE001  raised again in the main thread
            if self._opened.done():
                self._error = error
            else:
                self._opened.set_exception(error)

    async def _main(self) -> None:
        async with await Gieok.open(background=False) as gieok:
            worker = asyncio.create_task(Worker(gieok).run(self._stop))
            self._opened.set_result(gieok)
            await self._stop.wait()
            cancelled = asyncio.create_task(self._cancel.wait())
            await asyncio.wait([worker, cancelled], return_when=asyncio.FIRST_COMPLETED)
            cancelled.cancel()
            if worker.done():
                worker.result()
            else:
                worker.cancel()
