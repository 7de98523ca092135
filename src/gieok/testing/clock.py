"""A clock that only a test moves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class Clock:
    """Returns the time when called; `advance` moves it."""

    def __init__(self, start: datetime | None = None) -> None:
        self.now = start or datetime(2026, 1, 5, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **amount: float) -> datetime:
        """`advance(days=1, hours=2)`; returns the new time."""
        self.now += timedelta(**amount)
        return self.now
