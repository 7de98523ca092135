"""Workers that are killed while they deliver: nothing is lost, and a repetition has the same id."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection

import pytest

from gieok import Gieok
from gieok.adapters.sql.stores.events import SqlEventStore
from gieok.adapters.webhooks import WebhookSender
from gieok.app.background.jobs import LEASE
from gieok.app.background.worker import Worker
from tests.crash.conftest import NewPlace, new_place
from tests.crash.place import Place
from tests.events.receiver import Receiver
from tests.events.test_delivery import store

__all__ = ["new_place"]

SECONDS = 60.0
_processes = multiprocessing.get_context("spawn")


def _deliver(place: Place, pipe: Connection[str, None]) -> None:
    """Run a worker that has delivered and never commits the position."""

    def stop(*_: object) -> None:
        pipe.send("delivered")
        time.sleep(SECONDS)

    setattr(SqlEventStore, "settle", stop)  # noqa: B010  the types differ

    async def run() -> None:
        async with await Gieok.open(place.settings, background=False) as gieok:
            gieok.webhook_sender = WebhookSender(allow_private=True)
            await Worker(gieok).run_once(datetime.now(UTC))

    asyncio.run(run())


def _store(place: Place, pipe: Connection[str, None]) -> None:
    """Store events, and stop before anything can deliver them."""

    async def run() -> None:
        async with await Gieok.open(place.settings, background=False) as gieok:
            await store(gieok, "c", "d")
            pipe.send("stored")
            await asyncio.sleep(SECONDS)

    asyncio.run(run())


def _killed(target: Callable[[Place, Connection[str, None]], None], place: Place) -> None:
    """Run a process until it says where it is, and kill it there."""
    receiver, sender = _processes.Pipe(duplex=False)
    process = _processes.Process(target=target, args=(place, sender))
    process.start()
    sender.close()
    assert receiver.poll(SECONDS)
    receiver.recv()
    process.kill()
    process.join()


@pytest.mark.timeout(240)
async def test_killed_processes_lose_nothing_and_repeat_with_the_same_id(new_place: NewPlace) -> None:
    place = new_place()
    with Receiver() as receiver:
        async with await Gieok.open(place.settings, background=False) as gieok:
            gieok.webhook_sender = WebhookSender(allow_private=True)
            await gieok.user("mina").webhooks.add(receiver.url)
            await store(gieok, "a", "b")
        await asyncio.to_thread(_killed, _deliver, place)
        assert receiver.numbers == [1, 2]
        await asyncio.to_thread(_killed, _store, place)
        later = datetime.now(UTC) + LEASE + timedelta(minutes=1)
        async with await Gieok.open(place.settings, background=False, clock=lambda: later) as gieok:
            gieok.webhook_sender = WebhookSender(allow_private=True)
            worker = Worker(gieok)
            while await worker.run_once(later):
                pass
        assert receiver.numbers == [1, 2, 1, 2, 3, 4]
        ids = [each.headers["webhook-id"] for each in receiver.received]
        assert ids[:2] == ids[2:4]
        assert len(set(ids)) == 4
