"""The adapter on a real server: what it stores, and that no failure of the server reaches a caller."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import socket
from collections.abc import AsyncIterator
from time import monotonic

import pytest

from gieok.adapters.redis import cache as adapter
from gieok.adapters.redis.cache import RedisCache
from gieok.errors import SettingsInvalid
from tests.redis_server import RedisServer

PATIENT = 10.0
"""Seconds for a command of tests that are not about time."""


def name(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@pytest.fixture
async def cache(redis_server: RedisServer) -> AsyncIterator[RedisCache]:
    opened = RedisCache(redis_server.url, name, seconds=PATIENT)
    yield opened
    await opened.close()


async def written(cache: RedisCache) -> None:
    """Wait for the writes in the background."""
    await cache.forget("nobody")


async def window(cache: RedisCache, owner: str, session_ref: str) -> bytes | None:
    (found,) = await cache.values(owner, [("session", session_ref)])
    return found


async def test_a_value_is_read_back_and_belongs_to_its_name(cache: RedisCache) -> None:
    cache.save("ana", {("session", "s1"): b"one"})
    cache.save("ana", {("session", "s2"): b"two", ("persona", "s1"): b"three"})
    await written(cache)
    names = (("persona", "s1"), ("session", "s2"), ("session", "s1"), ("persona", "s2"))
    assert await cache.values("ana", names) == [b"three", b"two", b"one", None]
    assert await cache.values("ben", names) == [None] * 4


async def test_every_key_expires(cache: RedisCache, redis_server: RedisServer) -> None:
    cache.save("ana", {("session", "s1"): b"one"})
    await cache.take("ana", 1, 10.0, 20)
    await written(cache)
    assert len(redis_server.names()) == 2
    lifetimes = {key.split(b":")[1]: redis_server.admin.ttl(key) for key in redis_server.names()}
    assert 0 < lifetimes[b"values"] <= adapter.VALUE_SECONDS
    assert 0 < lifetimes[b"rate"] <= 3  # 2 s to refill it, and 1 s


async def test_an_owner_has_a_limited_number_of_values(
    cache: RedisCache, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter, "VALUES_PER_OWNER", 3)
    for number in (1, 2, 3, 3, 4):
        cache.save("ana", {("session", f"s{number}"): b"text"})
        await written(cache)
    (key,) = redis_server.names()
    assert redis_server.admin.hlen(key) == 1
    assert await window(cache, "ana", "s4") == b"text"


async def test_forget_deletes_every_key_of_the_owner_and_no_other(
    cache: RedisCache, redis_server: RedisServer
) -> None:
    for owner in ("ana", "ben"):
        cache.save(owner, {("session", "s1"): b"one"})
        await cache.take(owner, 1, 10.0, 20)
    await cache.forget("ana")
    assert len(redis_server.names()) == 2
    assert await window(cache, "ana", "s1") is None
    assert await window(cache, "ben", "s1") == b"one"


async def test_a_bucket_grants_the_burst_once(cache: RedisCache) -> None:
    """At a rate at which nothing comes back during the test."""
    assert await cache.take("ana", 3, 1e-3, 5) == (3, 0.0)
    granted, wait = await cache.take("ana", 3, 1e-3, 5) or (None, 0)
    assert granted == 2
    granted, wait = await cache.take("ana", 3, 1e-3, 5) or (None, 0)
    assert granted == 0
    assert 900 < wait <= 1000
    assert await cache.take("ben", 1, 1e-3, 5) == (1, 0.0)


async def test_a_bucket_is_refilled_at_the_rate(cache: RedisCache, redis_server: RedisServer) -> None:
    """By the server's clock: the test moves the time of the last request back."""
    await cache.take("ana", 5, 1e-3, 5)
    (key,) = redis_server.names()
    at = float(redis_server.admin.hget(key, "at") or 0)
    redis_server.admin.hset(key, "at", at - 2000)
    granted, _ = await cache.take("ana", 5, 1e-3, 5) or (None, 0)
    assert granted == 2
    redis_server.admin.hset(key, "at", at + 1e6)  # the clock was set back
    granted, _ = await cache.take("ana", 5, 1e-3, 5) or (None, 0)
    assert granted == 0


async def test_concurrent_requests_never_get_more_than_the_burst(redis_server: RedisServer) -> None:
    """Of two clients with their own connections."""
    first, second = (RedisCache(redis_server.url, name, seconds=PATIENT) for _ in range(2))
    taken = await asyncio.gather(*(each.take("ana", 1, 1e-3, 50) for each in (first, second) * 60))
    await first.close()
    await second.close()
    assert sum(granted for granted, _ in filter(None, taken)) == 50


