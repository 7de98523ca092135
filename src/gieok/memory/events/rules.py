"""What happens after a failed delivery: pure rules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from gieok.memory.events.records import Event

GIVE_UP_AFTER = timedelta(days=3)
"""An event that waits for longer gets one attempt, so that the events of a receiver that is down for good do
not pile up for ever."""


def retry_wait(
    event: Event, attempts: int, *, now: datetime, retry_seconds: Sequence[int], gives_up: bool
) -> timedelta | None:
    """How long to wait before the next attempt to deliver an event. None: it becomes a dead letter.

    `attempts` counts those that were made. A consumer that does not give up is tried at the slowest pace.
    """
    tried = max(attempts, 1) - 1
    if gives_up and (tried >= len(retry_seconds) or now - event.at > GIVE_UP_AFTER):
        return None
    return timedelta(seconds=retry_seconds[min(tried, len(retry_seconds) - 1)])
