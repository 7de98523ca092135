"""Consumers of events that remember what they got, and fail on request."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from gieok import Gieok
from gieok.app.background.worker import Worker
from gieok.errors import DeliveryFailed
from gieok.memory.events.records import Event


class Listener:
    """Takes everything. `failing` is how many deliveries fail before one succeeds."""

    name = "listener"
    batch = 3
    retry_seconds = (5, 30)

    def __init__(self, *, gives_up: bool = False) -> None:
        self.gives_up = gives_up
        self.failing = 0
        self.refused: set[int] = set()
        """Numbers of events that cannot be taken at all."""
        self.taken: list[tuple[str, Event]] = []
        self.backfilled: list[tuple[str, str | None]] = []
        self.erased: list[str] = []
        self._changed = asyncio.Condition()

    async def deliver(self, owner: str, events: Sequence[Event]) -> None:
        if self.failing:
            self.failing -= 1
            raise ConnectionError("the receiver is down")
        for done, event in enumerate(events):
            if event.number in self.refused:
                raise DeliveryFailed("refused", done, is_final=True)
            self.taken.append((owner, event))
        async with self._changed:
            self._changed.notify_all()

    async def backfill(self, owner: str, cursor: str | None) -> str | None:
        self.backfilled.append((owner, cursor))
        return None if cursor == "2" else str(int(cursor or "0") + 1)

    async def erase(self, owner: str) -> None:
        self.erased.append(owner)

    async def wait_for(self, count: int) -> None:
        """Wait until it has taken so many events."""
        async with asyncio.timeout(60), self._changed:
            await self._changed.wait_for(lambda: len(self.taken) >= count)

    def numbers(self, owner: str) -> list[int]:
        return [event.number for each, event in self.taken if each == owner]

    def kinds(self, owner: str) -> list[str]:
        return [event.kind for each, event in self.taken if each == owner]


async def work(gieok: Gieok, now: datetime | None = None) -> None:
    """Run what is due, until nothing is."""
    worker = Worker(gieok)
    while await worker.run_once(now or gieok.engine.clock()):
        pass