@pytest.mark.parametrize("value", ["text", "list", "tokens"])
async def test_wrong_data_is_ignored(cache: RedisCache, redis_server: RedisServer, value: str) -> None:
    cache.save("ana", {("session", "s1"): b"one"})
    await cache.take("ana", 1, 1e-3, 5)
    await written(cache)
    for key in redis_server.names():
        if value == "tokens":
            redis_server.admin.hset(key, mapping={"tokens": "nan", "at": "x"})
            continue
        redis_server.admin.delete(key)
        redis_server.admin.set(key, b"x") if value == "text" else redis_server.admin.rpush(key, b"x")
    assert await window(cache, "ana", "s1") == (b"one" if value == "tokens" else None)
    assert await cache.take("ana", 1, 1e-3, 5) == ((1, 0.0) if value == "tokens" else None)
    cache.save("ana", {("session", "s1"): b"two"})
    await written(cache)
    assert cache.is_up


async def test_a_full_server_is_ignored(cache: RedisCache, redis_server: RedisServer) -> None:
    cache.save("ana", {("session", "s1"): b"one"})
    await written(cache)
    redis_server.fill_up()
    cache.save("ana", {("session", "s1"): b"two"})
    await written(cache)
    assert await window(cache, "ana", "s1") == b"one"
    assert await cache.take("ana", 1, 10.0, 20) is None
    await cache.forget("ana")
    assert redis_server.names() == []
    redis_server.make_room()
    assert await cache.take("ana", 1, 10.0, 20) == (1, 0.0)


async def until_up(cache: RedisCache) -> None:
    until = monotonic() + 30
    while not cache.is_up:
        assert monotonic() < until
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("failure", ["kill", "pause"])
async def test_a_server_that_is_away_costs_one_timeout_and_comes_back(
    redis_server: RedisServer, failure: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A thousand commands that are not sent take less time than a few timeouts."""
    cache = RedisCache(redis_server.url, name, seconds=3.0)
    cache.save("ana", {("session", "s1"): b"one"})
    await written(cache)
    with caplog.at_level(logging.INFO, adapter.__name__):
        redis_server.kill() if failure == "kill" else redis_server.pause()
        assert await window(cache, "ana", "s1") is None
        assert not cache.is_up
        started = monotonic()
        for _ in range(1000):
            assert await window(cache, "ana", "s1") is None
            cache.save("ana", {("session", "s1"): b"two"})
        assert await cache.take("ana", 1, 10.0, 20) is None
        assert monotonic() - started < 20 * 3.0
        redis_server.start() if failure == "kill" else redis_server.resume()
        await until_up(cache)
    assert await window(cache, "ana", "s1") == (None if failure == "kill" else b"one")
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    await cache.close()


async def test_a_cancelled_command_does_not_give_its_answer_to_the_next(
    cache: RedisCache, redis_server: RedisServer
) -> None:
    for number in (1, 2):
        cache.save("ana", {("session", f"s{number}"): str(number).encode()})
    await written(cache)
    redis_server.pause()
    waiting = asyncio.create_task(window(cache, "ana", "s1"))
    await asyncio.sleep(0.05)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    redis_server.resume()
    assert [await window(cache, "ana", "s2") for _ in range(5)] == [b"2"] * 5


async def test_a_login_is_part_of_the_url(redis_server: RedisServer) -> None:
    """A server that refuses it counts as away."""
    redis_server.admin.config_set("requirepass", "kookaburrita")
    for login, found in (("&password=kookaburrita", (1, 0.0)), ("", None), ("&password=wrong", None)):
        cache = RedisCache(f"{redis_server.url}?db=0{login}", name, seconds=PATIENT)
        assert await cache.take(login or "ana", 1, 10.0, 20) == found
        assert cache.is_up == (found is not None)
        await cache.close()


async def test_a_server_is_reached_by_its_address(redis_server: RedisServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    redis_server.kill()
    redis_server.start("--bind", "127.0.0.1", "--port", str(port))
    cache = RedisCache(f"redis://127.0.0.1:{port}/3", name, seconds=PATIENT)
    assert await cache.take("ana", 1, 10.0, 20) == (1, 0.0)
    assert (await cache.status()).keys == 1
    assert redis_server.names() == []  # those of database 0
    await cache.close()


async def test_close_ends_the_search_for_a_lost_server(redis_server: RedisServer) -> None:
    cache = RedisCache(redis_server.url, name)
    redis_server.kill()
    assert await window(cache, "ana", "s1") is None
    await cache.close()
    redis_server.start()


async def test_the_status_has_memory_and_keys(cache: RedisCache, redis_server: RedisServer) -> None:
    await cache.take("ana", 1, 10.0, 20)
    found = await cache.status()
    assert (found.problem, found.keys, found.max_bytes, found.policy) == (None, 1, 0, "noeviction")
    assert found.used_bytes > 0
    redis_server.kill()
    assert (await cache.status()).problem is not None
    redis_server.start()


def test_a_bad_url_is_refused() -> None:
    with pytest.raises(SettingsInvalid, match="cache_url"):
        RedisCache("redis://127.0.0.1:port/0", name)
