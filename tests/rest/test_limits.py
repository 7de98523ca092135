"""The rate limiter, with a fake clock."""

from __future__ import annotations

import pytest

from gieok.errors import RateLimited
from gieok.interfaces.rest.gateway import limits
from gieok.interfaces.rest.gateway.limits import RateLimiter


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_is_refilled_at_the_rate() -> None:
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


def test_a_bucket_is_never_larger_than_the_burst() -> None:
    clock = Clock()
    rate = RateLimiter(per_second=2, burst=3, clock=clock)
    rate.take("ana")
    clock.now += 3600
    for _ in range(3):
        rate.take("ana")
    with pytest.raises(RateLimited):
        rate.take("ana")


def test_the_number_of_buckets_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least recently active owner starts with a full bucket. The others do not."""
    monkeypatch.setattr(limits, "MAX_OWNERS", 2)
    rate = RateLimiter(per_second=1, burst=1, clock=Clock())
    for owner in ("ana", "ben", "cem"):
        rate.take(owner)
    with pytest.raises(RateLimited):
        rate.take("cem")
    rate.take("ana")
