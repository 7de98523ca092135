"""A pytest plugin for LangGraph's own tests: each `InMemoryStore` is a `GieokStore` of a new owner.

`test_own_tests.py` runs them with the database and the key file in the environment.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import langgraph.store.memory
from langgraph.store.base import IndexConfig

from gieok import Gieok
from gieok.interfaces.langgraph import GieokStore
from gieok.testing.settings import settings_for

_loop = asyncio.new_event_loop()
_thread = Thread(target=_loop.run_forever, daemon=True)
_thread.start()


def _wait(work: Any) -> Any:
    return asyncio.run_coroutine_threadsafe(work, _loop).result()


_gieok: Gieok = _wait(
    Gieok.open(settings_for(os.environ["STORE_DATABASE_URL"], Path(os.environ["STORE_KEY_FILE"])))
)


class StoreOfNewOwner(GieokStore):
    """Made as `InMemoryStore` is."""

    def __init__(self, *, index: IndexConfig | None = None) -> None:
        async def make() -> None:
            super(StoreOfNewOwner, self).__init__(_gieok.user(f"owner-{uuid4()}"), index=index)

        _wait(make())


langgraph.store.memory.InMemoryStore = StoreOfNewOwner  # pyright: ignore[reportAttributeAccessIssue]


def pytest_unconfigure() -> None:
    """Close Gieok after the last test."""
    _wait(_gieok.close())
    _loop.call_soon_threadsafe(_loop.stop)
    _thread.join()
