"""The bucket of an owner, by a clock of the test's own."""

from __future__ import annotations

import pytest

from gieok.errors import RateLimited
from gieok.interfaces.rest.gateway import limits
from gieok.interfaces.rest.gateway.limits import RateLimiter


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_empties_and_fills_at_its_rate() -> None:
    clock = Clock()
    rate = RateLimiter(per_second=2, burst=3, clock=clock)
    for _ in range(3):
        rate.take("ana")
    with pytest.raises(RateLimited) as refused:
        rate.take("ana")
    assert refused.value.retry_after == 0.5
    clock.now += refused.value.retry_after
    rate.take("ana")
    with pytest.raises(RateLimited):
        rate.take("ana")


def test_a_bucket_holds_no_more_than_its_burst() -> None:
    clock = Clock()
    rate = RateLimiter(per_second=2, burst=3, clock=clock)
    rate.take("ana")
    clock.now += 3600
    for _ in range(3):
        rate.take("ana")
    with pytest.raises(RateLimited):
        rate.take("ana")


def test_no_more_owners_are_remembered_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one who was quiet for longest starts anew; the others do not."""
    monkeypatch.setattr(limits, "MAX_OWNERS", 2)
    rate = RateLimiter(per_second=1, burst=1, clock=Clock())
    for owner in ("ana", "ben", "cem"):
        rate.take(owner)
    with pytest.raises(RateLimited):
        rate.take("cem")
    rate.take("ana")
