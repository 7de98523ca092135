"""The protocols of the outbox: the store of one owner's events, and what a consumer implements."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from gieok.memory.events.records import ConsumerState, DeadLetter, Event


class EventStore(Protocol):
    """Events of one owner inside one transaction. Events are recorded by the transaction itself."""

    def register(self, consumer: str, at: datetime, *, needs_backfill: bool) -> bool:
        """Add a consumer: it gets the events of all later commits. False if it exists already."""
        ...

    def unregister(self, consumer: str) -> bool:
        """Remove a consumer with its dead letters. False if there is none."""
        ...

    def consumers(self) -> Sequence[ConsumerState]:
        """All consumers, by name."""
        ...

    def pending(self, consumer: str, limit: int) -> Sequence[Event]:
        """The next events that were not delivered to a consumer, in order."""
        ...

    def dead_letters(
        self, *, consumer: str | None, after: tuple[str, int], limit: int
    ) -> Sequence[DeadLetter]:
        """Dead letters by consumer and number, after that pair, of one consumer or of all."""
        ...

    def retry(self, consumer: str, number: int | None, at: datetime) -> int:
        """Queue another attempt for a dead letter, or for all of a consumer. Returns how many."""
        ...


class EventConsumer(Protocol):
    """Receives the events of all owners, at least once, in order per owner."""

    @property
    def name(self) -> str:
        """Unique among consumers, such as `archive`."""
        ...

    @property
    def batch(self) -> int:
        """How many events one call of `deliver` gets at most. A call must end within four minutes."""
        ...

    @property
    def retry_seconds(self) -> Sequence[int]:
        """Waits between attempts. The last is repeated unless the consumer gives up."""
        ...

    @property
    def gives_up(self) -> bool:
        """Whether an event becomes a dead letter after the last attempt. Otherwise it is tried for ever, and
        later events wait."""
        ...

    async def deliver(self, owner: str, events: Sequence[Event]) -> None:
        """Take events. Must be idempotent: after a crash the same events come again.

        Raises to be tried again: DeliveryFailed to say how many of the events were taken and whether a
        retry is useless, any other error if none was.
        """
        ...

    async def backfill(self, owner: str, cursor: str | None) -> str | None:
        """Take a batch of what was stored before the consumer was registered, beginning at `cursor`.

        Returns the next cursor, None at the end. Called before the first `deliver` of an owner. Must be
        idempotent.
        """
        ...

    async def erase(self, owner: str) -> None:
        """Delete everything of an owner. Called by the erasure, again if that was interrupted; raises to be
        tried again. Must be idempotent."""
        ...
