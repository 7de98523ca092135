"""The rate limiter, with a fake clock, and the slots for concurrent requests."""

from __future__ import annotations

import asyncio

import pytest

from gieok.errors import RateLimited
from gieok.interfaces.rest.gateway import limits
from gieok.interfaces.rest.gateway.limits import (
    ConcurrencyLimiter,
    RateLimiter,
    RequestLimits,
    ServiceOptions,
    Slots,
)


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


async def hold(limiter: ConcurrencyLimiter, owner: str, until: asyncio.Event) -> None:
    async with limiter.slot(owner):
        await until.wait()


async def is_free(limiter: ConcurrencyLimiter, owner: str) -> bool:
    try:
        async with limiter.slot(owner):
            return True
    except RateLimited:
        return False


async def test_one_owner_cannot_take_all_slots() -> None:
    limiter = ConcurrencyLimiter(Slots(4, per_owner=2, waiting=0), wait_seconds=0.01)
    end = asyncio.Event()
    async with asyncio.TaskGroup() as held:
        for _ in range(2):
            held.create_task(hold(limiter, "ana", end))
        await asyncio.sleep(0)
        assert (await is_free(limiter, "ana"), await is_free(limiter, "ben")) == (False, True)
        end.set()
    assert await is_free(limiter, "ana")


async def test_one_owner_cannot_fill_the_queue() -> None:
    limiter = ConcurrencyLimiter(Slots(2, per_owner=1, waiting=8), wait_seconds=30)
    end = asyncio.Event()
    async with asyncio.TaskGroup() as held:
        waiting = [held.create_task(hold(limiter, "ana", end)) for _ in range(3)]
        await asyncio.sleep(0)
        assert not await is_free(limiter, "ana")  # one runs, and two wait: a quarter of the queue
        assert await is_free(limiter, "ben")
        end.set()
    assert all(each.done() for each in waiting)


async def test_slots_are_limited_for_all_owners_together() -> None:
    limiter = ConcurrencyLimiter(Slots(2, per_owner=1, waiting=8), wait_seconds=0.01)
    end = asyncio.Event()
    async with asyncio.TaskGroup() as held:
        for owner in ("ana", "ben"):
            held.create_task(hold(limiter, owner, end))
        await asyncio.sleep(0)
        assert not await is_free(limiter, "cem")
        end.set()
    assert await is_free(limiter, "cem")


async def test_a_cancelled_wait_takes_no_slot() -> None:
    limiter = ConcurrencyLimiter(Slots(1, per_owner=1, waiting=8), wait_seconds=30)
    end = asyncio.Event()
    running = asyncio.create_task(hold(limiter, "ana", end))
    await asyncio.sleep(0)
    waiting = [asyncio.create_task(hold(limiter, owner, end)) for owner in ("ana", "ben")]
    await asyncio.sleep(0)
    for each in waiting:
        each.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    end.set()
    await running
    assert [await is_free(limiter, owner) for owner in ("ana", "ben")] == [True, True]


def test_exports_imports_and_model_calls_have_their_own_slots() -> None:
    limits = RequestLimits(ServiceOptions())
    kinds = [
        limits.of("GET", "/api/v1/memory/list"),
        limits.of("GET", "/api/v1/me/export"),
        limits.of("POST", "/api/v1/me/import"),
        limits.of("POST", "/api/v1/chat/send"),
    ]
    assert len(set(map(id, kinds))) == 4
    for path in ("chat/regenerate", "memory/summarize", "sessions/a/close", "decisions/compact"):
        assert limits.of("POST", f"/api/v1/{path}") is kinds[3]
    assert limits.of("GET", "/api/v1/sessions/close") is kinds[0]
