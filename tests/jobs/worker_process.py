"""A worker in its own process, which the test kills while it summarises."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection

from gieok.app import Gieok
from gieok.app.background.worker import Worker
from gieok.memory.companion.records import SessionSummary, Spoken
from gieok.testing.models import CountingModel
from tests.crash.place import Place
from tests.crash.plants import split_cycle

SLOW_SECONDS = 0.05
START_SECONDS = 20.0
IDLE_SECONDS = 0.5
"""A worker that has sent nothing for so long has nothing left to do, and is killed idle."""

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["__main__", __name__, "psycopg"])


class ThinkingModel(CountingModel):
    """A slow model that reports when it begins: that is when a kill does most harm."""

    def __init__(self, pipe: Connection[str, None]) -> None:
        self._pipe = pipe

    async def summarize_session(self, messages: Sequence[Spoken]) -> SessionSummary:
        self._pipe.send("thinking")
        await asyncio.sleep(random.uniform(0.0, SLOW_SECONDS))
        return await super().summarize_session(messages)


def main(place: Place, ahead: timedelta, planted: bool, pipe: Connection[str, None]) -> None:
    """Run jobs until killed. `ahead` sets this worker's clock forward, so that it sees leases as expired."""
    if planted:
        split_cycle()
    asyncio.run(_work(place, ahead, pipe))


async def _work(place: Place, ahead: timedelta, pipe: Connection[str, None]) -> None:
    model = ThinkingModel(pipe)
    async with await Gieok.open(
        place.settings, model=model, clock=lambda: datetime.now(UTC) + ahead
    ) as gieok:
        pipe.send("ready")
        await Worker(gieok, jobs_at_once=2, idle_seconds=0.01).run(asyncio.Event())


class WorkerProcess:
    """A worker process, from its start until it is killed."""

    def __init__(self, place: Place, ahead: timedelta, *, planted: bool = False) -> None:
        self._receiver, sender = _processes.Pipe(duplex=False)
        self._process = _processes.Process(target=main, args=(place, ahead, planted, sender))
        self._process.start()
        sender.close()

    def kill_while_thinking(self, chance: random.Random) -> int | None:
        """Send SIGKILL just after a summary began. Returns its exit code if it had ended, else None."""
        patience = START_SECONDS
        for _ in range(chance.randint(2, 9)):
            if not self._receiver.poll(patience):
                break
            self._receiver.recv()
            patience = IDLE_SECONDS
        time.sleep(chance.uniform(0.0, SLOW_SECONDS))
        return self.kill()

    def kill(self) -> int | None:
        ended = self._process.exitcode
        self._process.kill()
        self._process.join()
        self._receiver.close()
        return ended
