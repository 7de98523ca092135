"""Usage of language models: the steps that count it, and the days of one owner."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from gieok.adapters.sql.scope import OwnerScope
from gieok.app.cycles import Cycles
from gieok.engine import Registry
from gieok.errors import InputRefused
from gieok.memory.usage.records import UsageDay
from gieok.memory.usage.rules import day_of
from gieok.memory.usage.steps import CheckBudget, CountUsage

DEFAULT_DAYS = 30
MOST_DAYS = 366


def register_usage_steps(registry: Registry[OwnerScope]) -> None:
    """Offer the budget and the count to plans."""
    registry.register(CheckBudget, CheckBudget)
    registry.register(CountUsage, lambda _: CountUsage())


async def read_usage(cycles: Cycles, days: int) -> Sequence[UsageDay]:
    """The last days with today, newest first; a day without use is left out."""
    if not 1 <= days <= MOST_DAYS:
        raise InputRefused(f"must be 1 to {MOST_DAYS}", at="days")
    since = day_of(cycles.now) - timedelta(days=days - 1)
    return await cycles.scope.read(lambda rooms: rooms.usage.list(since))
