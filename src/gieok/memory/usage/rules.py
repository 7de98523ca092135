"""When a day of usage begins: pure functions."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta


def day_of(now: datetime) -> date:
    """The day that a cycle counts for. It is the same everywhere: a budget does not move with its user."""
    return now.astimezone(UTC).date()


def seconds_left(now: datetime) -> float:
    """How long it is until the next day begins."""
    tomorrow = datetime.combine(day_of(now) + timedelta(days=1), time.min, UTC)
    return (tomorrow - now).total_seconds()
