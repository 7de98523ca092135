"""Rate limits that several processes share, and what holds while the cache is away."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from gieok.errors import RateLimited
from gieok.interfaces.rest.gateway.limits import SharedRateLimiter
from tests.redis_server import RedisServer
from tests.service.process import Place, Service

BURST = 20
OWNERS = ("ana", "ben", "cem", "dan", "eva", "flo")
AWAY = "the cache does not answer"


class Bucket:
    """A bucket that is never refilled, and counts the commands."""

    def __init__(self, tokens: int | None) -> None:
        self.tokens = tokens
        self.commands = 0

    async def take(self, owner: str, wanted: int, per_second: float, burst: int) -> tuple[int, float] | None:
        self.commands += 1
        if self.tokens is None:
            return None
        granted = min(wanted, self.tokens)
        self.tokens -= granted
        return granted, 7.0


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_a_busy_owner_takes_many_tokens_with_one_command() -> None:
    bucket = Bucket(1000)
    limiter = SharedRateLimiter(bucket, per_second=500, burst=1000, clock=Clock())
    for _ in range(100):
        await limiter.take("ana")
    assert bucket.commands == 10


async def test_two_processes_together_allow_what_the_bucket_has() -> None:
    bucket, clock = Bucket(1000), Clock()
    limiters = [SharedRateLimiter(bucket, 500, 1000, clock) for _ in range(2)]
    allowed = 0
    for number in range(2000):
        try:
            await limiters[number % 2].take("ana")
            allowed += 1
        except RateLimited:
            pass
    assert allowed == 1000
    with pytest.raises(RateLimited) as refused:
        await limiters[0].take("ana")
    assert refused.value.retry_after == 7.0


async def test_tokens_that_were_not_used_are_lost_after_a_second() -> None:
    """Otherwise a process could save them up, and allow more than the limit later."""
    bucket, clock = Bucket(1000), Clock()
    limiter = SharedRateLimiter(bucket, 500, 1000, clock)
    await limiter.take("ana")
    clock.now += 1.0
    await limiter.take("ana")
    assert bucket.commands == 2


async def test_without_an_answer_the_request_passes() -> None:
    limiter = SharedRateLimiter(Bucket(None), 1, 1, Clock())
    for _ in range(5):
        await limiter.take("ana")


class LimitedPlace(Place):
    """A place whose services share a rate limit that is not refilled during a test."""

    cache_url = ""

    @property
    def environ(self) -> dict[str, str]:
        limits = {"GIEOK_RATE_PER_SECOND": "0.00001", "GIEOK_RATE_BURST": str(BURST)}
        return super().environ | limits | {"GIEOK_CACHE_URL": self.cache_url}


def allowed(client: httpx.Client, urls: tuple[str, str], token: str) -> int:
    """How many of many requests are allowed, sent to two services in turn."""
    headers = {"Authorization": f"Bearer {token}"}
    answers = [
        client.get(f"{urls[number % 2]}/api/v1/personas", headers=headers).status_code
        for number in range(3 * BURST)
    ]
    assert set(answers) <= {200, 429}
    return answers.count(200)


@pytest.mark.timeout(300)
async def test_the_limit_holds_across_two_services(
    redis_server: RedisServer, database_url: str, tmp_path: Path
) -> None:
    """Without Redis each service has the limit for itself. A service that was too busy to hear an answer has
    counted alone for a moment, and says so: then the next owner is tried."""
    place = LimitedPlace(tmp_path, database_url)
    place.cache_url = redis_server.url
    *tried, last = (await place.tokens(*OWNERS)).values()
    with (
        Service(place) as one,
        Service(place) as two,
        httpx.Client(timeout=60) as client,
    ):
        urls = one.url, two.url
        found = 0
        for token in tried:
            said = place.log.read_text().count(AWAY)
            found = allowed(client, urls, token)
            if place.log.read_text().count(AWAY) == said:
                break
        assert found == BURST
        redis_server.kill()
        assert allowed(client, urls, last) == 2 * BURST
        assert AWAY in place.log.read_text()
        redis_server.start()
