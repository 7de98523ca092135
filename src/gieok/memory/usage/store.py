"""The store of usage, as steps see it: of one owner, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Protocol

from gieok.memory.usage.records import ModelUsage, UsageDay


class UsageStore(Protocol):
    """What was used on each day."""

    def add(self, day: date, usage: ModelUsage) -> None:
        """Add to what the day has. Of two cycles at once both count."""
        ...

    def on(self, day: date) -> ModelUsage:
        """What was used on this day so far."""
        ...

    def list(self, since: date) -> Sequence[UsageDay]:
        """The days on which anything was used, from this one on, newest first."""
        ...


class UsageView(Protocol):
    """Whatever holds usage among its rooms."""

    @property
    def usage(self) -> UsageStore: ...
