"""When a call is tried again: only one that may be, only for a reason that passes, and not for ever."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import uniform
from typing import TypeVar

from gieok.client.failures import ServiceUnreachable
from gieok.errors import RateLimited

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Retries:
    """How patient a client is. Calls that change something without a name of their own are never repeated."""

    attempts: int = 4
    """How often a call is made in all."""
    first_wait: float = 0.2
    """Seconds before the second attempt where no answer came; each later wait is twice as long."""
    longest_wait: float = 30.0
    """Whoever is asked to wait longer than this is told so instead."""

    def wait(self, attempt: int, error: RateLimited | ServiceUnreachable) -> float | None:
        """Seconds until the attempt after this one, which is the first with 1; None where there is none."""
        if attempt >= self.attempts:
            return None
        if isinstance(error, RateLimited):
            return error.retry_after if error.retry_after <= self.longest_wait else None
        # Clients that lost the same service must not all come back at the same moment.
        return min(self.longest_wait, self.first_wait * 2 ** (attempt - 1)) * uniform(0.5, 1)  # noqa: S311  no secret


async def repeated(
    call: Callable[[], Awaitable[T]], retries: Retries, sleep: Callable[[float], Awaitable[object]]
) -> T:
    """What the call gives. RateLimited and ServiceUnreachable are raised when patience ends."""
    attempt = 1
    while True:
        try:
            return await call()
        except (RateLimited, ServiceUnreachable) as error:
            wait = retries.wait(attempt, error)
            if wait is None:
                raise
        await sleep(wait)
        attempt += 1
