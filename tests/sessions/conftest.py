"""A Gieok with a fixed clock and a model that can be made unavailable."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from gieok import Gieok, Settings
from gieok.app.background.worker import Worker
from gieok.testing.clock import Clock
from tests.sessions.conversation import MoodyModel, job_plans


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def model() -> MoodyModel:
    return MoodyModel()


@pytest.fixture
async def gieok(settings: Settings, clock: Clock, model: MoodyModel) -> AsyncIterator[Gieok]:
    async with await Gieok.open(settings, model=model, clock=clock, job_plans=job_plans("excerpt")) as opened:
        yield opened


@pytest.fixture
def worker(gieok: Gieok) -> Worker:
    return Worker(gieok)
