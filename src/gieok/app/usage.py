"""Usage of language models: the steps that count it, and the days of one owner."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from gieok.app.cycles import Cycles
from gieok.errors import InputRefused
from gieok.memory.usage.records import UsageDay
from gieok.memory.usage.rules import day_of

DEFAULT_DAYS = 30
MOST_DAYS = 366


async def read_usage(cycles: Cycles, days: int) -> Sequence[UsageDay]:
    """The last days with today, newest first; a day without use is left out."""
    if not 1 <= days <= MOST_DAYS:
        raise InputRefused(f"must be 1 to {MOST_DAYS}", at="days")
    since = day_of(cycles.now) - timedelta(days=days - 1)
    return await cycles.scope.read(lambda rooms: rooms.usage.list(since))
